#include "gui/web/canvas_window.hpp"

#include <GLES3/gl3.h>
#include <emscripten/html5.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cctype>
#include <cfloat>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "gui/shell/keys.hpp"

/// Dear ImGui's renderer calls this in place of glGetIntegerv. Nobody else draws on this canvas, so the state that the
/// renderer restores after drawing can be the state of a new context.
extern "C" void tilescope_state_of_new_context(GLenum what, GLint* value) {
    switch (what) {
        case GL_MAJOR_VERSION:
            *value = 3;
            return;
        case GL_ACTIVE_TEXTURE:
            *value = GL_TEXTURE0;
            return;
        case GL_BLEND_EQUATION_RGB:
        case GL_BLEND_EQUATION_ALPHA:
            *value = GL_FUNC_ADD;
            return;
        case GL_VIEWPORT:
        case GL_SCISSOR_BOX:
            std::fill_n(value, 4, 0);
            return;
        default:
            *value = 0;
    }
}

namespace tilescope::gui::web {
using shell::InputEvent;
using text::message;
namespace {

constexpr const char* canvas = "#canvas";

/// A key: its name in the DOM, its number in Dear ImGui, and its meaning to TileScope.
struct KnownKey {
    std::string_view name;
    int imgui = -1;  // none
    std::optional<Key> key = {};
};
constexpr KnownKey known_keys[] = {{" ", ImGuiKey_Space, Key::space},
                                   {"ArrowLeft", ImGuiKey_LeftArrow, Key::left},
                                   {"ArrowRight", ImGuiKey_RightArrow, Key::right},
                                   {"ArrowUp", ImGuiKey_UpArrow, Key::up},
                                   {"ArrowDown", ImGuiKey_DownArrow, Key::down},
                                   {"Home", ImGuiKey_Home, Key::home},
                                   {"End", ImGuiKey_End, Key::end},
                                   {"Escape", ImGuiKey_Escape, Key::escape},
                                   {"Tab", ImGuiKey_Tab, Key::tab},
                                   {"Enter", ImGuiKey_Enter, Key::enter},
                                   {"PageUp", ImGuiKey_PageUp, Key::page_up},
                                   {"PageDown", ImGuiKey_PageDown, Key::page_down},
                                   {"Backspace", ImGuiKey_Backspace},
                                   {"Delete", ImGuiKey_Delete},
                                   {"Insert", ImGuiKey_Insert},
                                   {".", -1, Key::blank}};

// A key's index in Dear ImGui's list of pressed keys: letters and digits have their character codes, known_keys follow
// each other from first_known on, and all other keys share other_key.
constexpr int first_known = 128, other_key = 160;

/// Digits go by the key's place on the keyboard, letters by the keyboard's layout.
int number_of(const std::string& key, const std::string& code) {
    if (code.size() == 6 && code.starts_with("Digit")) return code[5];
    if (key.size() == 1 && std::isalpha(static_cast<unsigned char>(key[0])) != 0)
        return std::tolower(static_cast<unsigned char>(key[0]));
    const auto at =
        std::find_if(std::begin(known_keys), std::end(known_keys), [&](const KnownKey& k) { return k.name == key; });
    return at == std::end(known_keys) ? other_key : first_known + static_cast<int>(at - std::begin(known_keys));
}

bool is_modifier(const std::string& key) {
    return key == "Shift" || key == "Control" || key == "Alt" || key == "AltGraph" || key == "Meta";
}

/// The meaning of a key to TileScope.
std::optional<Key> meaning_of(const InputEvent& e) {
    const bool shifted = (e.mods & shift) != 0;
    if (e.key >= first_known && e.key < other_key) {
        const auto& known = known_keys[e.key - first_known].key;
        return known && shifted ? shell::with_shift(*known) : known;
    }
    if (e.key >= '1' && e.key <= '7') return static_cast<Key>(static_cast<int>(Key::one) + e.key - '1');
    const char letter = static_cast<char>(e.key < first_known ? e.key : 0);
    return shell::key_of_letter({&letter, 1}, (e.mods & (control | command)) != 0, shifted);
}

void name_keys(ImGuiIO& io) {
    std::fill(std::begin(io.KeyMap), std::end(io.KeyMap), -1);
    for (std::size_t k = 0; k < std::size(known_keys); ++k)
        if (known_keys[k].imgui >= 0) io.KeyMap[known_keys[k].imgui] = first_known + static_cast<int>(k);
    io.KeyMap[ImGuiKey_A] = 'a', io.KeyMap[ImGuiKey_C] = 'c', io.KeyMap[ImGuiKey_V] = 'v';
    io.KeyMap[ImGuiKey_X] = 'x', io.KeyMap[ImGuiKey_Y] = 'y', io.KeyMap[ImGuiKey_Z] = 'z';
}

const ImVec2 nowhere = {-FLT_MAX, -FLT_MAX};

}  // namespace

CanvasWindow::Context::Context() {
    EmscriptenWebGLContextAttributes wanted;
    emscripten_webgl_init_context_attributes(&wanted);
    wanted.majorVersion = 2, wanted.depth = false, wanted.antialias = false;
    const auto context = emscripten_webgl_create_context(canvas, &wanted);
    if (context <= 0) throw RunError(message("page_window.no_webgl"));
    emscripten_webgl_make_context_current(context);
}

CanvasWindow::CanvasWindow() : painter_("#version 300 es"), mouse_(nowhere) {
    ImGuiIO& io = ImGui::GetIO();
    io.BackendFlags |= ImGuiBackendFlags_HasMouseCursors;
    io.MousePos = nowhere;
    name_keys(io);
}

void CanvasWindow::wake() { lively_ = std::max(lively_, 4); }

void CanvasWindow::key(bool down, const std::string& key, const std::string& code, unsigned character, int mods) {
    wake();
    const bool commands = (mods & (control | alt | command)) != 0;
    const bool writes = is_modifier(key) || (character != 0 && character != ' ' && !commands);
    events_.push({.kind = down ? InputEvent::Kind::down : InputEvent::Kind::up,
                  .key = number_of(key, code),
                  .mods = mods,
                  .writes = writes});
    if (down && character != 0) events_.push({.kind = InputEvent::Kind::character, .character = character});
}

void CanvasWindow::button(bool down, int button, double x, double y, int mods) {
    move(x, y);
    if (button < 0 || button >= static_cast<int>(held_.size())) return;
    events_.push({.kind = down ? InputEvent::Kind::press : InputEvent::Kind::release,
                  .mods = mods,
                  .button = button,
                  .x = x,
                  .y = y});
}

void CanvasWindow::move(double x, double y) {
    wake();
    mouse_ = {static_cast<float>(x), static_cast<float>(y)};
}

void CanvasWindow::leave() {
    wake();
    if (std::find(held_.begin(), held_.end(), true) == held_.end()) mouse_ = nowhere;
}

void CanvasWindow::wheel(double right, double down) {
    wake();
    ImGui::GetIO().MouseWheel -= static_cast<float>(down);
    ImGui::GetIO().MouseWheelH -= static_cast<float>(right);
}

void CanvasWindow::blur() {
    wake();
    ImGuiIO& io = ImGui::GetIO();
    std::fill(std::begin(io.KeysDown), std::end(io.KeysDown), false);
    io.KeyShift = io.KeyCtrl = io.KeyAlt = io.KeySuper = false;
    held_.fill(false);
}

/// Tells Dear ImGui and the app what happened before this frame. Dear ImGui 1.86 knows one state of a key per frame.
void CanvasWindow::tell(Input& input) {
    ImGuiIO& io = ImGui::GetIO();
    input.keys.clear();
    io.MousePos = mouse_;
    for (const InputEvent& e : events_.next_frame()) {
        ++input.count;
        if (e.kind == InputEvent::Kind::character) {
            io.AddInputCharacter(e.character);
            continue;
        }
        io.KeyShift = (e.mods & shift) != 0, io.KeyCtrl = (e.mods & control) != 0;
        io.KeyAlt = (e.mods & alt) != 0, io.KeySuper = (e.mods & command) != 0;
        if (e.kind == InputEvent::Kind::press || e.kind == InputEvent::Kind::release) {
            held_[static_cast<std::size_t>(e.button)] = e.kind == InputEvent::Kind::press;
            io.MousePos = {static_cast<float>(e.x), static_cast<float>(e.y)};
            continue;
        }
        io.KeysDown[e.key] = e.kind == InputEvent::Kind::down;
        if (e.kind == InputEvent::Kind::up) continue;
        if (const auto known = meaning_of(e)) input.keys.push_back(*known);
    }
    std::copy(held_.begin(), held_.end(), io.MouseDown);
}

/// Makes the canvas as large as the page shows it, in pixels of the screen.
void CanvasWindow::fit_canvas() {
    double width = 0, height = 0;
    emscripten_get_element_css_size(canvas, &width, &height);
    const double pixels = emscripten_get_device_pixel_ratio();
    const shell::Size size = {static_cast<int>(std::lround(width * pixels)),
                              static_cast<int>(std::lround(height * pixels))};
    pixels_ = static_cast<float>(pixels);
    if (size == size_) return;
    size_ = size;
    lively_ = 4;
    emscripten_set_canvas_element_size(canvas, size.width, size.height);
}

void CanvasWindow::begin(App& app, double seconds) {
    painter_.begin(app.shown, app.screen, size_, std::max(pixels_, 1.f));
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {static_cast<float>(size_.width), static_cast<float>(size_.height)};
    io.DisplayFramebufferScale = {1, 1};
    io.DeltaTime = static_cast<float>(std::max(seconds, 1e-3));
}

bool CanvasWindow::once(App& app, const std::function<void(double)>& after_frame) {
    fit_canvas();
    if (size_.width == 0 || size_.height == 0) return false;  // in a tab that is not shown
    const double now = emscripten_get_now() / 1000, since = now - std::exchange(before_, now);
    begin(app, since);
    tell(app.input);
    after_frame(painter_.draw(app, size_, std::min(since, 0.1)));
    const bool moves = app.shown.moves() || app.host.working || !events_.empty();
    return moves || --lively_ > 0;
}

void CanvasWindow::lay_out(App& app) {
    begin(app, 0);
    ImGui::GetIO().MousePos = nowhere;
    painter_.compose(app, 0);
}

void CanvasWindow::draw_beside(App& app) {
    wake();
    begin(app, 0);
    ImGui::GetIO().MousePos = nowhere;
    painter_.draw(app, size_, 0);
}

std::optional<std::string> CanvasWindow::field() {
    const ImGuiInputTextState& state = ImGui::GetCurrentContext()->InputTextState;
    if (!ImGui::GetIO().WantTextInput || state.ID == 0 || state.ID != ImGui::GetActiveID()) return std::nullopt;
    constexpr int longest = 4;  // bytes of a character
    std::string text(static_cast<std::size_t>(longest * state.CurLenW + 1), '\0');
    const ImWchar* const begin = state.TextW.Data;
    text.resize(static_cast<std::size_t>(
        ImTextStrToUtf8(text.data(), static_cast<int>(text.size()), begin, begin + state.CurLenW)));
    return text;
}

void CanvasWindow::type(const std::string& text) {
    const auto press = [&](const char* name, int mods) {
        for (const bool down : {true, false}) key(down, name, "", 0, mods);
    };
    press("a", ImGui::GetIO().ConfigMacOSXBehaviors ? command : control);
    if (text.empty()) press("Backspace", 0);
    for (const char* at = text.c_str(); *at != 0;) {
        unsigned character = 0;
        at += ImTextCharFromUtf8(&character, at, nullptr);
        events_.push({.kind = InputEvent::Kind::character, .character = character});
    }
    press("Enter", 0);
}

const char* CanvasWindow::cursor() {
    switch (ImGui::GetMouseCursor()) {
        case ImGuiMouseCursor_TextInput:
            return "text";
        case ImGuiMouseCursor_Hand:
            return "pointer";
        case ImGuiMouseCursor_ResizeEW:
            return "ew-resize";
        case ImGuiMouseCursor_ResizeNS:
            return "ns-resize";
        case ImGuiMouseCursor_ResizeAll:
            return "move";
        case ImGuiMouseCursor_NotAllowed:
            return "not-allowed";
        default:
            return "default";
    }
}

}  // namespace tilescope::gui::web
