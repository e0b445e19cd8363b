// `tilescope doctor`: what this machine has of everything that TileScope can use, what is missing, and how to get it.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/said.hpp"
#include "core/text/message.hpp"
#include "core/text/table.hpp"
#include "core/text/version.hpp"
#include "core/text/words.hpp"
#include "device/device.hpp"
#include "device/driver.hpp"
#include "device/ncu_run.hpp"
#include "lab/flags/build_info.hpp"
#include "lab/own/kinds.hpp"
#include "lab/own/self.hpp"
#include "lab/system/child.hpp"

namespace tilescope::cli {
using namespace lab;
using text::message;
namespace {

namespace fs = std::filesystem;

/// What things are needed for. `key`: its name in JSON; `id`: the message for people.
struct Purpose {
    const char *key, *id;
};
constexpr Purpose for_window{"window", "doctor.window"}, for_figures{"figures", "doctor.figures"},
    for_films{"films", "doctor.films"}, for_page{"page", "doctor.page"}, for_python{"Python", "doctor.python"},
    for_own_programs{"own programs", "doctor.own_programs"}, for_kernels{"kernels", "doctor.kernels"},
    for_counters{"counters", "doctor.counters"};

/// Something that is needed for a purpose.
struct Need {
    const Purpose* purpose;
    std::string what;
    std::string found;  ///< what this machine has of it, such as a version or a path
    std::string get;    ///< how to get it; empty where this machine has it
};

Need need(const Purpose& purpose, std::string what, const std::optional<std::string>& found, std::string get) {
    return {&purpose, std::move(what), found ? text::shown(*found, 400) : "", found ? "" : std::move(get)};
}

/// How to get packages of apt; with apt_and_build(), TileScope has to be built again afterwards.
std::string apt(const char* packages) { return message("doctor.apt", packages); }
std::string apt_and_build(const char* packages) { return message("doctor.apt_and_build", packages); }

/// Runs another program to read what it prints. The constructor starts the program, so that several can run side by
/// side. Where there is no such program, the answer is empty.
class Question {
  public:
    explicit Question(const std::vector<std::string>& words) {
        if (!on_path(words[0])) return;
        try {
            child_.emplace(words);
        } catch (const RunError&) {  // the program exists, but cannot be run
        }
    }
    /// All that the program prints, line by line. Throws Interrupted.
    std::vector<std::string> answer() {
        std::string words;
        while (child_ && child_->read_more(words, &control())) {
        }
        std::vector<std::string> lines;
        std::istringstream in(words);
        for (std::string line; std::getline(in, line);) lines.push_back(line);
        return lines;
    }

