// Colours, type and measures. Colours are Okabe and Ito's (safe for the colour-blind), in two brightnesses; what
// matters is never said by colour alone.
#pragma once

#include <imgui.h>

#include <string>
#include <vector>

#include "core/machine/tensor.hpp"

namespace tilescope::gui {

/// How letters are set: for a desk, for the last row of a lecture hall, or for a telephone.
enum class Reader : std::uint8_t { at_a_desk, in_a_hall, in_the_hand };

struct Theme {
    // Type. The fonts belong to ImGui's atlas.
    ImFont *text = nullptr, *mono = nullptr, *title = nullptr, *small_text = nullptr, *headline = nullptr,
           *figure = nullptr;  ///< figure: a number that is to be seen first
    float scale = 1;           ///< of all measures: HiDPI x projector mode
    Reader reader = Reader::at_a_desk;
    bool in_a_hall() const { return reader == Reader::in_a_hall; }

    bool light = false;
    ImU32 background, panel, panel_border, ink, dim_ink, faint;  ///< faint: rules, grids, what is not there yet
    ImU32 highlight;                                             ///< what just happened: outlines, the current line
    ImU32 now;                                                   ///< on the wall: what is going on in this step
    ImU32 good, bad;                                             ///< a fix; what does not fit
    ImU32 sram, registers, hbm, bus;                             ///< the three spaces and the way between them

    /// The hue of a tensor or tile, by what its numbers are.
    ImU32 hue(Meaning meaning) const;
    /// The colour of the k-th curve of a chart; below 0 the ink.
    ImU32 series(int k) const;
    /// The colour of a cell of the plane: from 0, like the background, to 1, like the ink.
    ImU32 shade(float share) const;
    /// `colour` with another opacity, 0 to 1.
    static ImU32 faded(ImU32 colour, float opacity);
    static ImU32 mixed(ImU32 a, ImU32 b, float share_of_b);
    /// Black or white, whichever can be read on `background`.
    static ImU32 ink_on(ImU32 background);
    /// A measure in pixels.
    float px(float at_scale_1) const { return at_scale_1 * scale; }
};

/// A font for letters that the window's own texts do not have.
struct FurtherFont {
    std::string path;
    std::string file;             ///< its whole contents
    int number = 0;               ///< of the font in a file that holds several
    std::vector<ImWchar> ranges;  ///< first and last letters of ranges, and a 0
};

/// The whole contents of font files; for an empty one the font that is built into ImGui is used.
struct FontFiles {
    std::string text, title, mono;
    std::string symbols;                ///< for what the others do not have
    std::vector<ImWchar> letters = {};  ///< more letters, as ranges and a 0; the files above come before `further`
    std::vector<FurtherFont> further = {};
};

/// Whether set_theme() loads this letter even where FontFiles::letters lacks it.
bool is_own_letter(char32_t code);

/// Whether a window of so many pixels has less room than three columns need, as on a phone.
bool is_held(float width, float height, float display_scale);
/// The reader: in the hand where `held`, else in a hall where `hall` asks for that, else at a desk.
Reader reader_of(bool held, bool hall);

/// The scale for a window of so many pixels. At a desk it grows with the window; in a hall with the window's height,
/// because the window fills the screen. In the hand it is display_scale, or a little less. It has steps of 0.1, because
/// every change makes the fonts anew.
float scale_for(float width, float height, float display_scale, Reader reader);

/// Sets fonts at `scale`, colours and ImGui's style. In a hall the em of every font is at least 16 `scale` pixels;
/// with scale_for() that is 24 pixels in a window 1080 pixels high. To be called before a frame. `files` have to live
/// as long as ImGui uses its fonts, and the renderer's font texture has to be made again afterwards.
void set_theme(Theme& theme, const FontFiles& files, bool light, float scale, Reader reader = Reader::at_a_desk);

}  // namespace tilescope::gui
