#include "gui/draw/canvas.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "core/text/characters.hpp"
#include "gui/draw/notes.hpp"

namespace tilescope::gui {

Box mixed(const Box& a, const Box& b, float s) {
    const auto mix = [s](float p, float q) { return p + (q - p) * s; };
    return {mix(a.x0, b.x0), mix(a.y0, b.y0), mix(a.x1, b.x1), mix(a.y1, b.y1)};
}

Canvas::Canvas(const Theme& theme)
    : theme_(&theme), draw_(ImGui::GetWindowDrawList()), drawing_(notes() ? notes()->drawing : nullptr) {}

Drawing* Canvas::told() const {
    if (drawing_) drawing_->clip(draw_->GetClipRectMin(), draw_->GetClipRectMax());
    return drawing_;
}

void Canvas::fill(const Box& b, ImU32 colour, float rounding) const {
    draw_->AddRectFilled(b.min(), b.max(), colour, rounding);
    if (Drawing* d = told()) d->fill(b.min(), b.max(), colour, rounding);
}

void Canvas::row(const float* edges, float top, float bottom, float gap, std::span<const ImU32> colours) const {
    const int n = static_cast<int>(colours.size());
    draw_->PrimReserve(6 * n, 4 * n);  // once: a picture has thousands of cells
    for (std::size_t k = 0; k < colours.size(); ++k)
        draw_->PrimRect({edges[k], top}, {edges[k + 1] - gap, bottom - gap}, colours[k]);
    Drawing* d = told();
    for (std::size_t k = 0; d && k < colours.size(); ++k)
        d->fill({edges[k], top}, {edges[k + 1] - gap, bottom - gap}, colours[k], 0);
}

void Canvas::outline(const Box& b, ImU32 colour, float thickness, float rounding) const {
    draw_->AddRect(b.min(), b.max(), colour, rounding, 0, thickness);
    if (Drawing* d = told()) d->outline(b.min(), b.max(), colour, thickness, rounding);
}

void Canvas::line(ImVec2 from, ImVec2 to, ImU32 colour, float thickness) const {
    draw_->AddLine(from, to, colour, thickness);
    if (Drawing* d = told()) d->line(from, to, colour, thickness);
}

void Canvas::strokes(ImVec2 from, ImVec2 to, ImU32 colour, float stroke, float gap, float thickness) const {
    const float length = std::hypot(to.x - from.x, to.y - from.y);
    if (!(length > 0) || length > 1e5f) return;
    const auto along = [&](float x) {
        const float part = std::min(x / length, 1.f);
        return ImVec2(from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part);
    };
    for (float x = 0; x < length; x += stroke + gap) draw_->AddLine(along(x), along(x + stroke), colour, thickness);
    if (Drawing* d = told()) d->line(from, to, colour, thickness, stroke, gap);
}

void Canvas::dashed(ImVec2 from, ImVec2 to, ImU32 colour) const { strokes(from, to, colour, px(4), px(3), px(1)); }

void Canvas::dashed(const Box& b, ImU32 colour) const {
    dashed(b.min(), {b.x1, b.y0}, colour), dashed({b.x0, b.y1}, b.max(), colour);
    dashed(b.min(), {b.x0, b.y1}, colour), dashed({b.x1, b.y0}, b.max(), colour);
}

void Canvas::polygon(std::span<const ImVec2> corners, ImU32 colour) const {
    draw_->AddConvexPolyFilled(corners.data(), static_cast<int>(corners.size()), colour);
    if (Drawing* d = told()) d->polygon(corners, colour);
}

void Canvas::polygon_outline(std::span<const ImVec2> corners, ImU32 colour, float thickness) const {
    draw_->AddPolyline(corners.data(), static_cast<int>(corners.size()), colour, ImDrawFlags_Closed, thickness);
    if (Drawing* d = told()) d->polygon_outline(corners, colour, thickness);
}

void Canvas::circle(ImVec2 centre, float radius, ImU32 colour) const {
    draw_->AddCircleFilled(centre, radius, colour);
    if (Drawing* d = told()) d->circle(centre, radius, colour);
}

void Canvas::circle_outline(ImVec2 centre, float radius, ImU32 colour, float thickness) const {
    draw_->AddCircle(centre, radius, colour, 0, thickness);
    if (Drawing* d = told()) d->circle_outline(centre, radius, colour, thickness);
}

void Canvas::hatch(const Box& b, ImU32 colour, float spacing) const {
    if (b.w() <= 0 || b.h() <= 0) return;
    draw_->PushClipRect(b.min(), b.max(), true);
    // Lines continue in neighbouring boxes.
    for (float sum = std::ceil((b.x0 + b.y0) / spacing) * spacing; sum < b.x1 + b.y1; sum += spacing)
        draw_->AddLine({sum - b.y1, b.y1}, {sum - b.y0, b.y0}, colour, px(1));
    draw_->PopClipRect();
    if (Drawing* d = told()) d->hatch(b.min(), b.max(), colour, spacing, px(1));
}

float Canvas::width(const ImFont* font, std::string_view text) {
    return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text.data(), text.data() + text.size()).x;
}

