// Figures as scripts for gnuplot.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <sstream>
#include <utility>

#include "core/text/numbers.hpp"
#include "core/text/quoting.hpp"
#include "core/text/words.hpp"
#include "lab/figure/layout.hpp"

namespace tilescope::lab {
namespace {

struct Colours {
    const char *paper, *ink, *faint, *hatch;
    std::array<const char*, 8> series, fills;  ///< lines and points; bars
    const char *low, *middle, *high;           ///< ends and middle of the scale of shades
};

// Okabe and Ito's palette, whose colours differ for any colour vision. On dark and in print, its yellow and blues are
// changed to be visible there. In print the bars also differ in lightness, so that they differ in a grey copy.
constexpr std::array<const char*, 8> on_light = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                 "#E69F00", "#56B4E9", "#8C6BB1", "#7F7F7F"},
                                     on_dark = {"#56B4E9", "#FF8A3D", "#2BC79A", "#E79AC5",
                                                "#F0C03C", "#9BD4F5", "#B79CE0", "#A8B0B8"};
constexpr Colours of_light = {"#ffffff", "#1a1a1a", "#dddddd", "#b5b5b5", on_light,
                              on_light,  "#f7fbff", "#6baed6", "#08306b"};
constexpr Colours of_dark = {"#12161b", "#f2f4f7", "#333b45", "#4a5560", on_dark,
                             on_dark,   "#0d2a45", "#3d8fc7", "#e4f2fb"};
constexpr Colours of_print = {"#ffffff",
                              "#000000",
                              "#d9d9d9",
                              "#a6a6a6",
                              {"#00507d", "#b34700", "#00694d", "#9e4478", "#a87400", "#2d86b8", "#5e3c99", "#595959"},
                              {"#00304d", "#f2a65a", "#2f8f6f", "#8f3a6e", "#f4e3b2", "#6fb6de", "#4b2e83", "#b0b0b0"},
                              "#ffffff",
                              "#9a9a9a",
                              "#1f1f1f"};

/// Whether white words on the colour, "#0072B2", can be read better than black ones.
bool is_dark(const char* colour) {
    const auto part = [&](int at) { return std::strtol(std::string(colour + at, 2).c_str(), nullptr, 16); };
    constexpr double middle = 130;
    return 0.3 * static_cast<double>(part(1)) + 0.59 * static_cast<double>(part(3)) +
               0.11 * static_cast<double>(part(5)) <
           middle;
}

const Colours& colours_of(Theme t) { return t == Theme::dark ? of_dark : t == Theme::print ? of_print : of_light; }

/// gnuplot's format of tick labels. Ticks of a logarithmic axis are whole powers; those of a linear axis need a digit
/// more.
const char* format_of(Scale s, bool log) {
    switch (s) {
        case Scale::bytes:
            return log ? "%.0s %cB" : "%.1s %cB";
        case Scale::seconds:
            return log ? "%.0s %cs" : "%.1s %cs";
        case Scale::flops_per_s:
            return log ? "%.0s %cFLOP/s" : "%.1s %cFLOP/s";
        case Scale::percent:
            return "%.0f%%";
        default:
            return "%g";
    }
}

constexpr double title_lines = 2;  // letters wide

class Script {
  public:
    Script(const Figure& f, Theme theme, Terminal terminal, const std::string& output, const Page& page)
        : f_(f),
          c_(colours_of(theme)),
          print_(theme == Theme::print),
          sized_(page.width_cm),
          scale_(page.font_pt / Page().font_pt),
          terminal_(terminal),
          legend_(legend_of(f)),
          at_(f, page, titles(legend_)) {
        out_ << text::in_gnuplot_comment(f.name + ": " + f.command) << "\n" << set_terminal();
        if (terminal != Terminal::tex) out_ << " noenhanced background \"" << c_.paper << "\"";
        out_ << "\nset output " << text::in_gnuplot_output(output)
             << "\nset encoding utf8\nset micro\nset grid lc rgb \"" << c_.faint
             << "\" lw 0.7\nset key textcolor rgb \"" << c_.ink << "\"\n";
    }

    std::string text() {
        out_ << "set multiplot\n";
        std::size_t labels = 0;
        for (std::size_t k = 0; k < at_.title.size(); ++k) label(++labels, at_.title[k], at_.title_at(k), 19);
        for (std::size_t k = 0; k < at_.caption.size(); ++k) label(++labels, at_.caption[k], at_.caption_at(k), 11);
        draw_legend();
        for (std::size_t k = 0; k < f_.panels.size(); ++k) panel(k);
        out_ << "unset multiplot\n";
        return out_.str();
    }

