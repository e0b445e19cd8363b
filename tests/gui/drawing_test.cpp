// Vector pictures: what was drawn, as SVG.
#include "gui/draw/drawing.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/headless.hpp"

using namespace tilescope;
using namespace tilescope::gui;
using Catch::Matchers::ContainsSubstring;

namespace {

const ImVec2 page = {200, 100};
constexpr ImU32 red = IM_COL32(255, 0, 16, 255);

std::string svg_of(const Drawing& d, ImU32 behind = 0) { return d.svg(page, behind, "title", "description"); }

std::size_t count(const std::string& text, const std::string& word) {
    std::size_t n = 0;
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++n;
    return n;
}

/// Calls everything that draws.
void draw_all(Drawing& d, const ImFont* font) {
    const ImVec2 corners[] = {{10, 10}, {20, 10}, {15, 20}}, then[] = {{90, 90}};
    d.fill({1, 2}, {11, 22}, red, 3);
    d.outline({1, 2}, {11, 22}, red, 2, 0);
    d.line({0, 0}, {50, 50}, red, 1, 4, 2);
    d.polygon(corners, red);
    d.polygon_outline(corners, red, 2);
    d.circle({30, 30}, 5, red);
    d.circle_outline({30, 30}, 5, red, 1);
    d.hatch({50, 10}, {70, 30}, red, 4, 1);
    d.curve({0, 0}, {10, 0}, {20, 10}, {20, 20}, then, red, 1);
    d.text(font, {5, 5}, red, "words");
}

}  // namespace

TEST_CASE("text in a picture of vectors is text, and is never taken for anything else", "[drawing]") {
    Headless h;
    Drawing d;
    d.text(h.app.screen.theme.text, {5, 5}, red, "a < b && \"c\" > d\x01");
    d.text(h.app.screen.theme.text, {5, 5}, red, "   ");
    const std::string svg = d.svg(page, 0, "K & V", "--caption \"<\"");
    CHECK_THAT(svg, ContainsSubstring(">a &lt; b &amp;&amp; &quot;c&quot; &gt; d</text>"));
    CHECK(count(svg, "<text") == 1);
    CHECK_THAT(svg, ContainsSubstring("<title>K &amp; V</title>"));
    CHECK_THAT(svg, ContainsSubstring("<desc>--caption &quot;&lt;&quot;</desc>"));
    CHECK(svg.find('\x01') == svg.npos);
}

TEST_CASE("a text has its font's family, its size as type is set, and stands on its baseline", "[drawing]") {
    Headless h;
    Drawing d;
    const Typeface face = typeface_of(h.app.screen.theme.title);
    d.text(h.app.screen.theme.title, {5, 7}, red, "words");
    const std::string svg = svg_of(d);
    CHECK_FALSE(face.family.empty());
    CHECK(face.em > 0);
    CHECK(face.em < h.app.screen.theme.title->FontSize + 1);
    CHECK(face.baseline > 0);
    CHECK(face.baseline < h.app.screen.theme.title->FontSize);
    CHECK_THAT(svg, ContainsSubstring("'" + face.family + "'"));
    CHECK_THAT(svg, ContainsSubstring("x=\"5\" y=\"" + std::to_string(7 + static_cast<int>(face.baseline)) + "\""));
    CHECK((svg.find("font-weight") != svg.npos) == (face.weight != 400));
}

TEST_CASE("the same drawing twice is the same bytes", "[drawing]") {
    Headless h;
    Drawing a, b;
    draw_all(a, h.app.screen.theme.text), draw_all(b, h.app.screen.theme.text);
    CHECK(svg_of(a, red) == svg_of(b, red));
}

TEST_CASE("shapes are written in the order in which they are drawn", "[drawing]") {
    Headless h;
    Drawing d;
    draw_all(d, h.app.screen.theme.text);
    const std::string svg = svg_of(d);
    std::size_t at = 0;
    for (const char* shape : {"<rect x=\"1\" y=\"2\"", "<rect x=\"1.5\" y=\"2.5\"", "<line", "<polygon", "<polygon",
                              "<circle", "<circle", "<path", "<path", "<text"}) {
        INFO(shape);
        at = svg.find(shape, at);
        REQUIRE(at != svg.npos);
        ++at;
    }
}

TEST_CASE("what reaches beyond its clip is clipped, and what lies outside is left out", "[drawing]") {
    Drawing d;
    d.clip({0, 0}, {50, 50});
    d.fill({10, 10}, {20, 20}, red, 0);  // inside
    CHECK(svg_of(d).find("clip") == std::string::npos);
    d.fill({60, 60}, {70, 70}, red, 0);  // outside
    CHECK(count(svg_of(d), "<rect") == 1);
    d.fill({40, 40}, {60, 60}, red, 0);  // across
    d.fill({30, 30}, {80, 45}, red, 0);  // again: the same clip
    std::string svg = svg_of(d);
    CHECK(count(svg, "<clipPath") == 1);
    CHECK(count(svg, "<g clip-path=\"url(#clip1)\">") == 1);
    CHECK_THAT(
        svg, ContainsSubstring("<clipPath id=\"clip1\"><rect x=\"0\" y=\"0\" width=\"50\" height=\"50\"/></clipPath>"));
    d.clip({0, 0}, page);
    d.fill({40, 40}, {60, 60}, red, 0);
    svg = svg_of(d);
    CHECK(count(svg, "<g ") == count(svg, "</g>"));
    CHECK(svg.find("</g>") < svg.rfind("<rect x=\"40\""));
}

TEST_CASE("colours are written with their opacity", "[drawing]") {
    Drawing d;
    d.fill({0, 0}, {10, 10}, IM_COL32(0, 114, 178, 255), 0);
    d.fill({0, 0}, {10, 10}, IM_COL32(0, 114, 178, 51), 0);
    d.line({0, 0}, {10, 10}, IM_COL32(1, 2, 255, 51), 2);
    d.fill({0, 0}, {10, 10}, IM_COL32(9, 9, 9, 0), 0);  // invisible
    const std::string svg = svg_of(d);
    CHECK(count(svg, "fill=\"#0072b2\"") == 2);
    CHECK(count(svg, "fill=\"#0072b2\" fill-opacity=\"0.2\"") == 1);
    CHECK_THAT(svg, ContainsSubstring("stroke=\"#0102ff\" stroke-opacity=\"0.2\""));
    CHECK(svg.find("#090909") == svg.npos);
}

TEST_CASE("a page has a background only where it is asked for", "[drawing]") {
    const Drawing d;
    CHECK(count(svg_of(d), "<rect") == 0);
    CHECK_THAT(svg_of(d, red), ContainsSubstring("<rect width=\"200\" height=\"100\" fill=\"#ff0010\"/>"));
    CHECK_THAT(svg_of(d), ContainsSubstring("width=\"200\" height=\"100\" viewBox=\"0 0 200 100\""));
}
