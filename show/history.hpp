// What can be taken back: what was shown, one after the other.
#pragma once

#include <optional>
#include <vector>

#include "show/scenes.hpp"
#include "show/state.hpp"

namespace tilescope::show {

class History {
  public:
    struct Entry {
        State state;
        std::optional<Scene> scene;
    };
    static constexpr std::size_t most = 200;  ///< entries; older ones are forgotten

    /// What is shown now, at rest. Where only the moment is another (the step, the speed, the SM in focus), it is the
    /// entry that there is, and will be come back to as it is now.
    void note(Entry now);
    /// The one before, or after, which is then shown; nullptr where there is none.
    const Entry* back() { return at_ > 0 ? &entries_[--at_] : nullptr; }
    const Entry* forward() { return at_ + 1 < entries_.size() ? &entries_[++at_] : nullptr; }

  private:
    std::vector<Entry> entries_;
    std::size_t at_ = 0;
};

}  // namespace tilescope::show