    double height_in_cm() const { return at_.height / at_.units_per_inch() * 2.54; }

  private:
    /// The picture's size in the terminal's units; `of_an_inch`: how many of them an inch of the unscaled picture has.
    std::string size(double of_an_inch, const char* unit = "") const {
        const double k = of_an_inch / at_.units_per_inch();
        const auto side = [&](double x) { return *unit ? text::number(x * k) : std::to_string(std::lround(x * k)); };
        return " size " + side(at_.width) + unit + "," + side(at_.height) + unit;
    }
    std::string set_terminal() const {
        const std::string of_lines = " linewidth " + text::number(thickness()) + " ";
        switch (terminal_) {
            case Terminal::svg:
                return "set terminal svg" + size(pixels()) + (sized_ ? " fixed" : " dynamic") + of_lines + font(11);
            case Terminal::png:
                return "set terminal pngcairo" + size(pixels()) + " fontscale " + text::number(pixels() / 100) +
                       of_lines + "pointscale " + text::number(thickness()) + " font \"DejaVu Sans," +
                       text::number(11 * scale_) + "\"";
            case Terminal::pdf:
                // The default fontscale, 0.5 for screens of 96 dots an inch, is two thirds of what print needs.
                return "set terminal pdfcairo" + size(1, "in") + " fontscale 0.75" + of_lines + font(11);
            case Terminal::tex:
                return "set terminal tikz" + size(sized_ ? 2.54 : 2, "cm") + of_lines + font(11);
        }
        return "";
    }
    /// Pixels per inch. With a given width: 96 in SVG, and 300 in PNG, as in prints.
    double pixels() const {
        if (terminal_ == Terminal::svg) return sized_ ? 96 : 100;
        return sized_ ? 300 : 200;
    }
    double thickness() const {
        return scale_ * (terminal_ == Terminal::svg || terminal_ == Terminal::png ? pixels() / 100 : 1);
    }
    /// A font of `points` points (axes have 11); SVG counts in pixels, and TeX has sizes of its own.
    std::string font(double points) const {
        const double own = points * scale_;
        switch (terminal_) {
            case Terminal::tex:
                return sized_ ? " font \"\\\\fontsize{" + text::number(own) + "}{" + text::number(1.2 * own) +
                                    "}\\\\selectfont\""
                              : "";
            case Terminal::svg:
                return " font \"DejaVu Sans," + text::number(std::round(own * 136 * pixels() / 100) / 100) + "\"";
            default:
                return " font \"DejaVu Sans," + text::number(own) + "\"";
        }
    }
    void label(std::size_t number, const std::string& words, double y, double points) {
        out_ << "set label " << number << " " << quoted(words) << " at screen " << 16 / at_.width << ","
             << y / at_.height << font(points) << ink() << "\n";
    }
    void place(const FigureLayout::Area& a) {
        out_ << "set lmargin at screen " << a.left / at_.width << "\nset rmargin at screen " << a.right / at_.width
             << "\nset bmargin at screen " << a.bottom / at_.height << "\nset tmargin at screen " << a.top / at_.height
             << "\n";
    }
    std::string ink() const { return std::string(" textcolor rgb \"") + c_.ink + "\""; }
    /// Words as the terminal needs them: for TeX, with its special characters escaped.
    std::string drawn(const std::string& s) const { return terminal_ == Terminal::tex ? text::in_tex(s) : s; }
    std::string quoted(const std::string& s) const { return text::in_gnuplot(drawn(s)); }
    std::string in_data(const std::string& s) const { return text::in_gnuplot_data(drawn(s)); }

    /// A percent sign is %% in a format of gnuplot. TeX needs a backslash before it, too.
    std::string escaped_format(std::string f) const {
        if (const auto at = f.find("%%"); terminal_ == Terminal::tex && at != f.npos) f.insert(at, "\\");
        return f;
    }

    // ---- The legend lies between the title and the panels, over none of them

