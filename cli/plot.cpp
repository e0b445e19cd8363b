// `tilescope plot KIND [ALGO...] -o FILE`: figures for papers, slides and lectures, drawn by gnuplot.
#include <cmath>
#include <filesystem>
#include <iostream>

#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "cli/said.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/version.hpp"
#include "core/text/words.hpp"
#include "device/measured_figures.hpp"
#include "lab/figure/kinds.hpp"
#include "lab/figure/picture.hpp"
#include "lab/flags/values.hpp"
#include "lab/system/fonts.hpp"
#include "show/stage/lanes_figure.hpp"

namespace tilescope::cli {
using namespace lab;
using text::message;
namespace {

std::vector<FigureKind> all_kinds() {
    std::vector<FigureKind> all(figure_kinds().begin(), figure_kinds().end());
    all.push_back(show::lanes_kind);
    const auto measured = device::measured_figure_kinds();
    all.insert(all.end(), measured.begin(), measured.end());
    return all;
}

struct PlotRequest {
    Options options;
    std::string kind, out, theme = "light", metric, width, font_size;
    std::optional<std::string> title;
    std::string legend = "above";
    Index panel = 0;  ///< the number of the panel to draw, from 1; 0: all panels
    std::vector<std::string> variants, vary;
    bool data = false, json = false, all = false, no_caption = false;
};

/// The content of the picture's file. The message of an error names the file `out`.
std::string picture(const Figure& f, Theme theme, const PictureFile& kind, const Page& page, const std::string& out) {
    try {
        return drawn(f, theme, kind, page, &control());
    } catch (const RunError& e) {
        throw RunError(message("plot.failed", out, e.what()));
    }
}

Theme theme_named(const std::string& name) {
    for (const Theme t : themes)
        if (name == name_of(t)) return t;
    throw UsageError(message("plot.no_such_theme", text::shown(name)));
}

/// Reads a width: "8.5cm", "3.3in", or the name of a usual width.
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
    throw UsageError(message("plot.no_such_width", text::shown(text)));
}

Page page_of(const PlotRequest& p) {
    constexpr double usual_in_print = 8, least = 4, most = 48;
    Page page;
    if (!p.width.empty()) page.width_cm = centimetres(p.width), page.font_pt = usual_in_print;
    if (!p.font_size.empty()) page.font_pt = to_real("--font-size", p.font_size, "8");
    if (page.font_pt < least || page.font_pt > most) throw UsageError(message("plot.no_such_font_size", p.font_size));
    constexpr double least_letters = 34, widest = 0.6;  // `widest`: a letter's width over the font's size
    if (const double room = page.width_cm.value_or(1e3) / 2.54 * 72; room < least_letters * widest * page.font_pt)
        throw UsageError(message("plot.no_room_for_words", text::number(page.font_pt), text::number(*page.width_cm),
                                 text::number(std::max(least, std::floor(room / least_letters / widest)))));
    page.caption = !p.no_caption;
    if (p.legend != "above" && p.legend != "beside")
        throw UsageError(message("plot.no_such_legend", text::shown(p.legend)));
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

/// The figure with the title and the panel that the flags ask for.
Figure as_asked(Figure f, const PlotRequest& p) {
    if (p.title && p.title->find_first_not_of(" \t\n") == p.title->npos)
        throw UsageError(message("plot.title_without_words", *p.title));
    if (p.title) f.title = *p.title;
    if (p.panel == 0) return f;
    if (p.panel > std::ssize(f.panels))
        throw UsageError(message("plot.no_such_panel", std::to_string(p.panel), f.name, std::ssize(f.panels)));
    f.panels = {f.panels[static_cast<std::size_t>(p.panel - 1)]};
    return f;
}

/// Warns where no font has a letter of the picture, and where the picture is higher than a page.
void say_what_is_odd(const Figure& f, const PictureFile& file, const Page& page, const std::string& out) {
    if (file.terminal == Terminal::png || file.terminal == Terminal::pdf)
        if (const auto letters = letters_without_font(as_json(f), &control()); !letters.empty())
            remark(message("plot.no_font", text::shown(out), text::listed(letters)));
    if (!page.width_cm) return;
    constexpr double page_cm = 24;
    if (const double cm = height_in_cm(f, page); cm > page_cm)
        remark(message("plot.too_high", text::shown(out), std::to_string(std::lround(cm)), text::number(page_cm)));
}

void draw(const FigureKind& kind, const FigureRequest& request, const PlotRequest& p, const std::string& out) {
    const PictureFile& file = picture_file("--output", out);
    const Theme theme = theme_named(p.theme);
    const Page page = page_of(p);
    if (!out.empty()) require_gnuplot(message("plot.instead_of_gnuplot"));
    const Figure f = [&] {
        const Progress progress([&] { return message("plot.counting", kind.name); });
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
    std::cout << (p.data ? message("plot.written_with_data", out, f.title, stem + ".csv", stem + ".gp")
                         : message("plot.written", out, f.title))
              << '\n';
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
        throw UsageError(message("plot.own_metrics", text::shown(p.metric), kind.name));
    FigureRequest r = request_of(p);
    r.command = std::string("TileScope ") + text::version() + ": " + command_of(p, kind.name, out);
    draw(kind, r, p, out);
}

void plot(const PlotRequest& p) {
    if (p.all) {
        if (!p.kind.empty() || !p.variants.empty() || !p.vary.empty() || !p.metric.empty() || p.title || p.panel > 0 ||
            p.json)
            throw UsageError(message("plot.all_as_they_are"));
        if (p.out.empty()) throw UsageError(message("plot.all_needs_folder"));
        if (std::filesystem::path(p.out).has_extension())
            throw UsageError(message("plot.all_makes_folder", text::shown(p.out)));
        std::filesystem::create_directories(p.out);
        for (const FigureKind& k : all_kinds())
            plot_one(p, k, (std::filesystem::path(p.out) / (std::string(k.name) + ".svg")).string());
        return;
    }
    if (p.kind.empty()) throw UsageError(message("plot.needs_figure"));
    if (p.out.empty() && !p.data && !p.json) throw UsageError(message("plot.needs_output"));
    const auto kinds = all_kinds();
    plot_one(p, figure_kind(p.kind, kinds), p.out);
}

std::string list_of_kinds() {
    std::string text;
    for (const FigureKind& k : all_kinds())
        text += "  " + std::string(k.name) + std::string(17 - std::string_view(k.name).size(), ' ') +
                text::message(k.what) + "\n";
    return text;
}

}  // namespace

void add_plot(CLI::App& app) {
    static PlotRequest request;
    CLI::App* sub = app.add_subcommand("plot", message("plot.command"));
    sub->add_option("KIND", request.kind, message("plot.kind_flag"));
    add_variants_argument(*sub, request.variants);
    sub->add_option("-o,--output", request.out, message("plot.output_flag"))->type_name("FILE");
    sub->add_flag("--data", request.data, message("plot.data_flag"));
    sub->add_flag("--json", request.json, message("plot.json_flag"));
    sub->add_option("--width", request.width, message("plot.width_flag"))->type_name("WIDTH");
    sub->add_option("--font-size", request.font_size, message("plot.font_size_flag"))->type_name("POINTS");
    sub->add_option("--legend", request.legend, message("plot.legend_flag"))->type_name("PLACE")->default_str("above");
    sub->add_option("--title", request.title, message("plot.title_flag"))->type_name("WORDS");
    add_whole_option(*sub, "--panel", {1, 99, 1}, message("plot.panel_flag").c_str(),
                     [](Index n) { request.panel = n; });
    sub->add_flag("--no-caption", request.no_caption, message("plot.no_caption_flag"));
    sub->add_flag("--all", request.all, message("plot.all_flag"));
    sub->add_option("--theme", request.theme, message("plot.theme_flag"))->type_name("THEME")->default_str("light");
    sub->add_option("--metric", request.metric, message("plot.metric_flag"))->type_name("KEY")->default_str("time_us");
    sub->add_option("--vary", request.vary, message("plot.vary_flag"))->take_all()->allow_extra_args(false);
    add_problem_options(*sub, request.options);
    for (const char* size : {"--batch", "--heads", "--seq"})
        sub->get_option(size)->default_str(message("plot.usual_size"));
    sub->footer(message("plot.kinds") + '\n' + list_of_kinds() +
                examples({"plot.example_bytes", "plot.example_tiles", "plot.example_panel", "plot.example_ladder",
                          "plot.example_roofline", "plot.example_all"}));
    sub->callback([] { plot(request); });
}

}  // namespace tilescope::cli
