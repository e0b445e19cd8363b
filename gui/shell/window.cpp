#include "gui/shell/window.hpp"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/text/message.hpp"
#include "gui/shell/keys.hpp"

namespace tilescope::gui::shell {
using text::message;
namespace {

std::string glfw_error;

constexpr std::pair<int, Key> known_keys[] = {
    {GLFW_KEY_SPACE, Key::space},  {GLFW_KEY_LEFT, Key::left},       {GLFW_KEY_RIGHT, Key::right},
    {GLFW_KEY_HOME, Key::home},    {GLFW_KEY_END, Key::end},         {GLFW_KEY_ESCAPE, Key::escape},
    {GLFW_KEY_TAB, Key::tab},      {GLFW_KEY_ENTER, Key::enter},     {GLFW_KEY_F11, Key::full_screen},
    {GLFW_KEY_PERIOD, Key::blank}, {GLFW_KEY_PAGE_UP, Key::page_up}, {GLFW_KEY_PAGE_DOWN, Key::page_down},
    {GLFW_KEY_1, Key::one},        {GLFW_KEY_2, Key::two},           {GLFW_KEY_3, Key::three},
    {GLFW_KEY_4, Key::four},       {GLFW_KEY_5, Key::five},          {GLFW_KEY_6, Key::six},
    {GLFW_KEY_7, Key::seven},      {GLFW_KEY_UP, Key::up},           {GLFW_KEY_DOWN, Key::down}};

/// The screen that the window's middle is on.
GLFWmonitor* screen_of(GLFWwindow* window) {
    int x = 0, y = 0, width = 0, height = 0, count = 0;
    glfwGetWindowPos(window, &x, &y);
    glfwGetWindowSize(window, &width, &height);
    GLFWmonitor** screens = glfwGetMonitors(&count);
    for (int k = 0; k < count; ++k) {
        int left = 0, top = 0;
        glfwGetMonitorPos(screens[k], &left, &top);
        const GLFWvidmode* mode = glfwGetVideoMode(screens[k]);
        const int across = x + width / 2 - left, down = y + height / 2 - top;
        if (mode && across >= 0 && across < mode->width && down >= 0 && down < mode->height) return screens[k];
    }
    return glfwGetPrimaryMonitor();
}

[[noreturn]] void refuse(const std::string& what) {
    throw NoDisplay(message("native.refused", glfw_error.empty() ? what : message("native.because", what, glfw_error)));
}

// Our calls and shaders are those of OpenGL ES 3.0, as in a browser. But a frame has up to 100,000 vertices. Where
// ImGui's indices have 16 bits (as in Debian's libimgui; ImDrawIdx is chosen when ImGui is compiled), its renderer has
// to draw parts from a base vertex on (ImGuiBackendFlags_RendererHasVtxOffset). The renderer does so from version 3.2
// of OpenGL or OpenGL ES on. With indices of 32 bits, version 3.0 is enough.
constexpr int es_minor = sizeof(ImDrawIdx) < 4 ? 2 : 0;

struct Context {
    int api, profile, minor;
    const char* shaders;
};
/// Tried in this order. A driver without OpenGL ES has the same calls in its OpenGL.
constexpr Context contexts[] = {{GLFW_OPENGL_ES_API, GLFW_OPENGL_ANY_PROFILE, es_minor, "#version 300 es"},
                                {GLFW_OPENGL_API, GLFW_OPENGL_CORE_PROFILE, 2, "#version 150"}};

/// A window with such a context; nullptr where the driver has none.
GLFWwindow* create(const Context& c, Size size) {
    glfwWindowHint(GLFW_CLIENT_API, c.api);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, c.minor);
    glfwWindowHint(GLFW_OPENGL_PROFILE, c.profile);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, c.api == GLFW_OPENGL_API ? GLFW_TRUE : GLFW_FALSE);
    return glfwCreateWindow(size.width, size.height, "TileScope", nullptr, nullptr);
}

}  // namespace

Window::Window(Kind kind, Size size) : size_(size) {
    glfw_error.clear();
    glfwSetErrorCallback([](int, const char* text) { glfw_error = text; });
    if (!glfwInit()) refuse(message("native.no_display"));
    glfwWindowHint(GLFW_VISIBLE, kind == Kind::visible ? GLFW_TRUE : GLFW_FALSE);
    const char* shaders = nullptr;
    for (const Context& c : contexts) {
        window_ = create(c, size);
        shaders = c.shaders;
        if (window_) break;
    }
    if (!window_) {
        glfwTerminate();
        refuse(message("native.no_opengl"));
    }
    glfwSetWindowSizeLimits(window_, window_least.width, window_least.height, GLFW_DONT_CARE, GLFW_DONT_CARE);
    glfwMakeContextCurrent(window_);
    glfwSwapInterval(1);
    painter_.emplace(shaders);
    ImGui_ImplGlfw_InitForOpenGL(window_, kind == Kind::visible);
    if (kind == Kind::visible) listen();
}

Window::~Window() {
    ImGui_ImplGlfw_Shutdown();
    painter_.reset();
    glfwDestroyWindow(window_);
    glfwTerminate();
}

