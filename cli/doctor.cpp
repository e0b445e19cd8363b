// `tilescope doctor`: what there is on this machine for all that TileScope does, what is missing, and how to get it.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/json.hpp"
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
namespace {

namespace fs = std::filesystem;

/// Something that is needed for a purpose.
struct Need {
    std::string purpose, what;
    std::string found;  ///< what there is of it
    std::string get;    ///< how to get it; empty where it is there
};

Need need(std::string purpose, std::string what, const std::optional<std::string>& found, std::string get) {
    return {std::move(purpose), std::move(what), found ? text::shown(*found, 400) : "", found ? "" : std::move(get)};
}

/// Another program that is run for what it prints. It starts at once, so that several run side by side. Where there is
/// no such program, the answer is empty.
class Question {
  public:
    explicit Question(const std::vector<std::string>& words) {
        if (!on_path(words[0])) return;
        try {
            child_.emplace(words);
        } catch (const RunError&) {  // it is there, and cannot be run
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

/// The word behind `begin`, in the first line that begins with it.
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
    all.push_back(need("window", "tilescope-gui", existing(own_binary().parent_path() / "tilescope-gui"),
                       "scripts/demo, which installs its libraries and builds it"));
    all.push_back(need("window", "a display", display(), "a desktop, or ssh -X; pictures and films take Xvfb instead"));
    all.push_back(
        need("window", "rsvg-convert, for PDF", found_on_path("rsvg-convert"), "apt-get install librsvg2-bin"));
}

/// Figures are scripts for gnuplot, of this version or a newer one.
constexpr const char* with_gnuplot = "apt-get install gnuplot-nox";
constexpr double least_gnuplot = 5.4;

Question ask_gnuplot() {
    return Question({"gnuplot", "-e", "print 'version ', GPVAL_VERSION; print 'terminals ', GPVAL_TERMINALS"});
}

void add_figures(std::vector<Need>& all, const std::vector<std::string>& said) {
    const auto version = word_after(said, "version ");
    double number = 0;
    if (version) std::from_chars(version->data(), version->data() + version->size(), number);
    Need gnuplot = need("figures", "gnuplot 5.4", version, with_gnuplot);
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
    all.push_back({"figures", "its SVG, PNG, PDF and TeX", text::join(formats, ", "), whole ? "" : with_gnuplot});
}

void add_films(std::vector<Need>& all, const std::vector<std::string>& said) {
    all.push_back(need("films", "ffmpeg", word_after(said, "ffmpeg version "), "apt-get install ffmpeg"));
    const auto shown = display();
    all.push_back(need("films", "a display, or Xvfb", shown ? shown : found_on_path("Xvfb"), "apt-get install xvfb"));
}

void add_page(std::vector<Need>& all) {
    all.push_back(need("page", "em++", found_on_path("em++"), "scripts/web, which installs it and builds the page"));
}

// ---- Python, and programs of one's own

/// The folder that has the package, for PYTHONPATH: as it is built, installed, or in a wheel.
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

/// Packages of apt are for the system's python3 only.
std::string how_to_get_numpy(const std::optional<std::string>& python) {
    const std::string package = "apt-get install python3-numpy";
    if (!python || *python == "/usr/bin/python3" || *python == "/bin/python3") return package;
    return text::shown(*python, 400) + " -m pip install numpy, or " + package + " and /usr/bin first on PATH";
}

void add_python(std::vector<Need>& all, const std::vector<std::string>& said) {
    const auto numpy = word_after(said, "NumPy "), folder = package_folder(), python = found_on_path("python3");
    const std::string with_numpy = how_to_get_numpy(python);
    all.push_back(need("Python", "python3", word_after(said, "python "), "apt-get install python3"));
    all.push_back(need("Python", "NumPy", numpy, with_numpy));
    Need module = need("Python", "the module tilescope", folder ? std::optional("PYTHONPATH=" + *folder) : std::nullopt,
                       "apt-get install python3-dev pybind11-dev, and build again");
    if (folder && !word_after(said, "tilescope ")) {
        if (numpy && !said.empty()) module.found = text::shown(said.back(), 400);
        module.get = numpy ? "the python3 that it was built for, or build again with -DPython3_EXECUTABLE=" +
                                 text::shown(python.value_or("PYTHON3"), 400)
                           : with_numpy;
    }
    all.push_back(module);
}

/// Where a command's program is: it may be a path.
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
    all.push_back(need("own programs", "a C++ compiler", program_of(compiler()), "apt-get install g++, or set CXX"));
    all.push_back(need("own programs", "TileScope's headers", headers(), "cmake --install build --prefix FOLDER"));
    std::optional<std::string> part;
    for (const fs::path& file : python_parts())
        if (!part) part = existing(file);
    all.push_back(
        need("own programs", "tilescope-python.so", part, "apt-get install python3-dev pybind11-dev, and build again"));
}

// ---- Kernels and counters

constexpr const char* machine_with_gpu = "a machine with an NVIDIA GPU and its driver";

void add_kernels(std::vector<Need>& all) {
    const std::string cuda = build_info().cuda;
    const device::DeviceSearch search = device::find_device();
    std::optional<std::string> toolkit, gpu;
    if (!cuda.empty()) toolkit = "CUDA " + cuda;
    if (search.device) gpu = search.device->name;
    const std::vector<std::string> known = device::gpus_of_driver();
    if (!toolkit && !known.empty()) gpu = text::join(known, ", ");
    all.push_back(need("kernels", "a build with CUDA", toolkit, search.fix));
    all.push_back(need("kernels", "a GPU", gpu, toolkit ? search.fix : machine_with_gpu));
}

void add_counters(std::vector<Need>& all) {
    using enum device::CountersOpen;
    all.push_back(need("counters", "ncu (Nsight Compute)", found_on_path("ncu"), device::how_to_get_ncu));
    const device::CountersOpen open = device::counters_open();
    std::optional<std::string> allowed;
    if (open == to_everyone) allowed = "to everyone";
    const device::Rights rights = device::rights();
    if (open == to_root && rights.admin) allowed = rights.root ? "to root" : "to the capability SYS_ADMIN";
    all.push_back(need("counters", "a driver that shows them", allowed,
                       open == to_root || rights.in_windows ? device::how_to_read_counters(rights) : machine_with_gpu));
}

// ---- All of it

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
            {{"for", n.purpose}, {"what", n.what}, {"there", n.get.empty()}, {"found", n.found}, {"get", n.get}});
    std::cout << j.dump(2) << '\n';
}

