#include "tests/gui/visitor.hpp"

#include <algorithm>
#include <cmath>

#include "core/text/words.hpp"

namespace tilescope::gui {
namespace {

#if defined(TILESCOPE_SANITIZED)
constexpr double most_seconds = 20;  // the longest frame allowed
#else
constexpr double most_seconds = 2;
#endif

/// Texts that may be typed into fields for numbers, words or paths.
const std::vector<std::string>& texts() {
    static const std::vector<std::string> all = {"1",
                                                 "7",
                                                 "16",
                                                 "64",
                                                 "100",
                                                 "1000",
                                                 "4096",
                                                 "0",
                                                 "-1",
                                                 "1099511627776",
                                                 "-9223372036854775808",
                                                 "1e308",
                                                 "1e-310",
                                                 "nan",
                                                 "inf",
                                                 "-inf",
                                                 "0.5",
                                                 "1e3",
                                                 "",
                                                 " ",
                                                 "auto",
                                                 "f32",
                                                 "bf16",
                                                 "toy",
                                                 "h100",
                                                 "safe",
                                                 "true",
                                                 "false",
                                                 "\x1b[31m",
                                                 "a\nb",
                                                 "it's",
                                                 "$(x)",
                                                 "no/such/file.npy",
                                                 "no.json",
                                                 "saved.json",
                                                 "recorded.json",
                                                 "broken.json",
                                                 "/dev/full",
                                                 "\xe9.json",
                                                 "×→ᵀ",
                                                 std::string(130000, 'a'),
                                                 std::string(5000, '9')};
    return all;
}

/// Whether a text is printable, apart from line ends.
bool is_shown(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text::printable(text);
}

}  // namespace

Visitor::Visitor(Choices& choices) : choices_(choices), before_(std::filesystem::current_path()), h_(FontFiles{}) {
    std::filesystem::current_path(folder_ / "");
    show::record_to("recorded.json");
    write_bytes("broken.json", R"({"tilescope-gui": ["flash_v2", "--step", "-1"]})");
    situations_ = situations("recorded.json");
    std::erase_if(situations_, [](const Situation& s) { return s.slow; });
    h_.app.shown.session.ask(situations_[0].setup);
    h_.app.shown.session.finish();
    h_.draw(0);
}

Visitor::~Visitor() { std::filesystem::current_path(before_); }

std::string Visitor::act() {
    told_.clear();
    do_something();
    return told_.empty() ? draw(choices_.of({0.0, 1.0 / 60, 0.1, 0.4})) : told_;
}

void Visitor::do_something() {
    const std::uint64_t kind = choices_.below(256);
    if (kind < 70) return move();
    if (kind < 105) return press_button();
    if (kind < 140) return click_place();
    if (kind < 160) return type();
    if (kind < 200) return key();
    if (kind < 210) return void(ImGui::GetIO().MouseWheel = static_cast<float>(choices_.below(7)) - 3);
    if (kind < 222) return resize();
    if (kind < 232) return change_flag();
    if (kind < 242) return look_elsewhere();
    if (kind < 250) return play();
    if (kind < 253) return save_or_open();
    if (kind == 254 && choices_.one_in(8)) h_.dress(choices_.one_in(2), choices_.of({0.8f, 1.f, 1.5f, 2.f, 3.f}));
    if (kind == 255) h_.app.shown.session.ask(choices_.of(situations_).setup);
}

void Visitor::move() {
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    const auto along = [&](float length) {
        return std::floor((static_cast<float>(choices_.below(1000)) / 950 - 0.02f) * length);
    };
    ImGui::GetIO().MousePos = {along(size.x), along(size.y)};
}

void Visitor::press_button() {
    bool& down = ImGui::GetIO().MouseDown[choices_.one_in(8) ? choices_.below(3) : 0];
    down = !down;
}

void Visitor::click(const ImVec4& at) {
    ImGuiIO& io = ImGui::GetIO();
    io.MousePos = {at.x + at.z * static_cast<float>(choices_.below(16)) / 16, at.y + at.w / 2};
    for (const bool down : {false, true, false}) {
        io.MouseDown[0] = down;
        if (told_.empty()) told_ = draw(0.02);
    }
}

/// Clicks a named control, and types a text where the control is a field.
void Visitor::click_place() {
    if (h_.app.screen.places.empty()) return;
    const auto& [name, at] = choices_.of(h_.app.screen.places);
    const bool field = name.ends_with("-input") || name == "path";
    click(at);
    if (!field || choices_.one_in(4)) return;
    type();
    if (told_.empty()) told_ = draw(0.02);
    ImGui::GetIO().KeysDown[choices_.of({ImGuiKey_Enter, ImGuiKey_Tab, ImGuiKey_Escape})] = true;
    if (told_.empty()) told_ = draw(0.02);
}

void Visitor::type() { ImGui::GetIO().AddInputCharactersUTF8(choices_.of(texts()).c_str()); }

void Visitor::key() {
    ImGuiIO& io = ImGui::GetIO();
    switch (choices_.below(4)) {
        case 0:
            return void(io.KeyShift = !io.KeyShift);
        case 1:
            return void(io.KeyCtrl = !io.KeyCtrl);
        case 2:
            return void(io.KeysDown[choices_.below(ImGuiKey_COUNT)] = true);
        default:
            h_.app.input.keys.push_back(static_cast<Key>(choices_.below(static_cast<std::uint64_t>(Key::six) + 1)));
    }
}

/// Small sizes are as likely as large ones.
void Visitor::resize() {
    const auto length = [&](double most) {
        return static_cast<int>(std::exp2(static_cast<double>(choices_.below(1000)) / 999 * std::log2(most)));
    };
    const int width = length(2000);
    h_.resize(width, length(1400));
}

void Visitor::change_flag() { h_.app.shown.session.set(choices_.of(lab::settable_flags()), choices_.of(texts())); }

void Visitor::look_elsewhere() {
    View& v = h_.app.shown.view;
    v.stage = choices_.one_in(12) ? choices_.of({Stage::tiles, Stage::tiles, Stage::roofline, Stage::io})
                                  : choices_.of({Stage::wall, Stage::machine, Stage::time, Stage::row});
    v.metric = choices_.of({"time_us", "hbm_bytes", "dram_bytes", "bound"});
    v.tab = choices_.of({Tab::code, Tab::program});
    v.detail = choices_.of({Detail::values, Detail::counters});
    v.tour = static_cast<int>(choices_.below(40)) - 30;
    v.zoom = choices_.of<std::optional<Spot>>({std::nullopt, Spot{0, 0}, Spot{0.3, 0.9}});
    v.projector = choices_.one_in(4);
    v.drawer = choices_.of({Drawer::automatic, Drawer::none, Drawer::controls, Drawer::code, Drawer::detail});
    v.sm = choices_.of<Index>({0, 1, 5, 1'000'000});
    v.compare = choices_.of({"standard", "flash_v2", "softmax_safe"});
    v.breakpoints = {static_cast<std::uint16_t>(1 + choices_.below(20)), 999};
}

void Visitor::play() {
    Playback& p = h_.app.shown.playback;
    p.loop = choices_.one_in(2);
    p.set_speed(choices_.of({0.5, 4.0, 100.0, 2000.0}));
    p.seek(static_cast<Index>(choices_.below(std::uint64_t{1} << 16)) - 10);
    if (choices_.one_in(2)) p.play();
}

/// Saves and opens as the dialog does; what was saved reads back.
void Visitor::save_or_open() {
    try {
        const show::State now = h_.app.shown.state();
        const std::string path = choices_.of({"saved.json", "\xe9.json"});
        show::save_state(now, path);
        if (show::command_line(show::read_state(path)) != show::command_line(now))
            told_ = "what was saved is not what was read: " + shown();
        h_.app.shown.restore(show::read_state(choices_.of(texts())));
    } catch (const std::runtime_error&) {
    }
}

std::string Visitor::draw(double seconds) {
    const double took = h_.draw(seconds);
    std::ranges::fill(ImGui::GetIO().KeysDown, false);
    settle();
    if (took > most_seconds) return "a frame took " + std::to_string(took) + " s of the processor";
    return wrong();
}

std::string Visitor::wrong() const {
    const show::Session& s = h_.app.shown.session;
    const Playback& p = h_.app.shown.playback;
    if (std::string found = Headless::wrong_drawing(); !found.empty()) return found;
    for (const auto& [panel, notes] : h_.app.screen.notes.panels())
        for (const Note& n : notes)
            if (!is_shown(n.text)) return panel + " draws " + text::shown(n.text);
    if (s.length() < 0 || p.position() < 0 || p.position() > p.length()) return "the position is not in the run";
    if (!(p.fraction() >= 0 && p.fraction() <= 1)) return "a move is under way beyond its end";
    if (s.run() && (s.overflow() || !s.problem().empty())) return "a run, and why there is none";
    if (s.rival() && !s.run()) return "a rival of nobody";
    if (s.run() && s.run()->tick() > s.run()->ticks()) return "the run is beyond its end";
    return "";
}

/// Before the next event, a run that is being made is either waited for or cancelled.
void Visitor::settle() {
    show::Session& s = h_.app.shown.session;
    if (s.busy()) {
        is_cheap(s.setup()) ? s.finish() : s.cancel();
        follow(h_.app.shown);
    }
    // The plane can be clicked, so it has to be there. Other figures have no effect on later events.
    if (h_.app.shown.view.stage == Stage::tiles) h_.app.derived.explorer.await(s, h_.app.shown.view);
}

}  // namespace tilescope::gui
