// Memory that runs out on demand: in this program operator new counts, and fails when it is told to; so does what calls
// malloc from our own objects, as Eigen's matrices do (the linker wraps it).
#pragma once

namespace tilescope::testing {

/// Allocations that are not given back. What libraries take by malloc within themselves (the C library, and those of
/// the window: GLFW, OpenGL, libpng) is not counted, and does not fail.
long live_allocations();

/// While it lives, the n-th call fails (the first is 1), on whatever thread: once, or from then on. Not so where
/// nlohmann-json or CLI11 ask for themselves: JSON needs memory to be destroyed, which ends the program where there is
/// none, and is not given back where a list of members cannot be completed.
class FailingAllocation {
  public:
    enum class Kind { once, from_then_on };
    FailingAllocation(long n, Kind kind);
    ~FailingAllocation();
    FailingAllocation(const FailingAllocation&) = delete;
    FailingAllocation& operator=(const FailingAllocation&) = delete;

    long calls() const;  ///< since then
};

}  // namespace tilescope::testing