void Canvas::write(ImFont* font, ImVec2 at, ImU32 colour, std::string_view text) const {
    text = readable(text);
    at = {std::floor(at.x), std::floor(at.y)};
    draw_->AddText(font, font->FontSize, at, colour, text.data(), text.data() + text.size());
    if (Drawing* d = told()) d->text(font, at, colour, text);
}

float Canvas::text(ImFont* font, ImVec2 at, ImU32 colour, std::string_view text) const {
    return this->text(font, at, colour, text, text);
}

float Canvas::text(ImFont* font, ImVec2 at, ImU32 colour, std::string_view shown, std::string_view whole) const {
    note(whole, at, font);
    write(font, at, colour, shown);
    return width(font, shown);
}

bool Canvas::fits(const ImFont* font, std::string_view text, float room) {
    constexpr float rounding = 0.01f;  // errors, where the room was computed from the text's width
    return width(font, text) <= room + rounding;
}

const std::string& Canvas::that_fits(const ImFont* font, float room, const std::vector<std::string>& texts) {
    for (const std::string& text : texts)
        if (fits(font, text, room)) return text;
    return texts.back();
}

std::string Canvas::shortened(const ImFont* font, const std::string& text, float room) {
    if (fits(font, text, room)) return text;
    // First cut to the room: a text that is too wide without the dots is too wide with them.
    const char* end = nullptr;
    font->CalcTextSizeA(font->FontSize, room, 0, text.data(), text.data() + text.size(), &end);
    std::string cut(text.data(), end);
    while (true) {
        while (!cut.empty() && cut.back() == ' ') cut.pop_back();
        if (cut.empty()) return cut;
        if (width(font, cut + "…") <= room) return cut + "…";
        // A UTF-8 character is removed as a whole.
        while (cut.size() > 1 && (cut.back() & 0xc0) == 0x80) cut.pop_back();
        cut.pop_back();
    }
}

std::vector<std::string_view> Canvas::broken(const ImFont* font, std::string_view text, float width) {
    text = readable(text);
    const auto wide = [&](std::size_t begin, std::size_t end) {
        return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text.data() + begin, text.data() + end).x;
    };
    // No break between a number and its unit, or within a shape.
    const auto breakable = [&](std::size_t space) {
        const std::string_view before = text.substr(0, space), after = text.substr(space + 1);
        if (before.ends_with("×") || after.starts_with("×") || before.empty()) return false;
        for (const char* prefix : {" k", " M", " G", " T"})
            if (before.ends_with(prefix)) return false;
        const bool number = before.back() >= '0' && before.back() <= '9';
        return !number || after.empty() || std::string_view("kMGTPEB").find(after.front()) == std::string_view::npos;
    };
    std::vector<std::string_view> lines;
    std::size_t begin = 0, end = 0, next = 0;  // of the line; where it may end, and where the next one begins then
    char32_t before = 0;
    for (std::string_view rest = text; next <= text.size();) {
        const std::size_t i = text.size() - rest.size();
        const bool ends = rest.empty(), space = !ends && rest.front() == ' ';
        const char32_t code = ends ? 0 : text::next_character(rest).code;
        const bool may_end = ends || (space ? breakable(i) : text::may_break(before, code));
        before = code;
        if (!may_end) continue;
        if (end > begin && wide(begin, i) > width) {
            lines.push_back(text.substr(begin, end - begin));
            begin = next;
        }
        end = i, next = ends ? text.size() + 1 : space ? i + 1 : i;
    }
    if (end > begin) lines.push_back(text.substr(begin, end - begin));
    return lines;
}

