// Memory that runs out on demand: in this program operator new counts its calls, and fails when told to. So does malloc
// where our own objects call it, as Eigen's matrices do (the linker wraps it).
#pragma once

namespace tilescope::testing {

/// Allocations that were not freed. What libraries allocate by malloc within themselves (the C library, GLFW, OpenGL,
/// libpng) is not counted, and does not fail.
long live_allocations();

/// While this exists, the n-th call fails (the first is 1), on whatever thread: once, or from then on. Calls of
/// nlohmann-json and CLI11 themselves do not fail: destroying JSON needs memory, without which the program ends; and a
/// list whose members cannot be completed is leaked.
class FailingAllocation {
  public:
    enum class Kind { once, from_then_on };
    FailingAllocation(long n, Kind kind);
    ~FailingAllocation();
    FailingAllocation(const FailingAllocation&) = delete;
    FailingAllocation& operator=(const FailingAllocation&) = delete;

    long calls() const;  ///< calls since then
};

}  // namespace tilescope::testing
