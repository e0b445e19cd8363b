// The L2 while the recorded loads and stores go through it, tick by tick: what it holds, what it answers, and what it
// has to fetch. Modelled. Each launch begins with an empty L2, as in the whole run's DRAM traffic.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "core/time/cache.hpp"
#include "show/run/run.hpp"
#include "show/run/told.hpp"

namespace tilescope::show {

class L2Shown {
  public:
    /// Begins at tick 0 of `run`, which has to outlive this object.
    explicit L2Shown(const Run& run);

    /// Whether the GPU has an L2. Without one, all that is read comes from DRAM.
    bool exists() const { return run_.experiment().gpu.l2_bytes > 0; }
    /// Goes to the state after the first `tick` ticks.
    void seek(Index tick);

    /// The bytes that the L2 holds now, including copies in a second partition.
    Bytes held() const;
    /// The share of a region's bytes that the L2 holds, 0 to 1. `region`: an index into RecordedTensor::regions.
    double share_held(TensorId tensor, std::size_t region) const;
    /// The bytes that a load of the tick shown had to fetch from DRAM.
    Bytes missed(Index step) const;

    // Bytes up to the tick shown.

    Bytes dram_read(TensorId tensor) const { return now_.read[tensor]; }
    Bytes dram_read() const;
    Bytes dram_written() const { return now_.written; }

  private:
    struct State {
        Index tick = 0;
        std::vector<Cache> caches;  // one a chiplet
        std::vector<Bytes> read;    // from DRAM, by tensor
        Bytes written = 0;          // to DRAM
    };
    void advance();
    void carry_out(Index step);
    void empty();

    const Run& run_;
    Index keyframe_every_;
    std::vector<std::size_t> first_;  // by tensor: the number of its first region; its others follow
    State now_;
    std::vector<State> keyframes_;
    std::map<Index, Bytes> missed_;  // by step of the tick shown
};

/// The L2s of runs that are looked at, made when they are asked for.
class L2sShown {
  public:
    /// The L2 at the tick that the run shows. `version` changes with what the session shows.
    const L2Shown& of(const Run& run, std::uint64_t version);

  private:
    Told<L2Shown, const Run*> told_;
};

}  // namespace tilescope::show
