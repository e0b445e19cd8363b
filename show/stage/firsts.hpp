// What happens for the first time in a run, and deserves a look: a rescaled sum, a skipped tile, a second wave.
#pragma once

#include <string>
#include <vector>

#include "show/stage/wall.hpp"

namespace tilescope::show {

struct First {
    Index tick;        ///< after this tick it has happened
    std::string what;  ///< one sentence
};
/// The firsts of what is recorded, in order of time. `wall`: of a recorded head; without it (nullptr) skipped tiles are
/// not looked for.
std::vector<First> firsts_of(const Run& run, const Wall* wall);

/// The firsts of runs that are looked at, found when they are asked for.
class Firsts {
  public:
    /// `version` changes with what the session shows.
    const std::vector<First>& of(const Run& run, Walls& walls, std::uint64_t version);

  private:
    Told<std::vector<First>, const Run*> told_;
};

}  // namespace tilescope::show
