#include "show/state/state.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/flags/algorithm_named.hpp"
#include "lab/flags/command.hpp"
#include "lab/flags/parse.hpp"
#include "lab/flags/values.hpp"
#include "lab/own/own.hpp"
#include "lab/report/metric.hpp"
#include "lab/system/atomic_file.hpp"
#include "lab/system/text_file.hpp"
#include "show/state/setups.hpp"

namespace tilescope::show {
using namespace lab;
using text::message;
namespace {

constexpr const char* key_of_words = "tilescope-gui";

/// The value that `text` names, or UsageError.
template <class T, std::size_t N>
T named(const char* flag, const std::string& text, const std::pair<const char*, T> (&names)[N]) {
    std::string all;
    for (const auto& [name, value] : names) {
        if (text == name) return value;
        all = all.empty() ? name : message("list.or", all, name);
    }
    throw UsageError(message("state.must_be", flag, text::shown(text), all, names[0].first));
}

constexpr std::pair<const char*, Stage> stages[] = {
    {"wall", Stage::wall},   {"machine", Stage::machine},   {"time", Stage::time}, {"row", Stage::row},
    {"tiles", Stage::tiles}, {"roofline", Stage::roofline}, {"io", Stage::io}};
constexpr std::pair<const char*, Stride> strides[] = {{"operation", Stride::operation},
                                                      {"line", Stride::line},
                                                      {"tile", Stride::tile},
                                                      {"row", Stride::row},
                                                      {"launch", Stride::launch}};
constexpr std::pair<const char*, Tab> tabs[] = {{"code", Tab::code}, {"program", Tab::program}};
constexpr std::pair<const char*, Drawer> drawers[] = {{"auto", Drawer::automatic},
                                                      {"none", Drawer::none},
                                                      {"controls", Drawer::controls},
                                                      {"code", Drawer::code},
                                                      {"detail", Drawer::detail}};
constexpr std::pair<const char*, Lanes> all_lanes[] = {
    {"hidden", Lanes::hidden}, {"alone", Lanes::alone}, {"four", Lanes::four}};
constexpr std::pair<const char*, Detail> details[] = {{"values", Detail::values}, {"counters", Detail::counters}};

/// "0.5,0.25".
Spot spot_from(const std::string& text) {
    const std::size_t comma = text.find(',');
    const auto refuse = [&] { return UsageError(message("state.must_be_spot", text::shown(text))); };
    if (comma == std::string::npos) throw refuse();
    const Spot s{to_real("--zoom", text.substr(0, comma), "0.5,0.5"),
                 to_real("--zoom", text.substr(comma + 1), "0.5,0.5")};
    if (!(s.x >= 0 && s.x <= 1 && s.y >= 0 && s.y <= 1)) throw refuse();
    return s;
}

/// What `name` is called today, with a remark where that differs. An unknown name stays, and is refused by the session.
std::string present_name(const std::string& name, State& s) {
    if (name.starts_with('-')) algorithm_named(name);  // throws: no command line could repeat such a name
    if (own_name_in(name)) return algorithm_named(name).name;
    if (std::string remark = renaming(name); !remark.empty()) s.remarks.push_back(std::move(remark));
    const Algorithm* a = find_algorithm(name);
    return a ? a->name : name;
}

/// Whether a word in the place of an algorithm names a file.
bool names_file(const std::string& name) {
    std::error_code ignored;
    return !find_algorithm(name) && !own_name_in(name) &&
           (name.ends_with(".json") || std::filesystem::is_regular_file(name, ignored));
}

/// A path that is not taken for a flag.
std::string as_operand(const std::string& path) { return path.starts_with('-') ? "./" + path : path; }

void add_view_options(CLI::App& app, State& s) {
    View& v = s.view;
    app.add_flag("--light", v.light, message("state_flags.light"));
    app.add_flag("--projector", v.projector, message("state_flags.projector"));
    app.add_option_function<std::string>(
           "--drawer", [&v](const std::string& name) { v.drawer = named("--drawer", name, drawers); },
           message("state_flags.drawer"))
        ->type_name("NAME");
    app.add_flag("--no-controls", v.no_controls, message("state_flags.no_controls"));
    add_whole_option(app, "--sm", {0, Whole().most, 0}, message("state_flags.sm"), [&v](Index sm) { v.sm = sm; });
    add_whole_option(app, "--row", {0, Whole().most, 0}, message("state_flags.row"), [&v](Index row) { v.row = row; });
    app.add_option_function<std::string>(
           "--stride", [&v](const std::string& name) { v.stride = named("--stride", name, strides); },
           message("state_flags.stride"))
        ->type_name("NAME");
    app.add_flag("--hide-ahead", v.hide_ahead, message("state_flags.hide_ahead"));
    app.add_option_function<std::string>(
           "--lanes", [&v](const std::string& name) { v.lanes = named("--lanes", name, all_lanes); },
           message("state_flags.lanes"))
        ->type_name("NAME");
    add_whole_option(app, "--cycle", {0, Whole().most, 0}, message("state_flags.cycle"),
                     [&v](Index cycle) { v.cycle = cycle; });
    app.add_flag("--play-through", v.play_through, message("state_flags.play_through"));
    app.add_option_function<std::string>(
           "--zoom", [&v](const std::string& spot) { v.zoom = spot_from(spot); }, message("state_flags.zoom"))
        ->type_name("X,Y");
    app.add_flag("--forget-rescale", v.forget_rescale, message("state_flags.forget_rescale"));
    app.add_flag("--softmaxes", v.softmaxes, message("state_flags.softmaxes"));
    app.add_option_function<std::string>(
           "--view", [&v](const std::string& name) { v.stage = named("--view", name, stages); },
           message("state_flags.view"))
        ->type_name("NAME");
    app.add_option_function<std::string>(
           "--metric",
           [&v](const std::string& metric) {
               metric_named("--metric", metric);
               v.metric = metric;
           },
           message("state_flags.metric"))
        ->type_name("KEY");
    app.add_option_function<std::string>(
           "--tab", [&v](const std::string& t) { v.tab = named("--tab", t, tabs); }, message("state_flags.tab"))
        ->type_name("NAME");
    app.add_option_function<std::string>(
           "--detail", [&v](const std::string& t) { v.detail = named("--detail", t, details); },
           message("state_flags.detail"))
        ->type_name("NAME");
    app.add_option_function<std::string>(
           "--compare",
           [&s](const std::string& name) {
               algorithm_named(name);
               s.view.compare = present_name(name, s);
           },
           message("state_flags.compare"))
        ->type_name("ALGO");
    app.add_option_function<std::vector<std::string>>(
           "--break",
           [&v](const std::vector<std::string>& lines) {
               for (const std::string& line : lines)
                   v.breakpoints.insert(static_cast<std::uint16_t>(to_index("--break", line, {1, 0xffff, 1})));
           },
           message("state_flags.break"))
        ->type_name("LINE")
        ->expected(1, 99);
}

void add_view_flags(const View& v, std::vector<std::string>& to) {
    const View standard;
    const auto add = [&](std::initializer_list<std::string> words) { to.insert(to.end(), words); };
    if (v.light) add({"--light"});
    if (v.projector) add({"--projector"});
    if (v.drawer != standard.drawer) add({"--drawer", drawers[static_cast<std::size_t>(v.drawer)].first});
    if (v.no_controls) add({"--no-controls"});
    if (v.stage != standard.stage) add({"--view", name_of(v.stage)});
    if (v.metric != standard.metric) add({"--metric", v.metric});
    if (v.sm != standard.sm) add({"--sm", std::to_string(v.sm)});
    if (v.row != standard.row) add({"--row", std::to_string(v.row)});
    if (v.stride != standard.stride) add({"--stride", strides[static_cast<std::size_t>(v.stride)].first});
    if (v.hide_ahead) add({"--hide-ahead"});
    if (v.lanes != standard.lanes) add({"--lanes", all_lanes[static_cast<std::size_t>(v.lanes)].first});
    if (v.cycle) add({"--cycle", std::to_string(*v.cycle)});
    if (v.play_through) add({"--play-through"});
    if (v.zoom) add({"--zoom", text::exact(v.zoom->x) + "," + text::exact(v.zoom->y)});
    if (v.forget_rescale) add({"--forget-rescale"});
    if (v.softmaxes) add({"--softmaxes"});
    if (v.tab != standard.tab) add({"--tab", "program"});
    if (v.detail != standard.detail) add({"--detail", "counters"});
    if (v.compare != standard.compare) add({"--compare", typed_name(v.compare)});
    if (!v.breakpoints.empty()) add({"--break"});
    for (const std::uint16_t line : v.breakpoints) add({std::to_string(line)});
}

/// The words that words_json() wrote; a json::exception where there are none.
std::vector<std::string> words_of(const std::string& file) {
    std::vector<std::string> words;
    using Json = nlohmann::ordered_json;
    for (const Json& word : Json::parse(file).at(key_of_words).get<std::vector<Json>>()) {
        if (word.is_string()) {
            words.push_back(word.get<std::string>());
            continue;
        }
        const auto bytes = word.get<std::vector<std::uint8_t>>();
        words.emplace_back(bytes.begin(), bytes.end());
    }
    return words;
}

}  // namespace

std::string name_of(Stage stage) { return stages[static_cast<std::size_t>(stage)].first; }

State state_of(const Session& session, const Playback& playback, const View& view) {
    State s{session.setup(), playback.position(), playback.stretch(), playback.speed(), playback.loop, view, {}};
    s.view.tour = -1;
    return s;
}

void restore(const State& s, Session& session, Playback& playback, View& view) {
    const int tour = view.tour;
    session.ask(s.setup);
    view = s.view;
    view.tour = tour;
    playback.pause();
    playback.set_stretch(s.stretch);
    playback.set_length(session.length());
    session.busy() ? playback.seek_in_time(s.step) : playback.seek(s.step);
    playback.set_speed(s.speed);
    playback.loop = s.loop;
}

State first_state(State asked, bool step_given) {
    if (asked.setup == Setup() && !step_given) asked.step = first_step;
    asked.setup = first_setup(asked.setup);
    return asked;
}

void add_state_options(CLI::App& app, State& s) {
    app.add_option_function<std::string>(
           "ALGO",
           [&s](const std::string& name) {
               if (names_file(name))
                   s.setup.recording = name;
               else
                   s.setup.algorithm = present_name(name, s);
           },
           message("state_flags.algo"))
        ->default_str(s.setup.algorithm);
    add_problem_options(app, s.setup.options);
    add_input_options(app, s.setup.options);
    app.add_option_function<std::string>(
           "--race", [&s](const std::string& name) { s.setup.rival = present_name(name, s); },
           message("state_flags.race"))
        ->type_name("ALGO");
    app.add_option_function<std::string>(
           "--pace",
           [&s](const std::string& p) {
               const auto pace = pace_from(p);
               if (!pace) throw UsageError(message("state.must_be_pace", text::shown(p)));
               s.setup.pace = *pace;
           },
           message("state_flags.pace"))
        ->type_name("NAME");
    add_whole_option(app, "--step", {0, Whole().most, 0}, message("state_flags.step"),
                     [&s](Index step) { s.step = step; });
    add_whole_option(app, "--from", {0, Whole().most, 0}, message("state_flags.from"), [&s](Index n) {
        s.stretch.first = n;
    })->default_str("0");
    add_whole_option(app, "--to", {1, Whole().most, 60}, message("state_flags.to"), [&s](Index n) {
        s.stretch.last = n;
    })->default_str(message("state_flags.to_default"));
    app.add_option_function<std::string>(
           "--speed",
           [&s](const std::string& given) {
               const double speed = to_real("--speed", given, "4");
               if (!(speed >= Playback::slowest && speed <= Playback::fastest))
                   throw UsageError(message("state.must_be_speed", text::number(speed)));
               s.speed = speed;
           },
           message("state_flags.speed"))
        ->type_name("N");
    app.add_flag("--loop", s.loop, message("state_flags.loop"));
    add_view_options(app, s);
}

std::vector<std::string> typed_of_state(const CLI::App& app) {
    CLI::App of_state;
    State none;
    add_state_options(of_state, none);
    std::vector<std::string> words;
    for (const CLI::Option* o : app.get_options()) {
        if (o->count() == 0 || !of_state.get_option_no_throw(o->get_name())) continue;
        const bool is_switch = o->get_items_expected_max() == 0;
        if (!o->get_positional()) words.push_back(o->get_name() + (is_switch ? "=" + o->results().back() : ""));
        if (!is_switch) words.insert(words.end(), o->results().begin(), o->results().end());
    }
    return words;
}

State changed(State state, std::vector<std::string> arguments) {
    CLI::App app;
    app.set_help_flag("");
    add_state_options(app, state);
    parse(app, std::move(arguments));
    return state;
}

std::vector<std::string> command_line(const State& s) {
    const bool recorded = !s.setup.recording.empty();
    std::vector<std::string> words =
        recorded ? std::vector{as_operand(s.setup.recording)} : command_of({}, s.setup.algorithm, s.setup.options);
    const State standard;
    const auto add = [&](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
    if (!s.setup.rival.empty()) add({"--race", typed_name(s.setup.rival)});
    if (s.setup.pace != standard.setup.pace) add({"--pace", name_of(s.setup.pace)});
    if (s.step != standard.step) add({"--step", std::to_string(s.step)});
    if (s.stretch.first != standard.stretch.first) add({"--from", std::to_string(s.stretch.first)});
    if (s.stretch.last != standard.stretch.last) add({"--to", std::to_string(s.stretch.last)});
    if (s.speed != standard.speed) add({"--speed", text::exact(s.speed)});
    if (s.loop) add({"--loop"});
    add_view_flags(s.view, words);
    return words;
}

std::string shell_command(const State& state) {
    std::vector<std::string> words = command_line(state);
    words.insert(words.begin(), "tilescope-gui");
    return shell_line(words);
}

nlohmann::ordered_json words_json(const std::vector<std::string>& words) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const std::string& word : words)
        if (text::is_utf8(word))
            list.push_back(word);
        else
            list.push_back(std::vector<std::uint8_t>(word.begin(), word.end()));
    return list;
}

