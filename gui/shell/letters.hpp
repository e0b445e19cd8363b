// Letters that the window's own fonts lack: captions, scenes and names of files may be of any script.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "gui/draw/notes.hpp"
#include "gui/draw/theme.hpp"

namespace tilescope::gui::shell {

/// Takes such letters from the fonts of the system, or has the browser draw them, once a frame has used them. Letters
/// are set one by one: scripts that join or reorder letters (Arabic, Devanagari) are not.
class Letters {
  public:
    /// Looks for letters in the texts of the last frame. True where one is new: the fonts have to be made anew.
    bool learn(const Notes& notes);
    /// To be called before set_theme(): adds installed fonts that have the letters learned.
    void find(FontFiles& files);
    /// To be called after set_theme(), before the renderer takes the texture: makes the texture of the fonts. False
    /// where Dear ImGui cannot read a font; there is then no texture.
    bool build();
    /// Letters that no font has: boxes stand for them.
    const std::vector<char32_t>& lacking() const { return lacking_; }

  private:
    void note_lacking();

    std::set<char32_t> said_;
    std::vector<char32_t> wanted_;  // not looked for yet
    std::vector<char32_t> lacking_;
};

/// "no installed font has 中 (U+4E2D), and boxes stand for it: install one that has (fonts-noto-cjk)".
std::string lacking_text(const std::vector<char32_t>& letters);

}  // namespace tilescope::gui::shell