/// Sets our callbacks in place of Dear ImGui's own.
void Window::listen() {
    glfwSetWindowUserPointer(window_, &events_);
    static constexpr auto queue = [](GLFWwindow* w) -> InputQueue& {
        return *static_cast<InputQueue*>(glfwGetWindowUserPointer(w));
    };
    glfwSetKeyCallback(window_, [](GLFWwindow* w, int key, int scancode, int action, int mods) {
        constexpr int commands = GLFW_MOD_CONTROL | GLFW_MOD_SUPER | GLFW_MOD_ALT;
        const bool modifier = key >= GLFW_KEY_LEFT_SHIFT && key <= GLFW_KEY_RIGHT_SUPER;
        const bool letter = glfwGetKeyName(key, scancode) != nullptr && (mods & commands) == 0;
        queue(w).push({.kind = action == GLFW_RELEASE ? InputEvent::Kind::up : InputEvent::Kind::down,
                       .key = key,
                       .scancode = scancode,
                       .mods = mods,
                       .writes = modifier || letter});
    });
    glfwSetCharCallback(window_, [](GLFWwindow* w, unsigned character) {
        queue(w).push({.kind = InputEvent::Kind::character, .character = character});
    });
    glfwSetMouseButtonCallback(window_, [](GLFWwindow* w, int button, int action, int mods) {
        InputEvent e{.kind = action == GLFW_PRESS ? InputEvent::Kind::press : InputEvent::Kind::release,
                     .mods = mods,
                     .button = button};
        glfwGetCursorPos(w, &e.x, &e.y);
        queue(w).push(e);
    });
}

/// Tells Dear ImGui and the app what happened before this frame.
void Window::tell(Input& input) {
    input.keys.clear();
    button_.reset();
    for (const InputEvent& e : events_.next_frame()) {
        ++input.count;
        if (e.kind == InputEvent::Kind::character) {
            ImGui_ImplGlfw_CharCallback(window_, e.character);
            continue;
        }
        const bool down = e.kind == InputEvent::Kind::down || e.kind == InputEvent::Kind::press;
        const int action = down ? GLFW_PRESS : GLFW_RELEASE;
        if (e.kind == InputEvent::Kind::press || e.kind == InputEvent::Kind::release) {
            ImGui_ImplGlfw_MouseButtonCallback(window_, e.button, action, e.mods);
            button_ = e;
            if (e.button < static_cast<int>(held_.size())) held_[static_cast<std::size_t>(e.button)] = down;
            continue;
        }
        ImGui_ImplGlfw_KeyCallback(window_, e.key, e.scancode, action, e.mods);
        if (!down) continue;
        const bool shift = (e.mods & GLFW_MOD_SHIFT) != 0,
                   command = (e.mods & (GLFW_MOD_CONTROL | GLFW_MOD_SUPER)) != 0;
        for (const auto& [code, known] : known_keys)
            if (e.key == code) input.keys.push_back(shift ? with_shift(known) : known);
        if (const char* letter = glfwGetKeyName(e.key, e.scancode))
            if (const auto known = key_of_letter(letter, command, shift)) input.keys.push_back(*known);
    }
}

/// Dear ImGui 1.86 asks GLFW for the mouse's present state. A frame needs the state at the time of its button event.
void Window::place_mouse() const {
#if IMGUI_VERSION_NUM < 18700
    ImGuiIO& io = ImGui::GetIO();
    std::copy(held_.begin(), held_.end(), io.MouseDown);
    if (button_) io.MousePos = {static_cast<float>(button_->x), static_cast<float>(button_->y)};
#endif
}

/// Handles what happened since the last frame. When nothing plays and no work is left, nothing moves; then this waits
/// for the user first.
void Window::take_events(const Shown& shown, const Host& host) {
    const bool moves = shown.moves() || host.working || !events_.empty();
    if (moves || --lively_ > 0) return glfwPollEvents();
    glfwWaitEventsTimeout(0.5);
    lively_ = 4;
}

/// Fills the screen, or returns to the part of the screen that the window had before.
void Window::fill_screen(Host& host) {
    if (host.full_screen == (glfwGetWindowMonitor(window_) != nullptr)) return;
    if (!host.full_screen)
        return glfwSetWindowMonitor(window_, nullptr, in_part_.x, in_part_.y, in_part_.width, in_part_.height,
                                    GLFW_DONT_CARE);
    GLFWmonitor* screen = screen_of(window_);
    const GLFWvidmode* mode = screen ? glfwGetVideoMode(screen) : nullptr;
    host.full_screen = mode != nullptr;
    if (!mode) return;
    glfwGetWindowPos(window_, &in_part_.x, &in_part_.y);
    glfwGetWindowSize(window_, &in_part_.width, &in_part_.height);
    glfwSetWindowMonitor(window_, screen, 0, 0, mode->width, mode->height, mode->refreshRate);
}

/// Shows one frame, after waiting for something to happen where nothing moves; false when the window is to be closed.
bool Window::once(App& app, const std::function<void(double)>& after_frame) {
    if (glfwWindowShouldClose(window_)) return false;
    take_events(app.shown, app.host);
    fill_screen(app.host);
    glfwGetFramebufferSize(window_, &size_.width, &size_.height);
    if (size_.width == 0 || size_.height == 0) return true;  // minimised
    float across = 1, down = 1;
    glfwGetWindowContentScale(window_, &across, &down);
    painter_->begin(app.shown, app.screen, size_, std::max(across, 1.f));
    tell(app.input);
    ImGui_ImplGlfw_NewFrame();
    place_mouse();
    const double now = glfwGetTime();
    const double milliseconds = painter_->draw(app, size_, std::min(now - std::exchange(before_, now), 0.1));
    glfwSwapBuffers(window_);
    after_frame(milliseconds);
    return true;
}

void Window::show(App& app, const std::function<bool()>& stop, const std::function<void(double)>& after_frame) {
    while (!stop() && once(app, after_frame)) {
    }
}

}  // namespace tilescope::gui::shell
