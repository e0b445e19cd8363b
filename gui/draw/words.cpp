#include "gui/draw/words.hpp"

#include <algorithm>

#include "core/text/words.hpp"

namespace tilescope::gui {

float finding_height(const Theme& t, const Box& stage) {
    const float lines = t.in_a_hall() && is_wide(stage) ? 1 : 2;
    return lines * t.headline->FontSize + t.px(4);
}

void draw_finding(const Canvas& canvas, const Box& room, const show::Sentence& finding) {
    const Theme& t = canvas.theme();
    std::vector<Canvas::Piece> pieces;
    for (const show::Phrase& p : finding) pieces.push_back({p.text, p.hue ? t.hue(*p.hue) : t.ink});
    const std::string all = show::plain(finding);
    ImFont* fonts[] = {t.headline, t.title, t.text};
    ImFont** font = fonts;
    const auto lines = [&] { return static_cast<float>(Canvas::broken(*font, all, room.w()).size()); };
    while (*font != t.text && lines() * (*font)->FontSize > room.h()) ++font;
    canvas.paragraph(*font, room.min(), pieces, room.w(), static_cast<int>(room.h() / (*font)->FontSize));
}

int draw_sentences(const Canvas& canvas, ImFont* font, const Box& room, ImU32 colour, const std::string& said) {
    const auto most = static_cast<int>(room.h() / font->FontSize);
    std::string_view shown = said;
    for (std::string_view fewer = shown; !fewer.empty(); fewer = text::without_last_sentence(fewer)) {
        shown = fewer;
        if (std::ssize(Canvas::broken(font, shown, room.w())) <= most) break;
    }
    return canvas.paragraph(font, room.min(), colour, shown, room.w(), most);
}

float words_height(const Theme& t, const Box& stage) {
    return std::min(finding_height(t, stage), stage.h()) + 2 * t.text->FontSize + t.px(6);
}

void draw_words(const Canvas& canvas, Box& area, const show::Sentence& finding, const std::string& reason) {
    const Theme& t = canvas.theme();
    draw_finding(canvas, area.cut_top(std::min(finding_height(t, area), area.h())), finding);
    draw_sentences(canvas, t.text, area.cut_top(2 * t.text->FontSize + canvas.px(6)), t.dim_ink, reason);
}

}  // namespace tilescope::gui