    struct Entry {
        std::string title, look;
        bool operator==(const Entry&) const = default;
    };
    std::vector<Entry> legend_of(const Figure& f) const {
        std::vector<Entry> entries;
        const auto add = [&](const std::string& title, const std::string& look) {
            if (const Entry e{title, look};
                !title.empty() && std::find(entries.begin(), entries.end(), e) == entries.end())
                entries.push_back(e);
        };
        for (const Panel& p : f.panels) {
            for (const Box& b : p.boxes)
                if (!b.series.empty()) add(b.series, "with boxes " + fill_of(b));
            for (const Series& s : p.series) add(s.title, look_of(s));
        }
        return entries;
    }
    static std::vector<std::string> titles(const std::vector<Entry>& legend) {
        std::vector<std::string> all;
        for (const Entry& e : legend) all.push_back(e.title);
        return all;
    }
    void draw_legend() {
        place({at_.legend_left(), at_.width - 16, 0, at_.height});
        out_ << "unset border\nunset tics\nunset colorbox\nset xrange [0:1]\nset yrange [0:1]\nset key at screen "
             << at_.legend_left() / at_.width << "," << at_.legend_top() / at_.height
             << " left top Left reverse horizontal maxcols " << at_.legend_columns << " samplen 2.2 spacing 1.1 width 1"
             << font(11 * at_.legend_font) << "\nplot NaN notitle";
        for (const Entry& e : legend_) out_ << ", \\\n     keyentry " << e.look << " title " << quoted(e.title);
        out_ << "\nunset key\nunset for [i=1:99] label i\n";
    }

    void axis(const char* name, const FigureAxis& a, const std::string& title) {
        // Further lines of a title lie nearer to the axis than the first line, over the ticks: the offset makes room.
        const auto further = static_cast<double>(std::count(title.begin(), title.end(), '\n'));
        out_ << "set " << name << "label " << quoted(title);
        if (*name == 'y') out_ << " offset " << text::number(-title_lines * further) << ",0";
        out_ << ink() << "\n";
        out_ << (a.log ? "set logscale " : "unset logscale ") << name << "\n";
        out_ << "set " << name << "range [" << (a.from ? text::exact(*a.from) : "*") << ":"
             << (a.to ? text::exact(*a.to) : "*") << "]\n";
        out_ << "set format " << name << " " << text::in_gnuplot(escaped_format(format_of(a.scale, a.log))) << "\n";
        if (a.ticks.empty()) {
            std::string where = "autofreq";
            if (const int apart = a.log && *name == 'x' ? at_.decades_apart(a) : 1; apart > 1)
                where = text::exact(std::pow(10, std::ceil(std::log10(*a.from) - 1e-9))) + "," +
                        text::exact(std::pow(10, apart));
            out_ << "set " << name << "tics " << where << " nomirror" << ink() << "\n";
            return;
        }
        out_ << "set " << name << "tics (";
        const char* between = "";
        for (const std::size_t k : at_.ticks_with_room(a, *name == 'x'))
            out_ << std::exchange(between, ", ")
                 << text::in_gnuplot_tick(drawn(*name == 'x' ? at_.tick_text(a, a.ticks[k].text) : a.ticks[k].text))
                 << " " << text::exact(a.ticks[k].at);
        out_ << ") nomirror" << ink() << "\n";
    }

    void panel(std::size_t number) {
        const Panel& p = f_.panels[number];
        place(at_.panel(number));
        out_ << "set title " << quoted(p.title) << " offset 0,-0.4" << ink() << "\n";
        axis("x", p.x, p.x.words());
        axis("y", p.y, at_.y_titles[number]);
        out_ << "set border " << (p.map ? 0 : 3) << " lc rgb \"" << c_.ink << "\"\n";
        if (const double turn = at_.turn(p.x); turn > 0)
            out_ << "set xtics rotate by " << text::number(turn) << " right\n";
        else
            out_ << "set xtics norotate center\n";
        if (p.map) out_ << "unset xtics\nunset ytics\n";
        if (p.shades) {
            out_ << "set colorbox\nset palette defined (0 \"" << c_.low << "\", 0.5 \"" << c_.middle << "\", 1 \""
                 << c_.high << "\")\n";
            axis("cb", *p.shades, "");
        } else {
            out_ << "unset colorbox\n";
        }
        out_ << "unset key\n";
        std::vector<std::string> plots;
        boxes(p, number, plots);
        for (std::size_t k = 0; k < p.series.size(); ++k) series(p, number, k, plots);
        labels(p, number, plots);
        out_ << "plot " << (plots.empty() ? "NaN notitle" : text::join(plots, ", \\\n     ")) << "\n";
    }

    std::string colour(int k) const {
        return std::string("lc rgb \"") + (k < 0 ? c_.ink : c_.series[static_cast<std::size_t>(k) % c_.series.size()]) +
               "\"";
    }

