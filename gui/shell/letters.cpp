#include "gui/shell/letters.hpp"

#include <string_view>

#include "core/text/characters.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/system/fonts.hpp"

namespace tilescope::gui::shell {
using text::message;

bool Letters::learn(const Notes& notes) {
    const std::size_t before = said_.size();
    for (const auto& [panel, texts] : notes.panels())
        for (const Note& n : texts)
            for (std::string_view rest = n.text; !rest.empty();) {
                if (static_cast<unsigned char>(rest[0]) < 0x80) {
                    rest.remove_prefix(1);
                    continue;
                }
                const text::Character c = text::next_character(rest);
                if (text::printable(c.bytes) && !is_own_letter(c.code) && said_.insert(c.code).second)
                    wanted_.push_back(c.code);
            }
    return said_.size() > before;
}

/// Notes the letters that no font has. Letters that Dear ImGui cannot number count among them.
void Letters::note_lacking() {
    lacking_.clear();
    for (const char32_t c : said_)
        if (c > IM_UNICODE_CODEPOINT_MAX ||
            !ImGui::GetIO().Fonts->Fonts[0]->FindGlyphNoFallback(static_cast<ImWchar>(c)))
            lacking_.push_back(c);
}

std::string lacking_text(const std::vector<char32_t>& letters) {
    return message("missing_letters.no_font", lab::named_letters(letters), letters.size());
}

}  // namespace tilescope::gui::shell
