#include "core/record/nest.hpp"

#include <string_view>

namespace tilescope {

void Nest::begin(const LaunchMark& mark) {
    launches_.push_back({mark.kernel, {}, {}});
    for (const Axis& a : mark.axes) launches_.back().axes.push_back({a.tiles, a.promise});
}

/// Two loops are the same when they stand at the same source line in the same outer loop.
void Nest::begin(const LoopMark& mark) {
    std::vector<Loop>& loops = launches_.back().loops;
    const Index around = open_.empty() ? -1 : open_.back();
    const auto same = [&](const Loop& l) {
        return l.around == around && l.here.line == mark.here.line && std::string_view(l.here.file) == mark.here.file;
    };
    const auto found = std::find_if(loops.begin(), loops.end(), same);
    open_.push_back(found - loops.begin());
    if (found == loops.end()) loops.push_back({mark.tiles.name(), mark.promise, mark.here, around});
    innermost().runs += mark.times;
}

void Nest::visit(const LineMark& mark) {
    if (open_.empty()) return;
    Loop& l = innermost();
    l.first_line = l.first_line == 0 ? mark.line : std::min(l.first_line, mark.line);
    l.last_line = std::max(l.last_line, mark.line);
}

}  // namespace tilescope
