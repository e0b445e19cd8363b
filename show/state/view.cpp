#include "show/state/view.hpp"

#include <algorithm>

namespace tilescope::show {

Drawer open_drawer(const Session& session, const View& view) {
    if (view.drawer != Drawer::automatic) return view.drawer;
    constexpr Index readable = 8;  // numbers beside each other
    const Run* run = session.run();
    if (!run || session.rival() || !run->has_values() || view.stage > Stage::machine) return Drawer::none;
    const Tiling& tiles = run->experiment().tiling;
    return std::max({tiles.br, tiles.bc, run->recorded().dim}) <= readable ? Drawer::detail : Drawer::none;
}

double panned(double at, double by, double whole, double seen) {
    if (whole <= seen) return at;
    const double before = std::clamp(at * whole - seen / 2, 0.0, whole - seen);
    return (std::clamp(before - by, 0.0, whole - seen) + seen / 2) / whole;
}

}  // namespace tilescope::show
