#include "gui/detail/strip.hpp"

#include <algorithm>
#include <cmath>

#include "gui/draw/whole.hpp"

namespace tilescope::gui::detail {

using namespace show;
namespace {

/// Bytes per tick in the ticks (first, last].
struct Rate {
    double read = 0, write = 0;
};

Rate rate(const Run& run, Index first, Index last) {
    first = std::min(first, run.ticks()), last = std::min(last, run.ticks());
    if (first >= last) return {};
    const auto ticks = static_cast<double>(last - first);
    return {static_cast<double>(run.hbm_read(last) - run.hbm_read(first)) / ticks,
            static_cast<double>(run.hbm_sent(last) - run.hbm_sent(first)) / ticks};
}

/// The number of ticks left of a column, where `columns` columns show `ticks` ticks. No tick is cut in two.
Index ticks_before(Index column, Index ticks, Index columns) { return column * ticks / columns; }

}  // namespace

double most_traffic(const Run& run, Index ticks, Index columns) {
    columns = std::clamp<Index>(columns, 1, std::max<Index>(1, ticks));
    double most = 0;
    for (Index c = 0; c < columns; ++c) {
        const Rate r = rate(run, ticks_before(c, ticks, columns), ticks_before(c + 1, ticks, columns));
        most = std::max({most, r.read, r.write});
    }
    return most;
}

Index Strip::tick_at(ImVec2 at, ImVec2 size, float x) const {
    const float share = std::clamp((x - at.x) / std::max(1.f, size.x), 0.f, 1.f);
    return whole(std::ceil(share * static_cast<float>(ticks)), 0, run.ticks());
}

void Strip::draw(ImVec2 at, ImVec2 size) const {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const Index columns = whole(size.x, 1, std::max<Index>(1, ticks));
    const float middle = std::round(at.y + size.y / 2), half = size.y / 2 - 1;
    const auto x_of = [&](Index tick) {
        return at.x + size.x * static_cast<float>(tick) / static_cast<float>(std::max<Index>(1, ticks));
    };
    for (Index c = 0; c < columns && most > 0; ++c) {
        const Index first = ticks_before(c, ticks, columns), last = ticks_before(c + 1, ticks, columns);
        const Rate r = rate(run, first, last);
        const float x0 = x_of(first),
                    x1 = std::max(x0 + 1, x_of(last) - (size.x > 4 * static_cast<float>(ticks) ? 1.f : 0.f));
        const ImU32 colour = Theme::faded(theme.hbm, last <= run.tick() ? 1.f : 0.35f);
        const auto length = [&](double bytes) { return half * static_cast<float>(std::min(1.0, bytes / most)); };
        if (r.read > 0) list.AddRectFilled({x0, middle - length(r.read)}, {x1, middle}, colour);
        if (r.write > 0) list.AddRectFilled({x0, middle + 1}, {x1, middle + 1 + length(r.write)}, colour);
    }
    list.AddLine({at.x, middle}, {at.x + size.x, middle}, theme.dim_ink);
    const float now = std::round(x_of(run.tick()));
    list.AddRectFilled({now - theme.px(1), at.y}, {now + theme.px(1), at.y + size.y}, theme.highlight);
}

}  // namespace tilescope::gui::detail