float Canvas::draw_in(ImFont* font, const Box& b, ImU32 colour, const std::string& shown, const std::string& whole,
                      Align align) const {
    const float w = width(font, shown), y = (b.y0 + b.y1 - height(font)) / 2;
    const float x = align == Align::left ? b.x0 : align == Align::right ? b.x1 - w : (b.x0 + b.x1 - w) / 2;
    return x + text(font, {x, y}, colour, shown, whole);
}

float Canvas::text_in(ImFont* font, const Box& b, ImU32 colour, const std::string& whole, Align align) const {
    return draw_in(font, b, colour, shortened(font, whole, b.w()), whole, align);
}

float Canvas::text_in(ImFont* font, const Box& b, ImU32 colour, const std::vector<std::string>& texts,
                      Align align) const {
    return draw_in(font, b, colour, shortened(font, that_fits(font, b.w(), texts), b.w()), texts.front(), align);
}

void Canvas::text_on_patch(ImFont* font, const Box& b, ImU32 colour, ImU32 behind,
                           const std::vector<std::string>& texts, Align align) const {
    const float w = width(font, shortened(font, that_fits(font, b.w(), texts), b.w())), pad = px(4);
    if (w <= 0) return;
    const float x0 = align == Align::left ? b.x0 : align == Align::right ? b.x1 - w : (b.x0 + b.x1 - w) / 2;
    fill({x0 - pad, b.y0, x0 + w + pad, b.y1}, behind, px(3));
    text_in(font, b, colour, texts, align);
}

int Canvas::paragraph(ImFont* font, ImVec2 at, ImU32 colour, std::string_view text, float width, int most) const {
    return paragraph(font, at, {{std::string(text), colour}}, width, most);
}

int Canvas::paragraph(ImFont* font, ImVec2 at, const std::vector<Piece>& pieces, float width, int most) const {
    std::string whole;
    for (const Piece& p : pieces) whole += p.text;
    const auto lines = broken(font, whole, width);
    const int n = std::min(most, static_cast<int>(lines.size()));
    if (n > 0) note(whole, at, font);
    std::size_t piece = 0, begin = 0;  // `begin`: where the piece begins in `whole`
    for (int i = 0; i < n; ++i) {
        const std::string_view line = lines[static_cast<std::size_t>(i)];
        const auto first = static_cast<std::size_t>(line.data() - whole.data()), last = first + line.size();
        const bool cut = i + 1 == n && static_cast<int>(lines.size()) > n;
        float x = at.x;
        const float y = at.y + static_cast<float>(i) * font->FontSize;
        for (std::size_t from = first; from < last;) {
            while (begin + pieces[piece].text.size() <= from) begin += pieces[piece].text.size(), ++piece;
            const std::size_t to = std::min(last, begin + pieces[piece].text.size());
            const std::string part = whole.substr(from, to - from) + (cut && to == last ? " …" : "");
            write(font, {x, y}, pieces[piece].colour, part);
            x += Canvas::width(font, part);
            from = to;
        }
    }
    return n;
}

void Canvas::wire(ImVec2 from, ImVec2 to, std::span<const ImVec2> then, ImU32 colour) const {
    const float bend = std::clamp(std::abs(from.y - to.y) * 0.5f, px(10), px(120));
    draw_->PathLineTo(from);
    draw_->PathBezierCubicCurveTo({from.x, from.y - bend}, {to.x, to.y + bend}, to);
    for (const ImVec2 p : then) draw_->PathLineTo(p);
    draw_->PathStroke(colour, 0, px(1.6f));
    if (Drawing* d = told())
        d->curve(from, {from.x, from.y - bend}, {to.x, to.y + bend}, to, {then.begin(), then.end()}, colour, px(1.6f));
}

void Canvas::arrow_head(ImVec2 tip, bool down, ImU32 colour) const {
    const float half = px(4), back = tip.y + px(down ? -7 : 7);
    triangle(tip, {tip.x - half, back}, {tip.x + half, back}, colour);
}

bool hovered(const Box& b) {
    return ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem) &&
           ImGui::IsMouseHoveringRect(b.min(), b.max());
}

}  // namespace tilescope::gui