void save_state(const State& state, const std::string& path, const nlohmann::ordered_json& said) {
    AtomicFile file(path);
    nlohmann::ordered_json all = said;
    all[key_of_words] = words_json(command_line(state));
    file.stream() << all.dump(2) << '\n';
    file.commit();
}

void save_state(const State& state, const std::string& path) {
    save_state(state, path, nlohmann::ordered_json::object());
}

bool is_recording(const std::string& path) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) return false;  // a pipe might wait for ever
    std::ifstream in(path);
    std::string beginning(200, ' ');
    in.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
    const std::size_t brace = beginning.find_first_not_of(" \t\r\n");
    const std::size_t first = beginning.find_first_not_of(" \t\r\n", brace + 1);
    return brace != std::string::npos && beginning[brace] == '{' && first != std::string::npos &&
           beginning.substr(first).starts_with("\"schema\"");
}

State state_in(const std::string& text) {
    const OnlyLoaded trusted;
    return changed({}, words_of(text));
}

State read_state(const std::string& path) {
    if (is_recording(path)) {
        State state;
        state.setup.recording = path;
        return state;
    }
    const std::string file = text::shown(path);
    try {
        return state_in(read_text(path));
    } catch (const Unreadable& e) {
        throw UsageError(message("state.unreadable", file, e.why));
    } catch (const nlohmann::json::exception&) {
        throw UsageError(message("state.is_no_state", file));
    } catch (const UsageError& e) {
        throw UsageError(message("state.in_file", file, e.what()));
    }
}

std::string replacing_text(const std::string& path) { return message("state.replaces", text::shown(path)); }

std::string saved_text(const std::string& path) { return message("state.saved", text::shown(path)); }

std::string opened_text(const std::string& path, const State& state) {
    const std::string file = text::shown(path);
    if (state.remarks.empty()) return message("state.opened", file);
    return message("state.opened_with_remarks", file, text::join(state.remarks, ", "));
}

}  // namespace tilescope::show