  private:
    std::optional<Child> child_;
};

/// The word after `begin`, in the first line that begins with `begin`.
std::optional<std::string> word_after(const std::vector<std::string>& lines, const std::string& begin) {
    for (const std::string& line : lines) {
        if (!line.starts_with(begin)) continue;
        std::istringstream in(line.substr(begin.size()));
        if (std::string word; in >> word) return word;
    }
    return std::nullopt;
}

std::optional<std::string> existing(const fs::path& file) {
    std::error_code none;
    return fs::exists(file, none) ? std::optional(file.string()) : std::nullopt;
}

std::optional<std::string> display() {
    for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY"})
        if (const char* value = std::getenv(name); value && *value) return std::string(name) + '=' + value;
    return std::nullopt;
}

// ---- The window, figures, films and the page

void add_window(std::vector<Need>& all) {
    all.push_back(need(for_window, "tilescope-gui", existing(own_binary().parent_path() / "tilescope-gui"),
                       message("doctor.get_gui")));
    all.push_back(need(for_window, message("doctor.display"), display(), message("doctor.get_display")));
    all.push_back(need(for_window, message("doctor.rsvg"), found_on_path("rsvg-convert"), apt("librsvg2-bin")));
}

/// Figures are scripts for gnuplot, of this version or a newer one.
constexpr double least_gnuplot = 5.4;

Question ask_gnuplot() {
    return Question({"gnuplot", "-e", "print 'version ', GPVAL_VERSION; print 'terminals ', GPVAL_TERMINALS"});
}

void add_figures(std::vector<Need>& all, const std::vector<std::string>& said) {
    const auto version = word_after(said, "version ");
    double number = 0;
    if (version) std::from_chars(version->data(), version->data() + version->size(), number);
    const std::string with_gnuplot = apt("gnuplot-nox");
    Need gnuplot = need(for_figures, "gnuplot 5.4", version, with_gnuplot);
    if (number < least_gnuplot) gnuplot.get = with_gnuplot;
    all.push_back(gnuplot);

    const auto line = std::ranges::find_if(said, [](const std::string& l) { return l.starts_with("terminals "); });
    const std::string terminals = line == said.end() ? "" : ' ' + *line + ' ';
    std::vector<std::string> formats;
    constexpr std::pair<const char*, const char*> made[] = {
        {"SVG", " svg "}, {"PNG", " pngcairo "}, {"PDF", " pdfcairo "}, {"TeX", " tikz "}};
    for (const auto& [format, terminal] : made)
        if (terminals.find(terminal) != terminals.npos) formats.emplace_back(format);
    const bool whole = formats.size() == std::size(made);
    all.push_back({&for_figures, message("doctor.terminals"), text::join(formats, ", "), whole ? "" : with_gnuplot});
}

void add_films(std::vector<Need>& all, const std::vector<std::string>& said) {
    all.push_back(need(for_films, "ffmpeg", word_after(said, "ffmpeg version "), apt("ffmpeg")));
    const auto shown = display();
    all.push_back(
        need(for_films, message("doctor.display_or_xvfb"), shown ? shown : found_on_path("Xvfb"), apt("xvfb")));
}

void add_page(std::vector<Need>& all) {
    all.push_back(need(for_page, "em++", found_on_path("em++"), message("doctor.get_em")));
}

// ---- Python, and programs of one's own

constexpr const char* python_packages = "python3-dev pybind11-dev";

/// The folder of the Python package, for PYTHONPATH: of a build, an installation or a wheel.
std::optional<std::string> package_folder() {
    const fs::path here = own_binary().parent_path(), above = here.parent_path();
    for (const fs::path& folder : {here / "python", above / "lib" / "tilescope" / "python", above.parent_path()})
        if (existing(folder / "tilescope" / "__init__.py")) return folder.string();
    return std::nullopt;
}

Question ask_python() {
    std::string script =  // runs nothing from the current folder
        "import sys; sys.path = [p for p in sys.path if p]; print('python', sys.version.split()[0], flush=True)\n"
        "import numpy; print('NumPy', numpy.__version__, flush=True)\n";
    if (package_folder())
        script += "sys.path.insert(0, sys.argv[1]); import tilescope; print('tilescope', tilescope.__version__)\n";
    return Question({"python3", "-B", "-c", script, package_folder().value_or("")});
}

/// How to get NumPy for `python`. Packages of apt are for the system's python3 only.
std::string how_to_get_numpy(const std::optional<std::string>& python) {
    const std::string package = apt("python3-numpy");
    if (!python || *python == "/usr/bin/python3" || *python == "/bin/python3") return package;
    return message("doctor.get_numpy", text::shown(*python, 400), package);
}

void add_python(std::vector<Need>& all, const std::vector<std::string>& said) {
    const auto numpy = word_after(said, "NumPy "), folder = package_folder(), python = found_on_path("python3");
    const std::string with_numpy = how_to_get_numpy(python);
    all.push_back(need(for_python, "python3", word_after(said, "python "), apt("python3")));
    all.push_back(need(for_python, "NumPy", numpy, with_numpy));
    Need module = need(for_python, message("doctor.module"),
                       folder ? std::optional("PYTHONPATH=" + *folder) : std::nullopt, apt_and_build(python_packages));
    if (folder && !word_after(said, "tilescope ")) {
        if (numpy && !said.empty()) module.found = text::shown(said.back(), 400);
        module.get = numpy ? message("doctor.get_module", text::shown(python.value_or("PYTHON3"), 400)) : with_numpy;
    }
    all.push_back(module);
}

/// The path of a command's program. The first word may be a path already.
std::optional<std::string> program_of(const std::vector<std::string>& words) {
    if (words.empty()) return std::nullopt;
    return words[0].find('/') == std::string::npos ? found_on_path(words[0]) : existing(words[0]);
}

std::optional<std::string> headers() {
    try {
        return include_folders()[0].string();
    } catch (const UsageError&) {
        return std::nullopt;
    }
}

void add_own_programs(std::vector<Need>& all) {
    all.push_back(
        need(for_own_programs, message("doctor.compiler"), program_of(compiler()), message("doctor.get_compiler")));
    all.push_back(need(for_own_programs, message("doctor.headers"), headers(), message("doctor.get_headers")));
    std::optional<std::string> part;
    for (const fs::path& file : python_parts())
        if (!part) part = existing(file);
    all.push_back(need(for_own_programs, "tilescope-python.so", part, apt_and_build(python_packages)));
}

// ---- Kernels and counters

void add_kernels(std::vector<Need>& all) {
    const std::string cuda = build_info().cuda;
    const device::DeviceSearch search = device::find_device();
    std::optional<std::string> toolkit, gpu;
    if (!cuda.empty()) toolkit = "CUDA " + cuda;
    if (search.device) gpu = search.device->name;
    const std::vector<std::string> known = device::gpus_of_driver();
    if (!toolkit && !known.empty()) gpu = text::join(known, ", ");
    all.push_back(need(for_kernels, message("doctor.cuda"), toolkit, search.fix));
    all.push_back(need(for_kernels, message("doctor.a_gpu"), gpu, toolkit ? search.fix : message("doctor.get_gpu")));
}

void add_counters(std::vector<Need>& all) {
    using enum device::CountersOpen;
    all.push_back(need(for_counters, "ncu (Nsight Compute)", found_on_path("ncu"), message(device::how_to_get_ncu)));
    const device::CountersOpen open = device::counters_open();
    std::optional<std::string> allowed;
    if (open == to_everyone) allowed = message("doctor.to_everyone");
    const device::Rights rights = device::rights();
    if (open == to_root && rights.admin) allowed = message(rights.root ? "doctor.to_root" : "doctor.to_admin");
    const bool closed = open == to_root || rights.in_windows;
    all.push_back(need(for_counters, message("doctor.open_driver"), allowed,
                       closed ? device::how_to_read_counters(rights) : message("doctor.get_gpu")));
}

// ---- All needs

std::vector<Need> examined() {
    Question gnuplot = ask_gnuplot(), ffmpeg({"ffmpeg", "-version"}), python = ask_python();
    std::vector<Need> all;
    add_window(all);
    add_figures(all, gnuplot.answer());
    add_films(all, ffmpeg.answer());
    add_page(all);
    add_python(all, python.answer());
    add_own_programs(all);
    add_kernels(all);
    add_counters(all);
    return all;
}

void print_doctor_json(const std::vector<Need>& all) {
    const BuildInfo b = build_info();
    Json j = {{"schema", "tilescope.doctor/1"},
              {"version", text::version()},
              {"commit", b.commit},
              {"compiler", b.compiler},
              {"cuda", b.cuda},
              {"needs", Json::array()}};
    for (const Need& n : all)
        j["needs"].push_back(
            {{"for", n.purpose->key}, {"what", n.what}, {"there", n.get.empty()}, {"found", n.found}, {"get", n.get}});
    std::cout << j.dump(2) << '\n';
}

void print_doctor(const std::vector<Need>& all) {
    std::cout << version_line("tilescope") << "\n\n";
    text::Table table(text::titles({"doctor.for", "doctor.needs", "doctor.there", "doctor.how_to_get_it"}), 4);
    const Purpose* before = nullptr;
    for (const Need& n : all) {
        const std::string found = n.found.empty() ? "" : text::shown(n.found, 60);  // paths may be long
        const std::string there = n.get.empty()   ? found
                                  : found.empty() ? message("doctor.no")
                                                  : message("doctor.no_but", found);
        table.add({n.purpose == before ? "" : message(n.purpose->id), n.what, there, n.get});
        before = n.purpose;
    }
    table.print(std::cout);
    const auto missing = std::ranges::count_if(all, [](const Need& n) { return !n.get.empty(); });
    std::cout << '\n'
              << (missing == 0 ? message("doctor.all_there") : message("doctor.missing", missing, all.size())) << '\n';
}

}  // namespace

void add_doctor(CLI::App& app) {
    static Options options;
    CLI::App* sub = app.add_subcommand("doctor", message("doctor.command"));
    add_json_option(*sub, options);
    sub->footer(message("doctor.footer") + '\n' + examples({"doctor.example", "doctor.example_json"}));
    sub->callback([] { options.json ? print_doctor_json(examined()) : print_doctor(examined()); });
}

}  // namespace tilescope::cli
