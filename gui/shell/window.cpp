#include "gui/shell/window.hpp"

#define GL_GLEXT_PROTOTYPES
#define GLFW_INCLUDE_GLEXT
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

namespace tilescope::gui::shell {
namespace {

std::string glfw_error;

std::optional<Key> key_from_glfw(int key) {
    if (key >= GLFW_KEY_1 && key <= GLFW_KEY_6) return static_cast<Key>(static_cast<int>(Key::one) + key - GLFW_KEY_1);
    switch (key) {
        case GLFW_KEY_SPACE:
            return Key::space;
        case GLFW_KEY_LEFT:
            return Key::left;
        case GLFW_KEY_RIGHT:
            return Key::right;
        case GLFW_KEY_HOME:
            return Key::home;
        case GLFW_KEY_END:
            return Key::end;
        default:
            return std::nullopt;
    }
}

[[noreturn]] void refuse(const std::string& what) {
    throw NoDisplay(what + (glfw_error.empty() ? "" : " (" + glfw_error + ")") +
                    "; pictures and films need no display: tilescope-gui --screenshot FILE.png, --record FILE.mp4");
}

/// Type grows with the window and with the display's own scale; small windows get a little less, not illegible type.
/// In tenths, for every change makes the fonts anew.
float scale_for(Size size, float display_scale, bool projector) {
    const float room = std::min(static_cast<float>(size.width) / 1440.f, static_cast<float>(size.height) / 900.f);
    const float scale = std::clamp(room, 0.8f * display_scale, 3.f) * (projector ? 1.3f : 1.f);
    return std::round(scale * 10) / 10;
}

}  // namespace

Window::Window(Kind kind, Size size) : size_(size) {
    glfw_error.clear();
    glfwSetErrorCallback([](int, const char* text) { glfw_error = text; });
    if (!glfwInit()) refuse("no display");
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 2);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    glfwWindowHint(GLFW_VISIBLE, kind == Kind::visible ? GLFW_TRUE : GLFW_FALSE);
    window_ = glfwCreateWindow(size.width, size.height, "TileScope", nullptr, nullptr);
    if (!window_) {
        glfwTerminate();
        refuse("no OpenGL 3 on this display");
    }
    glfwMakeContextCurrent(window_);
    glfwSwapInterval(1);
    // Dear ImGui looks at keys once a frame, and misses those that are up again by then.
    glfwSetWindowUserPointer(window_, &keys_);
    glfwSetKeyCallback(window_, [](GLFWwindow* w, int key, int, int action, int) {
        const auto known = key_from_glfw(key);
        if (known && action != GLFW_RELEASE)
            static_cast<std::vector<Key>*>(glfwGetWindowUserPointer(w))->push_back(*known);
    });
    ImGui::CreateContext();
    ImGui::GetIO().IniFilename = nullptr;
    ImGui_ImplGlfw_InitForOpenGL(window_, kind == Kind::visible);
    ImGui_ImplOpenGL3_Init("#version 150");
}

Window::~Window() {
    ImGui_ImplOpenGL3_Shutdown();
    ImGui_ImplGlfw_Shutdown();
    ImGui::DestroyContext();
    glfwDestroyWindow(window_);
    glfwTerminate();
}

/// Colours and fonts as the view and the window's size ask for.
void Window::prepare(App& app, Size size, float display_scale) {
    const float scale = scale_for(size, display_scale, app.view.projector);
    if (fonts_made_ && app.theme.light == app.view.light && app.theme.scale == scale) return;
    set_theme(app.theme, app.view.light, scale);
    if (fonts_made_) ImGui_ImplOpenGL3_DestroyFontsTexture();
    ImGui_ImplOpenGL3_CreateFontsTexture();
    fonts_made_ = true;
}

/// A frame's own work, in milliseconds, and its drawing, which is not in them.
double Window::draw(App& app, double seconds) {
    const auto begin = std::chrono::steady_clock::now();
    ImGui::NewFrame();
    frame(app, seconds);
    ImGui::Render();
    const std::chrono::duration<double, std::milli> work = std::chrono::steady_clock::now() - begin;
    const ImVec4 c = ImGui::ColorConvertU32ToFloat4(app.theme.background);
    glViewport(0, 0, size_.width, size_.height);
    glClearColor(c.x, c.y, c.z, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
    return work.count();
}

void Window::show(App& app, const std::function<bool()>& stop, const std::function<void(double)>& after_frame) {
    double before = glfwGetTime();
    int lively = 10;  // frames to draw before waiting
    while (!glfwWindowShouldClose(window_) && !stop()) {
        // Nothing moves when nothing plays: wait for the user then. ImGui needs a few frames to settle after an event.
        const bool moves = app.playback.playing() || app.playback.fraction() < 1;
        if (moves || --lively > 0) {
            glfwPollEvents();
        } else {
            glfwWaitEventsTimeout(0.5);
            lively = 4;
        }
        glfwGetFramebufferSize(window_, &size_.width, &size_.height);
        if (size_.width == 0 || size_.height == 0) continue;  // minimised
        float across = 1, down = 1;
        glfwGetWindowContentScale(window_, &across, &down);
        prepare(app, size_, std::max(across, 1.f));
        ImGui_ImplOpenGL3_NewFrame();
        ImGui_ImplGlfw_NewFrame();
        app.keys = std::exchange(keys_, {});
        const double now = glfwGetTime();
        const double milliseconds = draw(app, std::min(now - before, 0.1));
        before = now;
        glfwSwapBuffers(window_);
        after_frame(milliseconds);
    }
}

Picture Window::picture(App& app, double seconds) {
    prepare(app, size_, 1);
    GLuint frame = 0, colours = 0;
    glGenFramebuffers(1, &frame);
    glGenRenderbuffers(1, &colours);
    glBindRenderbuffer(GL_RENDERBUFFER, colours);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, size_.width, size_.height);
    glBindFramebuffer(GL_FRAMEBUFFER, frame);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colours);

    ImGui_ImplOpenGL3_NewFrame();
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {static_cast<float>(size_.width), static_cast<float>(size_.height)};
    io.DisplayFramebufferScale = {1, 1};
    io.DeltaTime = static_cast<float>(std::max(seconds, 1e-3));
    io.MousePos = {-FLT_MAX, -FLT_MAX};
    draw(app, seconds);

    Picture p{size_, std::vector<std::uint8_t>(static_cast<std::size_t>(4 * size_.width * size_.height))};
    const auto row = static_cast<std::size_t>(4 * size_.width);
    std::vector<std::uint8_t> upside_down(p.rgba.size());
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, size_.width, size_.height, GL_RGBA, GL_UNSIGNED_BYTE, upside_down.data());
    for (std::size_t y = 0; y < static_cast<std::size_t>(size_.height); ++y)
        std::copy_n(upside_down.end() - static_cast<std::ptrdiff_t>((y + 1) * row), row,
                    p.rgba.begin() + static_cast<std::ptrdiff_t>(y * row));
    for (std::size_t alpha = 3; alpha < p.rgba.size(); alpha += 4) p.rgba[alpha] = 255;
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDeleteRenderbuffers(1, &colours);
    glDeleteFramebuffers(1, &frame);
    return p;
}

}  // namespace tilescope::gui::shell
