// Which thread blocks of one head work on which tile of the scores, and how often tiles of Q, K, V and O move. A
// listener finds this from events, without knowing the algorithm.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "lab/run/experiment.hpp"

namespace tilescope::lab {

/// A moment of a thread block: `turn` is the number of loop iterations that the block had begun.
struct Moment {
    std::size_t launch;
    Index block;
    std::uint32_t turn;
};

/// How often a tile of a tensor crosses the SM's boundary; half a tile counts half.
struct Trips {
    double read = 0, written = 0;
};

class TileVisits : public Listener {
  public:
    /// `counted`: the report of the same experiment, which has to outlive this object.
    explicit TileVisits(const Report& counted);

    Needs needs() const override { return {.exact = true}; }
    bool wants(Index, Index block) override { return block < per_head_; }
    Index next_wanted(Index, Index from) override { return from < per_head_ ? from : none_wanted; }
    void begin(const LaunchMark& mark) override;
    void begin(const BlockMark& mark) override;
    void turn(const TurnMark&) override { ++now_.turn; }
    using Listener::begin;
    void on(const Event& event, TileData data) override;

    Index rows() const { return rows_.count(); }
    Index cols() const { return cols_.count(); }
    Span row(Index i) const { return rows_[i]; }
    Span col(Index j) const { return cols_[j]; }
    /// The last moment at which each thread block worked on scores of the tile; empty where no block did.
    const std::vector<Moment>& visits(Index i, Index j) const {
        return cells_[static_cast<std::size_t>(i * cols() + j)];
    }
    /// Loop iterations of a thread block.
    std::uint32_t turns(std::size_t launch, Index block) const {
        return turns_[launch][static_cast<std::size_t>(block)];
    }
    /// The trips of the computation's own Q, K, V or O: one entry for each row (Q, O) or column (K, V) of score tiles.
    const std::vector<Trips>& trips(Meaning meaning) const;

  private:
    static constexpr std::array travellers = {Meaning::query, Meaning::key, Meaning::value, Meaning::output};

    void see(const Region& region);
    void travel(const Region& region, bool written);

    const Report& report_;
    const Tiles rows_, cols_;
    std::vector<std::vector<Moment>> cells_;
    std::array<std::vector<Trips>, travellers.size()> trips_;
    std::vector<std::vector<std::uint32_t>> turns_;  // by launch and block
    Index per_head_ = 0;
    Moment now_{};
};

}  // namespace tilescope::lab
