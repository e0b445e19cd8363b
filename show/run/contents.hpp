// What tiles hold, by name: a buffer made for S holds S, and P~ once exponentials have been taken of it.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "show/run/walk.hpp"

namespace tilescope::show {

/// Derives the names from the recorded operations alone. A loaded tile has its tensor's name. A copy has the name of
/// its source: "m_old" once the source changes or a factor is made of the copy. Exponentials of scores are P~ (P where
/// a saved LSE was subtracted, and nothing divides them later). Exponentials of a copied, old statistic are α, those of
/// a new one β. Everything else has the name of its buffer, RecordedTile::name.
class Contents : public StepReader {
  public:
    Contents() = default;
    /// Has no names before read_steps() has gone through the recording. `weights`: the name of scores after the
    /// softmax, "P".
    Contents(const Trace& trace, const std::string& weights);
    void step(const Reading& r) override;

    /// Name of the tile that a step wrote or made, as it is after the step; empty for a step that did neither.
    const std::string& after(Index step) const { return name(step, 0); }
    /// Name of the same tile before the step.
    const std::string& before(Index step) const { return name(step, 1); }
    /// Whether this tile, after the step, is a copy of what another tile held before that tile changed: "m_old".
    bool is_old(Index step) const { return old_.contains(labels_[static_cast<std::size_t>(step)][0]); }
    /// Name of the step's operand a (k = 0) or b (k = 1); for a store, a is the tile that is stored.
    const std::string& operand(Index step, std::size_t k) const { return name(step, 2 + k); }

  private:
    using Label = std::uint16_t;
    using Labels = std::array<Label, 4>;  // after, before, a, b
    /// What is known of a tile so far.
    struct Held {
        Label label = 0;
        Index written = -1;
        TileId copy_of = no_tile, copy = no_tile;  // its source, and a copy of it; each until this tile is written
    };

    const std::string& name(Index step, std::size_t k) const {
        return names_[labels_[static_cast<std::size_t>(step)][k]];
    }
    Label label(const std::string& name);
    Label old(Label label);
    void write(const Event& e, Index step);
    bool is_whole(const Event& e) const;
    Label made_by(const Event& e);
    void name_copy(const Event& e, const std::string& buffer, Held& copy);
    void store(const Step& step);

    const Trace* trace_ = nullptr;
    std::string weights_;
    std::vector<std::string> names_{""};
    std::map<std::string, Label> known_{{"", 0}};
    std::set<Label> old_;
    std::set<std::pair<Index, std::string>> buffers_;  // launches and names
    std::set<TileId> divided_;                         // all tiles that an operation of the recording divides
    std::vector<Held> held_;                           // by tile
    std::vector<Labels> labels_;                       // by step
};

}  // namespace tilescope::show
