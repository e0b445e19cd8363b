// Letters as the browser draws them: a page has no fonts but its own.
#include <emscripten.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gui/draw/typeface.hpp"
#include "gui/shell/letters.hpp"

// clang-format off
/// Extent of a letter in pixels: advance; left of, above, right of and below its place on the baseline.
EM_JS(void, tilescope_measure_letter, (int code, double em, int weight, float* extent), {
    Module.letters = Module.letters || document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const c = Module.letters;
    c.font = weight + ' ' + em + 'px sans-serif';
    const m = c.measureText(String.fromCodePoint(code));
    const box = [m.actualBoundingBoxLeft, m.actualBoundingBoxAscent, m.actualBoundingBoxRight, m.actualBoundingBoxDescent];
    HEAPF32.set([m.width].concat(box.map(side => Math.ceil(side) + 1)), extent >> 2);
});
/// Writes how much of each pixel a letter covers, 0 to 255, in rows that lie `row` bytes apart.
EM_JS(void, tilescope_draw_letter, (int code, double em, int weight, int left, int above, int width, int height,
                                    uint8_t* pixels, int row), {
    const c = Module.letters;
    c.canvas.width = width;
    c.canvas.height = height;
    c.font = weight + ' ' + em + 'px sans-serif';
    c.fillText(String.fromCodePoint(code), left, above);
    const drawn = c.getImageData(0, 0, width, height).data;
    for (let y = 0; y < height; ++y)
        for (let x = 0; x < width; ++x) HEAPU8[pixels + y * row + x] = drawn[4 * (y * width + x) + 3];
});
// clang-format on

namespace tilescope::gui::shell {

void Letters::find(FontFiles&) { wanted_.clear(); }

bool Letters::build() {
    struct Place {
        char32_t letter;
        Typeface face;
        int left, above, rectangle;
    };
    ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    atlas.Build();  // until then, fonts have no size
    std::vector<Place> places;
    for (ImFont* font : atlas.Fonts) {
        const Typeface face = typeface_of(font);
        for (const char32_t c : said_) {
            if (c > IM_UNICODE_CODEPOINT_MAX) continue;
            float extent[5];
            tilescope_measure_letter(static_cast<int>(c), face.em, face.weight, extent);
            const auto left = static_cast<int>(extent[1]), above = static_cast<int>(extent[2]);
            const int width = std::max(1, left + static_cast<int>(extent[3]));
            const int height = std::max(1, above + static_cast<int>(extent[4]));
            const ImVec2 offset = {static_cast<float>(-left), face.baseline - static_cast<float>(above)};
            const int rectangle = atlas.AddCustomRectFontGlyph(font, static_cast<ImWchar>(c), width, height,
                                                               std::round(extent[0]), offset);
            places.push_back({c, face, left, above, rectangle});
        }
    }
    if (!places.empty()) atlas.Build();
    for (const Place& p : places) {
        const ImFontAtlasCustomRect& r = *atlas.GetCustomRectByIndex(p.rectangle);
        tilescope_draw_letter(static_cast<int>(p.letter), p.face.em, p.face.weight, p.left, p.above, r.Width, r.Height,
                              atlas.TexPixelsAlpha8 + r.Y * atlas.TexWidth + r.X, atlas.TexWidth);
    }
    note_lacking();
    return true;
}

}  // namespace tilescope::gui::shell
