// What undo and redo go through: the states that were shown, one after the other.
#pragma once

#include <optional>
#include <vector>

#include "show/state/scenes.hpp"
#include "show/state/state.hpp"

namespace tilescope::show {

class History {
  public:
    struct Entry {
        State state;
        std::optional<Scene> scene;
    };
    static constexpr std::size_t most = 200;  ///< entries; older ones are forgotten

    /// Adds what is shown now, at rest. Where nothing but the moment differs from the present entry (the step, the
    /// speed, the SM in focus), what is shown replaces that entry, so that undo comes back to this moment.
    void note(Entry now);
    /// Goes to the entry before, or after, and returns it; nullptr where there is none.
    const Entry* back() { return at_ > 0 ? &entries_[--at_] : nullptr; }
    const Entry* forward() { return at_ + 1 < entries_.size() ? &entries_[++at_] : nullptr; }

  private:
    std::vector<Entry> entries_;
    std::size_t at_ = 0;
};

}  // namespace tilescope::show
