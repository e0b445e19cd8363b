// The texts of one frame. Every text that is drawn passes through gui/draw, which notes it here in full, so that the
// window's texts can be logged and compared word by word.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilescope::gui {

class Drawing;

/// A text, the place where it begins, and its font. The text is the full one even where a shortened one was drawn.
struct Note {
    std::string text;
    ImVec2 at;
    const ImFont* font;  ///< valid until the fonts are made anew
};

/// The texts of a frame by panel, in the order in which they were drawn.
class Notes {
  public:
    /// Empties these notes, and makes them those of the current ImGui context.
    void begin_frame();
    void clear(std::string_view panel) { of(panel).clear(); }
    const std::vector<std::pair<std::string, std::vector<Note>>>& panels() const { return panels_; }

    Drawing* drawing = nullptr;  ///< receives the shapes for a picture of vectors, or nullptr

  private:
    friend class NotedAs;
    friend void note(std::string_view text, ImVec2 at, const ImFont* font);
    std::vector<Note>& of(std::string_view panel);

    std::vector<std::pair<std::string, std::vector<Note>>> panels_;
    std::string now_;  // the panel that is drawn
};

/// Until the end of this object's scope, texts that are drawn are noted under `panel`.
class NotedAs {
  public:
    explicit NotedAs(std::string_view panel);
    ~NotedAs();
    NotedAs(const NotedAs&) = delete;
    NotedAs& operator=(const NotedAs&) = delete;

  private:
    std::string before_;
};

/// The first 4,000 bytes of a text, as far as they are whole characters. No more is drawn, because nobody reads a
/// hundred thousand letters and Dear ImGui has no room for them.
std::string_view readable(std::string_view text);

/// The notes of the current ImGui context; nullptr where no frame has begun them.
Notes* notes();
/// For gui/draw alone: panels draw their texts with its functions.
void note(std::string_view text, ImVec2 at, const ImFont* font = ImGui::GetFont());

}  // namespace tilescope::gui
