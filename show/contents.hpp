// What tiles hold, by name: a buffer made for S holds S, and P~ once exponentials have been taken of it.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/record/trace.hpp"

namespace tilescope::show {

/// It follows from the recorded operations alone: what is loaded has its tensor's name, what a copy holds that of what
/// was copied ("m_old" where that changes, or factors are made of it), exponentials of scores are weights (P~; P where
/// that is all: less an LSE that was saved), those of statistics α where they are for what is old and β for what is
/// new, and everything else the name of its buffer, RecordedTile::name.
class Contents {
  public:
    Contents() = default;
    /// `weights`: the name of scores that softmax has been taken of, "P".
    Contents(const Trace& trace, const std::string& weights);

    /// Of the tile that a step wrote or made, afterwards; empty where it did neither.
    const std::string& after(Index step) const { return name(step, 0); }
    /// Of the same tile before the step.
    const std::string& before(Index step) const { return name(step, 1); }
    /// Whether the tile has what another one had before that was changed: "m_old".
    bool is_old(Index step) const { return old_.contains(labels_[static_cast<std::size_t>(step)][0]); }
    /// Of its operand a (0) or b (1); of a store, a is what is stored.
    const std::string& operand(Index step, std::size_t k) const { return name(step, 2 + k); }

  private:
    using Label = std::uint16_t;
    using Labels = std::array<Label, 4>;  // after, before, a, b
    /// What is known of a tile so far.
    struct Held {
        Label label = 0;
        Index written = -1;
        TileId copy_of = no_tile, copy = no_tile;  // that nothing has been done to since
    };

    const std::string& name(Index step, std::size_t k) const {
        return names_[labels_[static_cast<std::size_t>(step)][k]];
    }
    Label label(const std::string& name);
    Label old(Label label);
    void write(const Trace& trace, Index step, std::vector<Held>& held);
    bool is_whole(const Trace& trace, const Event& e, const std::vector<Held>& held) const;
    Label made_by(const Trace& trace, const Event& e, const std::vector<Held>& held);
    void name_copy(const Event& e, const std::string& buffer, Held& copy);
    void store(const Trace& trace, const Step& step, std::vector<Held>& held);

    std::string weights_;
    std::vector<std::string> names_{""};
    std::map<std::string, Label> known_{{"", 0}};
    std::set<Label> old_;
    std::set<std::pair<Index, std::string>> buffers_;  // launches and names
    std::set<TileId> divided_;
    std::vector<Labels> labels_;
};

}  // namespace tilescope::show
