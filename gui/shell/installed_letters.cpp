// Letters from the fonts of the system.
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "gui/shell/letters.hpp"
#include "lab/system/fonts.hpp"
#include "lab/system/signals.hpp"

namespace tilescope::gui::shell {
namespace {

/// Whether Dear ImGui reads such a file: outlines of TrueType or OpenType, or a collection of such fonts.
bool is_of_outlines(const std::string& file) {
    using namespace std::string_view_literals;
    for (const auto begin : {"\0\1\0\0"sv, "OTTO"sv, "true"sv, "ttcf"sv})
        if (file.starts_with(begin)) return true;
    return false;
}

std::vector<ImWchar> ranges_of(const std::vector<char32_t>& letters) {
    std::vector<ImWchar> ranges;
    for (const char32_t c : letters)
        if (c <= IM_UNICODE_CODEPOINT_MAX) ranges.insert(ranges.end(), 2, static_cast<ImWchar>(c));
    if (!ranges.empty()) ranges.push_back(0);
    return ranges;
}

}  // namespace

void Letters::find(FontFiles& files) {
    std::vector<char32_t> letters;
    for (const char32_t c : std::exchange(wanted_, {}))
        if (c <= IM_UNICODE_CODEPOINT_MAX) letters.push_back(c);
    files.letters = ranges_of({said_.begin(), said_.end()});
    const auto found = lab::fonts_for(letters, &lab::control());
    if (!found) return;
    for (const lab::InstalledFont& font : found->fonts) {
        std::ifstream in(font.path, std::ios::binary);
        FurtherFont further{{std::istreambuf_iterator<char>(in), {}}, font.number, ranges_of(font.letters)};
        if (is_of_outlines(further.file)) files.further.push_back(std::move(further));
    }
}

void Letters::build() {
    ImGui::GetIO().Fonts->Build();
    note_lacking();
}

}  // namespace tilescope::gui::shell