    std::string fill(int k) const {
        return std::string("lc rgb \"") + c_.fills[static_cast<std::size_t>(k) % c_.fills.size()] + "\"";
    }
    std::string fill_of(const Box& b) const {
        if (b.hatched)
            return "fs transparent pattern " + std::to_string(4 + b.colour) + " noborder lc rgb \"" +
                   std::string(c_.hatch) + "\"";
        if (b.colour < 0) return "fs solid 1 noborder lc palette";
        if (b.open)  // so that lines differ by their dashes on a grey copy
            return "fs empty border lw 1.2 " + colour(b.colour) + (b.colour % 2 == 1 ? " dt (4,3)" : "");
        return "fs solid 1 border lc rgb \"" + std::string(c_.paper) + "\" lw 0.5 " + fill(b.colour);
    }
    /// PNG scales points itself.
    std::string size_of_points(double size) const {
        return " ps " + text::number(terminal_ == Terminal::png ? size : size * thickness()) + " ";
    }
    std::string look_of(const Series& s) const {
        constexpr int shapes[] = {7, 5, 9, 13, 11, 15};  // filled; the number before each is the same shape, open
        const std::string shape =
            std::to_string(s.colour < 0 ? 7 : shapes[static_cast<std::size_t>(s.colour) % std::size(shapes)]);
        const std::string open = std::to_string(std::stoi(shape) - 1);
        const std::string own = colour(s.colour), width = print_ ? " lw 1.6 " : " lw 2.4 ";
        switch (s.look) {
            case Look::measured_line:
                return "with linespoints pt " + shape + size_of_points(0.9) + width + own;
            case Look::line:
                return "with lines" + width + own;
            case Look::border:
                return "with lines lw 1.2 " + own;
            case Look::dashes:
                return "with lines dt (10,6)" + width + own;
            case Look::dots:
                return "with lines dt (2,5)" + width + own;
            case Look::points:
                return "with points pt " + shape + size_of_points(s.small ? 0.8 : 1.5) + "lw 2 " + own;
            case Look::open_points:
                return "with points pt " + open + size_of_points(s.small ? 0.9 : 1.5) +
                       (s.small ? "lw 1.4 " : "lw 2 ") + own;
            case Look::rings:
                return "with points pt 6" + size_of_points(2.4) + "lw 1.6 " + own;
            case Look::crosses:
                return "with points pt 2" + size_of_points(s.small ? 0.8 : 1.4) + (s.small ? "lw 1.4 " : "lw 2.5 ") +
                       own;
            case Look::way:
                return "with linespoints pt 7 pi 1000000 lw 1.5" + size_of_points(0.5) + own;
            case Look::arrows:
                return "with vectors head filled size screen 0.006,20 lw 1.3 " + own;
            case Look::words:
                break;
        }
        return "with points pt 0 " + own;
    }

    void boxes(const Panel& p, std::size_t number, std::vector<std::string>& plots) {
        std::map<std::string, std::vector<const Box*>> alike;
        for (const Box& b : p.boxes) alike[fill_of(b)].push_back(&b);
        std::size_t k = 0;
        for (const auto& [fill, members] : alike) {
            const std::string name = "$boxes" + std::to_string(number) + "_" + std::to_string(k++);
            out_ << name << " << EOD\n";
            for (const Box* b : members) {
                out_ << text::exact((b->left + b->right) / 2) << " " << text::exact((b->bottom + b->top) / 2) << " "
                     << text::exact(b->left) << " " << text::exact(b->right) << " " << text::exact(b->bottom) << " "
                     << text::exact(b->top) << " " << text::exact(b->shade) << "\n";
            }
            out_ << "EOD\n";
            plots.push_back(name + " using 1:2:3:4:5:6" + (by_shade(*members[0]) ? ":7" : "") + " with boxxyerror " +
                            fill + " notitle");
        }
    }
    static bool by_shade(const Box& b) { return b.colour < 0 && !b.hatched; }
    /// The colour of words on a box: the paper's on the half of the shades that differs most from the paper, else the
    /// ink's.
    const char* ink_on(const Box& b, const Panel& p) const {
        if (p.rows > 0 && !b.hatched && !b.open)
            return is_dark(c_.fills[static_cast<std::size_t>(b.colour) % c_.fills.size()]) ? "#ffffff" : "#1a1a1a";
        return by_shade(b) && b.shade - *p.shades->from > 0.55 * (*p.shades->to - *p.shades->from) ? c_.paper : c_.ink;
    }
    void labels(const Panel& p, std::size_t number, std::vector<std::string>& plots) {
        double size = 11;
        bool some = false;
        for (const Box& b : p.boxes) {
            if (b.label.empty()) continue;
            some = true;
            size = std::min(size, 11 * at_.room_for(b.label, number, p, b));
        }
        if (!some) return;
        const std::string name = "$texts" + std::to_string(number);
        out_ << name << " << EOD\n";
        for (const Box& b : p.boxes)
            if (!b.label.empty())
                out_ << text::exact((b.left + b.right) / 2) << " " << text::exact((b.bottom + b.top) / 2) << " "
                     << in_data(b.label) << " 0x" << ink_on(b, p) + 1 << "\n";
        out_ << "EOD\n";
        plots.push_back(name + " using 1:2:3:4 with labels" + font(size) + " textcolor rgb variable notitle");
    }

