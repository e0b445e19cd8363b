// The window without a display: Dear ImGui makes frames, whose draw lists nothing renders.
#pragma once

#include <time.h>

#include <cmath>
#include <string>

#include "gui/app.hpp"
#include "gui/shell/fonts.hpp"

namespace tilescope::gui {

/// Processor time of this thread in seconds, so that a busy machine does not count.
inline double processor_time() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

class Headless {
  public:
    explicit Headless(FontFiles fonts = shell::find_fonts()) : fonts_(std::move(fonts)) {
        ImGui::CreateContext();
        ImGuiIO& io = ImGui::GetIO();
        io.IniFilename = nullptr;
        io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;  // as the window's renderer has
        io.DeltaTime = 1.f / 60;
        for (int key = 0; key < ImGuiKey_COUNT; ++key) io.KeyMap[key] = key;
        resize(1440, 900);
        dress(false, 1);
    }
    ~Headless() { ImGui::DestroyContext(); }
    Headless(const Headless&) = delete;
    Headless& operator=(const Headless&) = delete;

    void resize(int width, int height) {
        ImGui::GetIO().DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
    }
    /// Sets the theme; to be called between two frames.
    void dress(bool light, float scale, Reader reader = Reader::at_a_desk) {
        set_theme(app.screen.theme, fonts_, light, scale, reader);
        unsigned char* pixels = nullptr;
        int width = 0, height = 0;
        ImGui::GetIO().Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);
    }
    /// Lets `seconds` pass and draws a frame; returns the seconds that the frame took.
    double draw(double seconds) {
        const double begin = processor_time();
        ImGui::NewFrame();
        frame(app, seconds);
        ImGui::Render();
        return processor_time() - begin;
    }
    /// Says what no renderer can draw: a vertex far off or a clip rectangle that is not finite. "" where all is well.
    static std::string wrong_drawing() {
        constexpr float most = 1e6f;  // pixels from the corner
        const ImDrawData& data = *ImGui::GetDrawData();
        for (int i = 0; i < data.CmdListsCount; ++i) {
            const ImDrawList& list = *data.CmdLists[i];
            for (const ImDrawVert& v : list.VtxBuffer)
                if (!(std::abs(v.pos.x) < most && std::abs(v.pos.y) < most))
                    return std::string("a vertex of ") + list._OwnerName + " at " + std::to_string(v.pos.x) + ", " +
                           std::to_string(v.pos.y);
            for (const ImDrawCmd& c : list.CmdBuffer)
                if (!std::isfinite(c.ClipRect.x + c.ClipRect.y + c.ClipRect.z + c.ClipRect.w))
                    return std::string("a part of ") + list._OwnerName + " is cut at no number";
        }
        return "";
    }

    App app;

  private:
    const FontFiles fonts_;
};

}  // namespace tilescope::gui
