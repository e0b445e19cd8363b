#include "gui/draw/drawing.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdlib>
#include <initializer_list>

#include "core/text/quoting.hpp"

namespace tilescope::gui {
namespace {

/// To a hundredth of a pixel, without zeros at the end; the same on every machine.
std::string number(float x) {
    const auto hundredths = std::llround(std::clamp(static_cast<double>(x), -1e7, 1e7) * 100);
    const std::string digits = std::to_string(1000 + std::abs(hundredths) % 100);  // the last two
    std::string s = (hundredths < 0 ? "-" : "") + std::to_string(std::abs(hundredths) / 100) + '.' + digits.substr(2);
    while (s.back() == '0') s.pop_back();
    if (s.back() == '.') s.pop_back();
    return s;
}

std::string attribute(const char* name, float x) { return std::string(" ") + name + "=\"" + number(x) + '"'; }

std::string point(ImVec2 p) { return number(p.x) + ' ' + number(p.y); }

/// ` fill="#0072b2" fill-opacity="0.5"`
std::string paint(const char* property, ImU32 colour) {
    constexpr const char* hex = "0123456789abcdef";
    std::string s = std::string(" ") + property + "=\"#";
    for (const int shift : {IM_COL32_R_SHIFT, IM_COL32_G_SHIFT, IM_COL32_B_SHIFT})
        s += {hex[colour >> shift >> 4 & 0xf], hex[colour >> shift & 0xf]};
    const ImU32 alpha = colour >> IM_COL32_A_SHIFT & 0xff;
    s += '"';
    return alpha == 255 ? s
                        : s + attribute((property + std::string("-opacity")).c_str(), static_cast<float>(alpha) / 255);
}

std::string stroke(ImU32 colour, float thickness) {
    return " fill=\"none\"" + paint("stroke", colour) + attribute("stroke-width", thickness);
}

std::string rectangle(ImVec2 min, ImVec2 max, float rounding) {
    std::string s = "<rect" + attribute("x", min.x) + attribute("y", min.y) + attribute("width", max.x - min.x) +
                    attribute("height", max.y - min.y);
    // As in ImGui: a rounding is never more than half of a side.
    rounding = std::min({rounding, (max.x - min.x) / 2, (max.y - min.y) / 2});
    return rounding >= 0.5f ? s + attribute("rx", rounding) : s;
}

std::string points(std::span<const ImVec2> corners) {
    std::string s = "<polygon points=\"";
    for (const ImVec2& p : corners) s += (&p == corners.data() ? "" : " ") + number(p.x) + ',' + number(p.y);
    return s + '"';
}

}  // namespace

void Drawing::add(Extent e, const std::string& element) {
    if (e.x1 < clip_.x0 || e.y1 < clip_.y0 || e.x0 > clip_.x1 || e.y0 > clip_.y1) return;
    std::string clip;
    // Up to half a pixel beyond needs no clip: antialiasing reaches that far.
    if (e.x0 < clip_.x0 - 0.5f || e.y0 < clip_.y0 - 0.5f || e.x1 > clip_.x1 + 0.5f || e.y1 > clip_.y1 + 0.5f) {
        const std::string shape = rectangle({clip_.x0, clip_.y0}, {clip_.x1, clip_.y1}, 0) + "/>";
        const auto [known, is_new] = known_clips_.try_emplace(shape, static_cast<int>(known_clips_.size()) + 1);
        clip = "clip" + std::to_string(known->second);
        if (is_new) clips_ += "<clipPath id=\"" + clip + "\">" + shape + "</clipPath>\n";
    }
    if (clip != open_) {
        if (!open_.empty()) body_ += "</g>\n";
        if (!clip.empty()) body_ += "<g clip-path=\"url(#" + clip + ")\">\n";
        open_ = clip;
    }
    body_ += element + '\n';
}

void Drawing::fill(ImVec2 min, ImVec2 max, ImU32 colour, float rounding) {
    if (max.x <= min.x || max.y <= min.y || colour >> IM_COL32_A_SHIFT == 0) return;
    add({min.x, min.y, max.x, max.y}, rectangle(min, max, rounding) + paint("fill", colour) + "/>");
}

void Drawing::outline(ImVec2 min, ImVec2 max, ImU32 colour, float thickness, float rounding) {
    if (max.x - min.x < 1 || max.y - min.y < 1 || colour >> IM_COL32_A_SHIFT == 0) return;
    const float out = thickness / 2 - 0.5f;
    add({min.x - out, min.y - out, max.x + out, max.y + out},
        rectangle({min.x + 0.5f, min.y + 0.5f}, {max.x - 0.5f, max.y - 0.5f}, rounding) + stroke(colour, thickness) +
            "/>");
}

void Drawing::line(ImVec2 from, ImVec2 to, ImU32 colour, float thickness, float stroke_length, float gap) {
    const ImVec2 a = {from.x + 0.5f, from.y + 0.5f}, b = {to.x + 0.5f, to.y + 0.5f};
    // The ends are cut at right angles to the line.
    const float length = std::max(std::hypot(b.x - a.x, b.y - a.y), 1e-3f);
    const float across = thickness / 2 * std::abs(b.y - a.y) / length,
                down = thickness / 2 * std::abs(b.x - a.x) / length;
    const std::string dashes =
        stroke_length > 0 ? " stroke-dasharray=\"" + number(stroke_length) + ' ' + number(gap) + '"' : "";
    add({std::min(a.x, b.x) - across, std::min(a.y, b.y) - down, std::max(a.x, b.x) + across,
         std::max(a.y, b.y) + down},
        "<line" + attribute("x1", a.x) + attribute("y1", a.y) + attribute("x2", b.x) + attribute("y2", b.y) +
            stroke(colour, thickness) + dashes + "/>");
}

namespace {

struct Around {
    Around(std::initializer_list<std::span<const ImVec2>> all) {
        for (const auto& points : all)
            for (const ImVec2 p : points) with(p);
    }
    float x0 = 1e9f, y0 = 1e9f, x1 = -1e9f, y1 = -1e9f;
    void with(ImVec2 p) {
        x0 = std::min(x0, p.x), y0 = std::min(y0, p.y), x1 = std::max(x1, p.x), y1 = std::max(y1, p.y);
    }
};

}  // namespace

void Drawing::polygon(std::span<const ImVec2> corners, ImU32 colour) {
    const Around a = {corners};
    add({a.x0, a.y0, a.x1, a.y1}, points(corners) + paint("fill", colour) + "/>");
}

void Drawing::polygon_outline(std::span<const ImVec2> corners, ImU32 colour, float thickness) {
    const Around a = {corners};
    add({a.x0 - thickness, a.y0 - thickness, a.x1 + thickness, a.y1 + thickness},
        points(corners) + stroke(colour, thickness) + "/>");
}

void Drawing::circle(ImVec2 centre, float radius, ImU32 colour) {
    add({centre.x - radius, centre.y - radius, centre.x + radius, centre.y + radius},
        "<circle" + attribute("cx", centre.x) + attribute("cy", centre.y) + attribute("r", radius) +
            paint("fill", colour) + "/>");
}

void Drawing::circle_outline(ImVec2 centre, float radius, ImU32 colour, float thickness) {
    const float out = radius + thickness / 2;
    add({centre.x - out, centre.y - out, centre.x + out, centre.y + out},
        "<circle" + attribute("cx", centre.x) + attribute("cy", centre.y) + attribute("r", radius - 0.5f) +
            stroke(colour, thickness) + "/>");
}

void Drawing::hatch(ImVec2 min, ImVec2 max, ImU32 colour, float spacing, float thickness) {
    std::string path;
    // x + y is constant along a line, so that lines continue in neighbouring rectangles.
    for (float sum = std::ceil((min.x + min.y) / spacing) * spacing; sum < max.x + max.y; sum += spacing) {
        const float left = std::max(min.x, sum - max.y), right = std::min(max.x, sum - min.y);
        if (right > left)
            path += (path.empty() ? "M" : " M") + point({left, sum - left}) + " L" + point({right, sum - right});
    }
    if (!path.empty()) add({min.x, min.y, max.x, max.y}, "<path d=\"" + path + '"' + stroke(colour, thickness) + "/>");
}

void Drawing::curve(ImVec2 from, ImVec2 by, ImVec2 past, ImVec2 to, std::span<const ImVec2> then, ImU32 colour,
                    float thickness) {
    const ImVec2 bends[] = {from, by, past, to};
    const Around a = {bends, then};
    std::string path = "M" + point(from) + " C" + point(by) + ", " + point(past) + ", " + point(to);
    for (const ImVec2 p : then) path += " L" + point(p);
    add({a.x0 - thickness, a.y0 - thickness, a.x1 + thickness, a.y1 + thickness},
        "<path d=\"" + path + '"' + stroke(colour, thickness) + "/>");
}

const Typeface& Drawing::face(const ImFont* font) {
    const auto known = faces_.find(font);
    return known != faces_.end() ? known->second : faces_.emplace(font, typeface_of(font)).first->second;
}

void Drawing::text(const ImFont* font, ImVec2 at, ImU32 colour, std::string_view words) {
    if (words.find_first_not_of(' ') == words.npos) return;
    const Typeface& t = face(font);
    const ImVec2 size = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, words.data(), words.data() + words.size());
    const bool mono = t.family.find("Mono") != t.family.npos;
    const std::string families =
        (t.family.empty() ? "" : '\'' + t.family + "', ") + (mono ? "monospace" : "sans-serif");
    std::string s = "<text" + attribute("x", at.x) + attribute("y", at.y + t.baseline) + " font-family=\"" + families +
                    '"' + attribute("font-size", t.em);
    if (t.weight != 400) s += attribute("font-weight", static_cast<float>(t.weight));
    add({at.x, at.y, at.x + size.x, at.y + size.y}, s + paint("fill", colour) + '>' + text::in_xml(words) + "</text>");
}

std::string Drawing::svg(ImVec2 page, ImU32 behind, std::string_view title, std::string_view description) const {
    const std::string size = attribute("width", page.x) + attribute("height", page.y);
    std::string s = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"" + size +
                    " viewBox=\"0 0 " + point(page) + "\" xml:space=\"preserve\">\n<title>" + text::in_xml(title) +
                    "</title>\n<desc>" + text::in_xml(description) + "</desc>\n";
    if (!clips_.empty()) s += "<defs>\n" + clips_ + "</defs>\n";
    if (behind >> IM_COL32_A_SHIFT != 0) s += "<rect" + size + paint("fill", behind) + "/>\n";
    return s + body_ + (open_.empty() ? "" : "</g>\n") + "</svg>\n";
}

}  // namespace tilescope::gui