    void series(const Panel& panel, std::size_t number, std::size_t k, std::vector<std::string>& plots) {
        const Series& s = panel.series[k];
        const std::string name = "$series" + std::to_string(number) + "_" + std::to_string(k);
        out_ << name << " << EOD\n";
        if (s.look == Look::arrows) {
            for (std::size_t a = 0; a + 1 < s.points.size(); a += 2) {
                const FigurePoint &from = s.points[a], &to = s.points[a + 1];
                out_ << text::exact(from.x) << " " << text::exact(from.y) << " " << text::exact(to.x - from.x) << " "
                     << text::exact(to.y - from.y) << "\n";
            }
            out_ << "EOD\n";
            return plots.push_back(name + " using 1:2:3:4 " + look_of(s) + " notitle");
        }
        bool labels = false;
        for (const FigurePoint& p : s.points) {
            out_ << text::exact(p.x) << " " << text::exact(p.y) << " " << in_data(p.label) << " "
                 << text::number(degrees(panel, number, p)) << "\n";
            labels = labels || !p.label.empty();
        }
        out_ << "EOD\n";
        const auto words = [&](const std::string& where) {
            plots.push_back(name + " using 1:2:3:4 with labels rotate variable " + where + font(11) + ink() +
                            " notitle");
        };
        if (s.look != Look::words) plots.push_back(name + " using 1:2 " + look_of(s) + " notitle");
        if (s.look == Look::words)
            words(at_.upright(panel, s.points[0]) ? "left offset 0,0.5"
                                                  : beside(s.side, degrees(panel, number, s.points[0])));
        else if (labels)
            words("left offset 0.9,0.35");
    }
    /// The offset of words from their point. `degrees`: how steeply the line rises beside which the words begin.
    static std::string beside(Side side, double degrees) {
        const double up = degrees * degree;
        switch (side) {
            case Side::below:
                return "offset 0,-0.7";
            case Side::centre:
                return "";
            case Side::from:
                return "left offset " + text::number(-1.3 * std::sin(up)) + "," + text::number(0.8 * std::cos(up));
            case Side::under:
                return "left offset " + text::number(1.1 * std::sin(up)) + "," + text::number(-0.7 * std::cos(up));
            case Side::upto:
                return "right offset 0,0.7";
            default:
                return "offset 0,0.7";
        }
    }
    /// The angle of a label on the page.
    double degrees(const Panel& panel, std::size_t number, const FigurePoint& p) const {
        if (p.slope == 0) return at_.upright(panel, p) ? 90 : 0;
        if (std::isinf(p.slope)) return 90;
        const auto length = [](const FigureAxis& a) { return a.log ? std::log10(*a.to / *a.from) : *a.to - *a.from; };
        const FigureLayout::Area area = at_.panel(number);
        const double wide = (area.right - area.left) / length(panel.x),
                     high = (area.top - area.bottom) / length(panel.y);
        return std::atan(p.slope * high / wide) / degree;
    }

    const Figure& f_;
    const Colours& c_;
    const bool print_, sized_;
    const double scale_;
    const Terminal terminal_;
    const std::vector<Entry> legend_;
    const FigureLayout at_;
    std::ostringstream out_;
};

}  // namespace

const char* name_of(Theme t) { return t == Theme::dark ? "dark" : t == Theme::print ? "print" : "light"; }

std::string as_gnuplot(const Figure& f, Theme theme, Terminal terminal, const std::string& output, const Page& page) {
    return Script(f, theme, terminal, output, page).text();
}

double height_in_cm(const Figure& f, const Page& page) {
    return Script(f, Theme::light, Terminal::svg, "", page).height_in_cm();
}

}  // namespace tilescope::lab
