#include "gui/draw/canvas.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace tilescope::gui {

Box mixed(const Box& a, const Box& b, float s) {
    const auto mix = [s](float p, float q) { return p + (q - p) * s; };
    return {mix(a.x0, b.x0), mix(a.y0, b.y0), mix(a.x1, b.x1), mix(a.y1, b.y1)};
}

void Canvas::fill(const Box& b, ImU32 colour, float rounding) const {
    draw_->AddRectFilled(b.min(), b.max(), colour, rounding);
}

void Canvas::outline(const Box& b, ImU32 colour, float thickness, float rounding) const {
    draw_->AddRect(b.min(), b.max(), colour, rounding, 0, thickness);
}

void Canvas::hatch(const Box& b, ImU32 colour, float spacing) const {
    if (b.w() <= 0 || b.h() <= 0) return;
    draw_->PushClipRect(b.min(), b.max(), true);
    for (float x = b.x0 - b.h() + spacing; x < b.x1; x += spacing)
        draw_->AddLine({x, b.y1}, {x + b.h(), b.y0}, colour, px(1));
    draw_->PopClipRect();
}

ImVec2 Canvas::size(const ImFont* font, const std::string& text) {
    return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text.data(), text.data() + text.size());
}

float Canvas::text(ImFont* font, ImVec2 at, ImU32 colour, const std::string& text) const {
    draw_->AddText(font, font->FontSize, {std::floor(at.x), std::floor(at.y)}, colour, text.data(),
                   text.data() + text.size());
    return size(font, text).x;
}

std::string Canvas::that_fits(const ImFont* font, float width, const std::vector<std::string>& texts) {
    for (const std::string& text : texts)
        if (size(font, text).x <= width) return text;
    return texts.back();
}

std::string Canvas::shortened(const ImFont* font, const std::string& text, float width) {
    if (size(font, text).x <= width) return text;
    std::string cut = text;
    while (!cut.empty()) {
        // A character of UTF-8 goes as a whole.
        while (cut.size() > 1 && (cut.back() & 0xc0) == 0x80) cut.pop_back();
        cut.pop_back();
        while (!cut.empty() && cut.back() == ' ') cut.pop_back();
        if (size(font, cut + "…").x <= width) return cut.empty() ? cut : cut + "…";
    }
    return cut;
}

float Canvas::text_in(ImFont* font, const Box& b, ImU32 colour, const std::string& whole, Align align) const {
    const std::string shown = shortened(font, whole, b.w());
    const float width = size(font, shown).x, y = (b.y0 + b.y1 - height(font)) / 2;
    const float x = align == Align::left ? b.x0 : align == Align::right ? b.x1 - width : (b.x0 + b.x1 - width) / 2;
    return x + text(font, {x, y}, colour, shown);
}

void Canvas::text_on_patch(ImFont* font, const Box& b, ImU32 colour, ImU32 behind, const std::string& whole,
                           Align align) const {
    const float width = size(font, shortened(font, whole, b.w())).x, pad = px(4);
    if (width <= 0) return;
    const float x0 = align == Align::left ? b.x0 : align == Align::right ? b.x1 - width : (b.x0 + b.x1 - width) / 2;
    fill({x0 - pad, b.y0, x0 + width + pad, b.y1}, behind, px(3));
    text_in(font, b, colour, whole, align);
}

void Canvas::wire(ImVec2 from, ImVec2 to, std::initializer_list<ImVec2> then, ImU32 colour) const {
    const float bend = std::clamp(std::abs(from.y - to.y) * 0.5f, px(10), px(120));
    draw_->PathLineTo(from);
    draw_->PathBezierCubicCurveTo({from.x, from.y - bend}, {to.x, to.y + bend}, to);
    for (const ImVec2 p : then) draw_->PathLineTo(p);
    draw_->PathStroke(colour, 0, px(1.6f));
}

void Canvas::arrow_head(ImVec2 tip, bool down, ImU32 colour) const {
    const float half = px(4), back = tip.y + px(down ? -7 : 7);
    draw_->AddTriangleFilled(tip, {tip.x - half, back}, {tip.x + half, back}, colour);
}

bool hovered(const Box& b) {
    return ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem) &&
           ImGui::IsMouseHoveringRect(b.min(), b.max());
}

}  // namespace tilescope::gui
