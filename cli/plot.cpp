// `tilescope plot KIND [ALGO...] -o FILE`: figures for papers, slides and lectures, drawn by gnuplot.
#include <cmath>
#include <filesystem>
#include <iostream>

#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "core/text/numbers.hpp"
#include "core/text/version.hpp"
#include "core/text/words.hpp"
#include "device/measured_figures.hpp"
#include "lab/figure/kinds.hpp"
#include "lab/figure/picture.hpp"
#include "lab/flags/values.hpp"
#include "lab/system/fonts.hpp"

namespace tilescope::cli {
using namespace lab;
namespace {

std::vector<FigureKind> all_kinds() {
    std::vector<FigureKind> all(figure_kinds().begin(), figure_kinds().end());
    const auto measured = device::measured_figure_kinds();
    all.insert(all.end(), measured.begin(), measured.end());
    return all;
}

struct PlotRequest {
    Options options;
    std::string kind, out, theme = "light", metric, width, font_size;
    std::optional<std::string> title;
    std::string legend = "above";
    Index panel = 0;  ///< from 1; 0: all
    std::vector<std::string> variants, vary;
    bool data = false, json = false, all = false, no_caption = false;
};

/// The picture; the message of an error names the file that was asked for.
std::string picture(const Figure& f, Theme theme, const PictureFile& kind, const Page& page, const std::string& out) {
    try {
        return drawn(f, theme, kind, page, &control());
    } catch (const RunError& e) {
        throw RunError("-o " + out + ": " + e.what());
    }
}

Theme theme_named(const std::string& name) {
    for (const Theme t : themes)
        if (name == name_of(t)) return t;
    throw UsageError("--theme " + text::shown(name) + ": must be light, dark or print; try --theme print");
}

/// "8.5cm", "3.3in", or a name of a usual width.
double centimetres(const std::string& text) {
    constexpr std::pair<std::string_view, double> usual[] = {{"column", 8.5}, {"page", 17.5}},
                                                  units[] = {{"cm", 1}, {"mm", 0.1}, {"in", 2.54}};
    for (const auto& [name, cm] : usual)
        if (text == name) return cm;
    for (const auto& [unit, cm] : units) {
        if (!text.ends_with(unit)) continue;
        const auto n = text::to_number(text.substr(0, text.size() - unit.size()));
        if (n && *n * cm >= 4 && *n * cm <= 100) return *n * cm;
    }
    throw UsageError(
        "--width " + text::shown(text) +
        ": must be column (8.5 cm), page (17.5 cm), or from 4 to 100 cm, in cm, mm or in; try --width 8.5cm");
}

Page page_of(const PlotRequest& p) {
    constexpr double usual_in_print = 8, least = 4, most = 48;
    Page page;
    if (!p.width.empty()) page.width_cm = centimetres(p.width), page.font_pt = usual_in_print;
    if (!p.font_size.empty()) page.font_pt = to_real("--font-size", p.font_size, "8");
    if (page.font_pt < least || page.font_pt > most)
        throw UsageError("--font-size " + p.font_size + ": must be 4 to 48 points; try --font-size 8");
    constexpr double least_letters = 34, widest = 0.6;  // of the font's size
    if (const double room = page.width_cm.value_or(1e3) / 2.54 * 72; room < least_letters * widest * page.font_pt)
        throw UsageError("--font-size " + text::number(page.font_pt) + ": words have no room in " +
                         text::number(*page.width_cm) + " cm; try --font-size " +
                         text::number(std::max(least, std::floor(room / least_letters / widest))) +
                         ", or a larger --width");
    page.caption = !p.no_caption;
    if (p.legend != "above" && p.legend != "beside")
        throw UsageError("--legend " + text::shown(p.legend) + ": must be above or beside; try --legend beside");
    page.legend_beside = p.legend == "beside";
    return page;
}

FigureRequest request_of(const PlotRequest& p) {
    FigureRequest r;
    for (const std::string& v : p.variants) r.variants.push_back(chosen_variant(v));
    for (const std::string& v : p.vary) r.vary.push_back(parse_axis(v));
    r.options = p.options, r.metric = p.metric, r.threads = static_cast<int>(p.options.threads), r.control = &control();
    return r;
}

/// The figure with the title and the one panel that were asked for.
Figure as_asked(Figure f, const PlotRequest& p) {
    if (p.title && p.title->find_first_not_of(" \t\n") == p.title->npos)
        throw UsageError("--title '" + *p.title + "': has no words; try --no-caption to have none");
    if (p.title) f.title = *p.title;
    if (p.panel == 0) return f;
    if (p.panel > std::ssize(f.panels))
        throw UsageError("--panel " + std::to_string(p.panel) + ": " + f.name + " has " +
                         text::counted(std::ssize(f.panels), "panel") + " here; try --panel 1");
    f.panels = {f.panels[static_cast<std::size_t>(p.panel - 1)]};
    return f;
}

/// Warns where no font has a letter of the picture, and where the picture is higher than a page.
void say_what_is_odd(const Figure& f, const PictureFile& file, const Page& page, const std::string& out) {
    if (file.terminal == Terminal::png || file.terminal == Terminal::pdf)
        if (const auto letters = letters_without_font(as_json(f), &control()); !letters.empty())
            std::cerr << "tilescope: " << text::shown(out) << ": no font of this machine has " << text::listed(letters)
                      << ", and boxes stand for them: install one that has (fonts-noto-cjk), or write an .svg\n";
    if (!page.width_cm) return;
    constexpr double page_cm = 24;
    if (const double cm = height_in_cm(f, page); cm > page_cm)
        std::cerr << "tilescope: " << text::shown(out) << ": is " << std::lround(cm) << " cm high, and a page has some "
                  << page_cm << ": try --panel 1, --no-caption or a larger --width\n";
}

void draw(const FigureKind& kind, const FigureRequest& request, const PlotRequest& p, const std::string& out) {
    const PictureFile& file = picture_file("--output", out);
    const Theme theme = theme_named(p.theme);
    const Page page = page_of(p);
    if (!out.empty()) require_gnuplot("take the numbers alone with --data and without -o");
    const Figure f = [&] {
        const Progress progress([&] { return std::string("counting and timing for ") + kind.name; });
        return as_asked(kind.draw(request), p);
    }();
    if (p.json) std::cout << as_json(f);
    if (out.empty()) {
        if (!p.json) std::cout << as_csv(f);
        return;
    }
    write_file(out, picture(f, theme, file, page, out));
    say_what_is_odd(f, file, page, out);
    const std::string stem = std::filesystem::path(out).replace_extension().string();
    if (p.data) {
        write_file(stem + ".csv", as_csv(f));
        write_file(stem + ".gp",
                   as_gnuplot(f, theme, file.terminal, std::filesystem::path(out).filename().string(), page));
    }
    if (p.json) return;
    std::cout << out << ": " << f.title << (p.data ? "; " + stem + ".csv, " + stem + ".gp" : "") << '\n';
    if (!page.caption) std::cout << caption_of(f) << '\n' << f.command << '\n';
}

std::string command_of(const PlotRequest& p, const std::string& kind, const std::string& out) {
    std::vector<std::string> words{"tilescope", "plot", kind};
    const auto add = [&](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
    for (const std::string& v : p.variants) add({v});
    for (const std::string& v : p.vary) add({"--vary", v});
    if (!p.metric.empty()) add({"--metric", p.metric});
    for (const std::string& flag : flags_of(p.options)) add({flag});
    if (p.theme != "light") add({"--theme", p.theme});
    if (!p.width.empty()) add({"--width", p.width});
    if (!p.font_size.empty()) add({"--font-size", p.font_size});
    if (p.title) add({"--title", *p.title});
    if (p.legend != "above") add({"--legend", p.legend});
    if (p.panel > 0) add({"--panel", std::to_string(p.panel)});
    if (p.no_caption) add({"--no-caption"});
    add({"-o", std::filesystem::path(out.empty() ? "figure.svg" : out).filename().string()});
    return shell_line(words);
}

void plot_one(const PlotRequest& p, const FigureKind& kind, const std::string& out) {
    if (!p.metric.empty() && kind.draw != tiles_plane)
        throw UsageError("--metric " + text::shown(p.metric) + ": plot " + kind.name +
                         " has metrics of its own; leave it out, or try tilescope plot tiles");
    FigureRequest r = request_of(p);
    r.command = std::string("TileScope ") + text::version() + ": " + command_of(p, kind.name, out);
    draw(kind, r, p, out);
}

void plot(const PlotRequest& p) {
    if (p.all) {
        if (!p.kind.empty() || !p.variants.empty() || !p.vary.empty() || !p.metric.empty() || p.title || p.panel > 0 ||
            p.json)
            throw UsageError(
                "--all: draws every figure as it is; leave out the kind, algorithms, --vary, --metric, --title, "
                "--panel and --json");
        if (p.out.empty()) throw UsageError("--all: needs a folder; try --all -o figures");
        if (std::filesystem::path(p.out).has_extension())
            throw UsageError("-o " + text::shown(p.out) + ": --all makes a folder of SVGs; try --all -o figures");
        std::filesystem::create_directories(p.out);
        for (const FigureKind& k : all_kinds())
            plot_one(p, k, (std::filesystem::path(p.out) / (std::string(k.name) + ".svg")).string());
        return;
    }
    if (p.kind.empty()) throw UsageError("plot: needs a figure; try tilescope plot io-vs-n -o figure.svg");
    if (p.out.empty() && !p.data && !p.json)
        throw UsageError("plot: needs -o FILE, or --data or --json for the numbers alone; try -o figure.svg");
    const auto kinds = all_kinds();
    plot_one(p, figure_kind(p.kind, kinds), p.out);
}

std::string list_of_kinds() {
    std::string text;
    for (const FigureKind& k : all_kinds())
        text += "  " + std::string(k.name) + std::string(17 - std::string_view(k.name).size(), ' ') + k.what + "\n";
    return text;
}

}  // namespace

void add_plot(CLI::App& app) {
    static PlotRequest request;
    CLI::App* sub = app.add_subcommand("plot", "Draw a figure: bytes, time, roofline, tiles (needs gnuplot)");
    sub->add_option("KIND", request.kind, "Which figure; see below");
    add_variants_argument(*sub, request.variants);
    sub->add_option("-o,--output", request.out, "The picture: .svg, .pdf, .png, or .tex (TikZ); with --all a folder")
        ->type_name("FILE");
    sub->add_flag("--data", request.data,
                  "Write the numbers (.csv) and the script (.gp) beside it; without -o print the numbers");
    sub->add_flag("--json", request.json, "Print the numbers as JSON; the picture is drawn if there is -o");
    sub->add_option("--width", request.width, "How wide the picture is: column (8.5 cm), page (17.5 cm), 12cm, 5in")
        ->type_name("WIDTH");
    sub->add_option("--font-size", request.font_size, "Of the words in it, in points; 8 with --width, else 11")
        ->type_name("POINTS");
    sub->add_option("--legend", request.legend, "above the panels, or beside them")
        ->type_name("PLACE")
        ->default_str("above");
    sub->add_option("--title", request.title, "Of the figure, in place of its own")->type_name("WORDS");
    add_whole_option(*sub, "--panel", {1, 99, 1}, "One of its panels alone, from 1",
                     [](Index n) { request.panel = n; });
    sub->add_flag("--no-caption", request.no_caption, "No title and caption in the picture; they are printed");
    sub->add_flag("--all", request.all, "Draw every kind, as it is by default");
    sub->add_option("--theme", request.theme, "light, dark (for a projector) or print")
        ->type_name("THEME")
        ->default_str("light");
    sub->add_option("--metric", request.metric, "What colours the plane of tiles: a key of list --metrics")
        ->type_name("KEY")
        ->default_str("time_us");
    sub->add_option("--vary", request.vary,
                    "Other values of what the figure varies: KEY=first:last:xFACTOR and so on, as for sweep")
        ->take_all()
        ->allow_extra_args(false);
    add_problem_options(*sub, request.options);
    for (const char* size : {"--batch", "--heads", "--seq"}) sub->get_option(size)->default_str("the figure's");
    sub->footer("Kinds:\n" + list_of_kinds() +
                "Examples:\n"
                "  tilescope plot io-vs-n -o io.svg\n"
                "  tilescope plot tiles flash_v2 --dim 128 --metric dram_bytes -o tiles.pdf --data\n"
                "  tilescope plot io-vs-n --width column --panel 1 --no-caption -o io.pdf\n"
                "  tilescope plot ladder standard:label=unfused flash_v2:label=ours --title Bytes -o bytes.pdf\n"
                "  tilescope plot roofline --vary seq=512:16384:x2 --theme dark -o roofline.png\n"
                "  tilescope plot --all -o figures");
    sub->callback([] { plot(request); });
}

}  // namespace tilescope::cli
