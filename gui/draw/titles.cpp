#include "gui/draw/titles.hpp"

#include <algorithm>
#include <cmath>

namespace tilescope::gui {

Index titles_every(float room, float pixels) {
    const auto n = static_cast<Index>(std::ceil(room / std::max(pixels, 0.01f)));
    return n <= 4 ? n : 0;
}

void draw_titles(const Canvas& canvas, const show::Session& session, const Box& line, float left, float pixels,
                 Index every, Index columns) {
    const Theme& t = canvas.theme();
    for (Index k = 0; every > 0 && k < columns; k += every) {
        const float x = left + static_cast<float>(k) * pixels;
        if (x < line.x0 - 0.01f || x >= line.x1) continue;
        const Box b = {x, line.y0, x + static_cast<float>(every) * pixels, line.y1};
        canvas.text_in(t.small_text, b, t.dim_ink, show::title_of(session, k),
                       every == 1 ? Align::centre : Align::left);
    }
}

}  // namespace tilescope::gui
