#include "gui/shell/painter.hpp"

#include <GLES3/gl3.h>
#include <backends/imgui_impl_opengl3.h>

#include <chrono>

#include "gui/shell/fonts.hpp"

namespace tilescope::gui::shell {

Painter::Painter(const char* shaders) : fonts_(find_fonts()) {
    ImGui::CreateContext();
    ImGui::GetIO().IniFilename = nullptr;
    ImGui_ImplOpenGL3_Init(shaders);
}

Painter::~Painter() {
    ImGui_ImplOpenGL3_Shutdown();
    ImGui::DestroyContext();
}

void Painter::begin(const Shown& shown, Screen& screen, Size size, float display_scale) {
    const auto width = static_cast<float>(size.width), height = static_cast<float>(size.height);
    // A picture of the stage alone is never laid out as on a phone, however small it is.
    const Reader reader = reader_of(!screen.alone && is_held(width, height, display_scale), shown.view.projector);
    const float scale = scale_for(width, height, display_scale, reader);
    const Theme& t = screen.theme;
    const bool learned = letters_.learn(screen.notes);
    if (learned || !fonts_made_ || t.light != shown.view.light || t.reader != reader || t.scale != scale) {
        letters_.find(fonts_);
        set_theme(screen.theme, fonts_, shown.view.light, scale, reader);
        if (!letters_.build()) {  // then without further fonts
            fonts_.letters.clear(), fonts_.further.clear();
            set_theme(screen.theme, fonts_, shown.view.light, scale, reader);
            letters_.build();
        }
        if (fonts_made_) ImGui_ImplOpenGL3_DestroyFontsTexture();
        ImGui_ImplOpenGL3_CreateFontsTexture();
        fonts_made_ = true;
    }
    ImGui_ImplOpenGL3_NewFrame();
}

double Painter::compose(App& app, double seconds) const {
    const auto begin = std::chrono::steady_clock::now();
    ImGui::NewFrame();
    frame(app, seconds);
    ImGui::Render();
    const std::chrono::duration<double, std::milli> work = std::chrono::steady_clock::now() - begin;
    return work.count();
}

double Painter::draw(App& app, Size size, double seconds) const {
    const double milliseconds = compose(app, seconds);
    const ImVec4 c = ImGui::ColorConvertU32ToFloat4(app.screen.theme.background);
    glViewport(0, 0, size.width, size.height);
    const bool transparent = app.screen.alone && app.screen.alone->transparent;
    transparent ? glClearColor(0, 0, 0, 0) : glClearColor(c.x, c.y, c.z, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
    return milliseconds;
}

}  // namespace tilescope::gui::shell
