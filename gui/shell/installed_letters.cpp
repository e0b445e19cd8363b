// Letters from the fonts of the system.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include "gui/draw/typeface.hpp"
#include "gui/shell/letters.hpp"
#include "lab/system/fonts.hpp"
#include "lab/system/signals.hpp"

namespace tilescope::gui::shell {
namespace {

std::vector<ImWchar> ranges_of(const std::vector<char32_t>& letters) {
    std::vector<ImWchar> ranges;
    for (const char32_t c : letters)
        if (c <= IM_UNICODE_CODEPOINT_MAX) ranges.insert(ranges.end(), 2, static_cast<ImWchar>(c));
    if (!ranges.empty()) ranges.push_back(0);
    return ranges;
}

/// Adds a font, or only its letters where `to` has the font: Dear ImGui copies the whole file of every entry.
void add(std::vector<FurtherFont>& to, const lab::InstalledFont& font) {
    std::vector<ImWchar> ranges = ranges_of(font.letters);
    const auto known = std::find_if(
        to.begin(), to.end(), [&](const FurtherFont& f) { return f.path == font.path && f.number == font.number; });
    if (known != to.end()) {
        known->ranges.insert(known->ranges.begin(), ranges.begin(), ranges.end() - 1);
        return;
    }
    std::ifstream in(font.path, std::ios::binary);
    FurtherFont further{font.path, {std::istreambuf_iterator<char>(in), {}}, font.number, std::move(ranges)};
    if (has_outlines(further.file, further.number)) to.push_back(std::move(further));
}

}  // namespace

void Letters::find(FontFiles& files) {
    const std::vector<char32_t> all(said_.begin(), said_.end());
    std::vector<char32_t> letters;
    for (const char32_t c : std::exchange(wanted_, {}))
        if (c <= IM_UNICODE_CODEPOINT_MAX) letters.push_back(c);
    files.letters = ranges_of(all);
    const auto found = lab::fonts_for(letters, lab::language_of(all), &lab::control());
    if (!found) return;
    for (const lab::InstalledFont& font : found->fonts) add(files.further, font);
}

bool Letters::build() {
    const bool built = ImGui::GetIO().Fonts->Build();
    if (built) note_lacking();
    return built;
}

}  // namespace tilescope::gui::shell
