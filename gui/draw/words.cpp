#include "gui/draw/words.hpp"

#include <algorithm>

namespace tilescope::gui {

void draw_words(const Canvas& canvas, Box& area, const show::Sentence& finding, const std::string& reason) {
    const Theme& t = canvas.theme();
    std::vector<Canvas::Piece> pieces;
    for (const show::Phrase& p : finding) pieces.push_back({p.text, p.hue ? t.hue(*p.hue) : t.ink});
    const float line = t.headline->FontSize, small = t.text->FontSize;
    // Without room for two lines it is set smaller, and not over what is below.
    const Box first = area.cut_top(std::min(2 * line + canvas.px(4), area.h())),
              second = area.cut_top(2 * small + canvas.px(6));
    const std::string all = show::plain(finding);
    ImFont* fonts[] = {t.headline, t.title, t.text};
    ImFont** font = fonts;
    const auto lines = [&] { return static_cast<float>(Canvas::broken(*font, all, first.w()).size()); };
    while (*font != t.text && lines() * (*font)->FontSize > first.h()) ++font;
    canvas.paragraph(*font, first.min(), pieces, first.w(), static_cast<int>(first.h() / (*font)->FontSize));
    canvas.paragraph(t.text, second.min(), t.dim_ink, reason, second.w(), 2);
}

}  // namespace tilescope::gui