void print_doctor(const std::vector<Need>& all) {
    std::cout << version_line("tilescope") << "\n\n";
    text::Table table({"for", "needs", "there", "how to get it"}, 4);
    std::string before;
    for (const Need& n : all) {
        const std::string found = n.found.empty() ? "" : text::shown(n.found, 60);  // paths may be long
        const std::string there = n.get.empty() ? found : found.empty() ? "no" : "no: " + found;
        table.add({n.purpose == before ? "" : n.purpose, n.what, there, n.get});
        before = n.purpose;
    }
    table.print(std::cout);
    const auto missing = std::ranges::count_if(all, [](const Need& n) { return !n.get.empty(); });
    if (missing == 0)
        std::cout << "\nEverything is there.\n";
    else
        std::cout << '\n'
                  << missing << " of " << all.size()
                  << " are missing. What is modelled needs none of them: tilescope compare\n";
}

}  // namespace

void add_doctor(CLI::App& app) {
    static Options options;
    CLI::App* sub =
        app.add_subcommand("doctor", "What there is for window, figures, films, kernels ... and what is missing");
    add_json_option(*sub, options);
    sub->footer(
        "Nothing is changed or installed. Missing things are no failure. --json has paths whole.\n"
        "Examples:\n"
        "  tilescope doctor\n"
        "  tilescope doctor --json");
    sub->callback([] { options.json ? print_doctor_json(examined()) : print_doctor(examined()); });
}

}  // namespace tilescope::cli
