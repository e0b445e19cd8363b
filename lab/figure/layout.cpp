#include "lab/figure/layout.hpp"

#include <algorithm>
#include <cmath>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"

namespace tilescope::lab {
namespace {

constexpr double letter = 9.3, title_letter = 15, caption_letter = 8.7, legend_letter = 10.5;
constexpr double title_line = 34, legend_line = 26, caption_line = 20, margin = 12, axis_title = 26;
constexpr double usual_panel = 620, least_panel = 460;  // widths
constexpr double of_chart = 1400, row_of_chart = 27;    // the width of a chart of rows, and the height of a row
constexpr double highest_panel = 350, name_line = 19, tick_line = 20;
constexpr double most_beside = 0.45;  // of the width: the most that a legend beside the panels takes
constexpr double least_beside = 200;  // the least width of an axis beside such a legend

/// The number of letters in the longest label of an axis' ticks.
std::size_t longest_label(const FigureAxis& a) {
    std::size_t longest = 0;
    for (const FigureAxis::Tick& t : a.ticks) longest = std::max(longest, text::width(t.text));
    if (longest > 0) return longest;
    switch (a.scale) {
        case Scale::bytes:
        case Scale::seconds:
            return a.log ? 6 : 8;
        case Scale::flops_per_s:
            return 12;
        default:
            return 5;
    }
}

/// Whether a tick's words may reach beyond the axis.
bool ends_at_tick(const FigureAxis& a) { return a.ticks.empty() ? a.log : a.to && a.ticks.back().at > 0.98 * *a.to; }

/// The height of a map, divided by its width.
double height_of(const Panel& p) { return (*p.y.to - *p.y.from) / (*p.x.to - *p.x.from); }

double wide(std::size_t letters) { return letter * static_cast<double>(letters); }

/// Whether the ticks are names. Names are all needed; of numbers some may be left out.
bool is_of_names(const FigureAxis& a) { return longest_label(a) > 5; }

std::vector<std::string> lines_of(const std::string& text, double width, double of_a_letter) {
    return text.empty() ? std::vector<std::string>{}
                        : text::wrapped(text, static_cast<std::size_t>(std::max(8.0, width / of_a_letter)));
}

std::vector<std::string> lines_of_name(const std::string& name, double room) {
    return text::wrapped(name, static_cast<std::size_t>(std::max(1.0, room / letter - 0.5)));
}

/// The width that names along the axis need when they are cut between their words; 0 where ticks are no names.
double room_for_names(const FigureAxis& a) {
    std::size_t longest = 0;
    if (is_of_names(a))
        for (const FigureAxis::Tick& t : a.ticks)
            for (const std::string& line : lines_of_name(t.text, 0)) longest = std::max(longest, text::width(line));
    return wide(longest + 1) * static_cast<double>(a.ticks.size());
}

double own_width(const Figure& f) {
    const bool alone = f.panels.size() == 1;
    if (alone && f.panels[0].rows > 0) return of_chart;
    if (!alone || f.panels[0].map) return usual_panel * (alone ? 1 : 2);
    return std::clamp(room_for_names(f.panels[0].x) + 150, 900.0, 2 * usual_panel);
}

}  // namespace

FigureLayout::FigureLayout(const Figure& f, const Page& page, const std::vector<std::string>& legend)
    : scale(page.font_pt / Page().font_pt) {
    width = (page.width_cm ? *page.width_cm / 2.54 * 100 : own_width(f)) / scale;
    std::size_t longest = 1;
    for (const std::string& t : legend) longest = std::max(longest, text::width(t));
    const double entry = legend_letter * static_cast<double>(longest) + 66;
    if (page.legend_beside && !legend.empty()) {
        if (!page.width_cm) width += entry / scale;
        side_ = std::min(entry, most_beside * width);
    }
    columns_ = std::clamp<std::size_t>(static_cast<std::size_t>((width - side_) / least_panel), 1, f.panels.size());
    rows_ = (f.panels.size() + columns_ - 1) / columns_;
    if (page.caption) {
        title = lines_of(f.title, width - 2 * margin, title_letter);
        caption = lines_of(caption_of(f), width, caption_letter);
        for (std::string& line : lines_of(f.command, width, caption_letter)) caption.push_back(std::move(line));
    }
    const double room = 0.96 * (side_ > 0 ? side_ : width);
    legend_columns = static_cast<std::size_t>(std::max(1.0, room / entry));
    legend_font = std::min(1.0, room / (wide(longest) + 60));
    const double of_legend = legend_line * legend_font *
                                 std::ceil(static_cast<double>(legend.size()) / static_cast<double>(legend_columns)) +
                             margin;
    legend_height_ = side_ > 0 ? margin : of_legend;
    measure_panels(f);
    if (side_ > 0 && plot_width() < least_beside) throw UsageError(text::message("layout.legend_beside"));
    double body = row_height_ * static_cast<double>(rows_) + legend_height_;
    if (side_ > 0) body = std::max(body, of_legend + 2 * margin);
    height = margin + caption_line * static_cast<double>(caption.size()) + body + title_height();
}

double FigureLayout::title_height() const {
    return title.empty() ? 0 : title_line * static_cast<double>(title.size()) + margin;
}

void FigureLayout::measure_panels(const Figure& f) {
    bool titled = false;
    for (const Panel& p : f.panels) {
        left_ = std::max(left_, p.map ? 2 * margin : wide(longest_label(p.y)) + 32);
        // Room for the colour bar: its labels, a gap, and a bar that is 8% of the panel wide.
        right_ = std::max(right_, p.shades ? wide(longest_label(*p.shades)) + 16 + 0.08 * cell_width() : 20);
        if (ends_at_tick(p.x)) right_ = std::max(right_, wide(longest_label(p.x)) / 2 + 4);
        titled = titled || !p.title.empty();
    }
    const auto height_now = [&] {
        if (f.panels[0].rows > 0) return row_of_chart * f.panels[0].rows;
        return f.panels[0].map ? plot_width() * height_of(f.panels[0]) : std::min(highest_panel, 0.8 * plot_width());
    };
    std::size_t lines = 0;
    for (const Panel& p : f.panels) {
        const auto cut = lines_of(p.y.words(), height_now() + 40, letter);
        lines = std::max(lines, cut.size());
        y_titles.push_back(text::join(cut, "\n"));
    }
    left_ += axis_title * static_cast<double>(lines);
    // Turned names begin left of their ticks, and need room there.
    for (const Panel& p : f.panels)
        if (steep(p.x))
            left_ = std::max(left_, wide(text::width(p.x.ticks[0].text)) * std::cos(turn(p.x) * degree) + margin -
                                        room_of_tick(p.x) / 2);
    panel_height_ = height_now();
    double ticks = 0, words = 0;
    for (const Panel& p : f.panels) {
        std::size_t most = 1;
        if (is_of_names(p.x))
            for (const FigureAxis::Tick& t : p.x.ticks)
                most = std::max(most, lines_of_name(t.text, room_of_tick(p.x)).size());
        ticks = std::max(ticks, steep(p.x) ? wide(longest_label(p.x)) * std::sin(turn(p.x) * degree)
                                           : name_line * static_cast<double>(most - 1));
        for (const Series& s : p.series)
            for (const FigurePoint& q : s.points)
                if (s.look == Look::words && upright(p, q)) {
                    const double above = p.y.to ? panel_height_ * (1 - q.y / *p.y.to) : 0;
                    words = std::max(words, wide(text::width(q.label) + 1) - above);
                }
    }
    const bool words_below =
        std::any_of(f.panels.begin(), f.panels.end(), [](const Panel& p) { return !p.x.title.empty(); });
    below_ = (f.panels[0].map ? 40 : words_below ? 78 : 78 - axis_title) + ticks;
    row_height_ = panel_height_ + below_ + (titled ? title_line : margin) + words;
}

std::string FigureLayout::tick_text(const FigureAxis& x, const std::string& name) const {
    return is_of_names(x) && !steep(x) ? text::join(lines_of_name(name, room_of_tick(x)), "\n") : name;
}

double FigureLayout::turn(const FigureAxis& x) const {
    if (!is_of_names(x) || room_for_names(x) <= plot_width()) return 0;
    constexpr double least_for_flat = 34;  // two lines of turned words, side by side
    return room_of_tick(x) >= least_for_flat ? 30 : 60;
}

bool FigureLayout::upright(const Panel& p, const FigurePoint& q) const {
    if (q.slope != 0 || !is_of_names(p.x)) return false;
    const auto words = std::count_if(p.series.begin(), p.series.end(), [](auto& s) { return s.look == Look::words; });
    const double each = static_cast<double>(std::max<std::ptrdiff_t>(words, 1)) / static_cast<double>(p.x.ticks.size());
    return wide(text::width(q.label)) > room_of_tick(p.x) / std::max(1.0, each);
}

std::vector<std::size_t> FigureLayout::ticks_with_room(const FigureAxis& a, bool along_x) const {
    const std::size_t n = a.ticks.size();
    const bool names = along_x && is_of_names(a);
    const auto scaled = [&](double x) { return a.log ? std::log(x) : x; };
    const double first = scaled(a.from.value_or(a.ticks.front().at)), last = scaled(a.to.value_or(a.ticks.back().at));
    const double length = along_x ? plot_width() : panel_height_;
    std::vector<double> at, half;  // where labels are, and half of the room that a label and a gap need
    for (const FigureAxis::Tick& t : a.ticks) {
        at.push_back(last > first ? (scaled(t.at) - first) / (last - first) * length : 0);
        half.push_back(names ? 0 : along_x ? wide(text::width(t.text) + 1) / 2 : tick_line / 2);
    }
    double least = length, most = 0;
    for (std::size_t k = 1; k < n; ++k)
        least = std::min(least, at[k] - at[k - 1]), most = std::max(most, at[k] - at[k - 1]);
    const bool even = most < 1.1 * least;
    const auto has_room = [&](std::size_t k, std::size_t after) { return at[after] - at[k] >= half[k] + half[after]; };
    const auto crowded = [&](std::size_t step) {
        for (std::size_t k = step; k < n; k += step)
            if (!has_room(k - step, k)) return true;
        return false;
    };
    std::size_t step = 1;
    while (even && step < n && crowded(step)) ++step;
    std::vector<std::size_t> kept;
    for (std::size_t k = 0; k < n; k += step)
        if (even || kept.empty() || has_room(kept.back(), k)) kept.push_back(k);
    return kept;
}

int FigureLayout::decades_apart(const FigureAxis& a) const {
    if (!a.from || !a.to) return 1;
    const double decade = plot_width() / std::log10(*a.to / *a.from);
    return std::max(1, static_cast<int>(std::ceil(wide(longest_label(a) + 1) / decade)));
}

double FigureLayout::room_for(const std::string& label, std::size_t panel_number, const Panel& p, const Box& b) const {
    const Area a = panel(panel_number);
    const double across = (b.right - b.left) / (*p.x.to - *p.x.from) * (a.right - a.left);
    return std::min(1.0, 0.66 * across / wide(text::width(label)));
}

FigureLayout::Area FigureLayout::panel(std::size_t k) const {
    const double cell = cell_width(), column = static_cast<double>(k % columns_),
                 rows_below = static_cast<double>(rows_ - 1 - k / columns_);
    const double bottom =
        margin + caption_line * static_cast<double>(caption.size()) + rows_below * row_height_ + below_;
    return {column * cell + left_, (column + 1) * cell - right_, bottom, bottom + panel_height_};
}

double FigureLayout::title_at(std::size_t line) const { return height - 28 - title_line * static_cast<double>(line); }
double FigureLayout::caption_at(std::size_t line) const {
    return caption_line * (static_cast<double>(caption.size() - line) - 0.4) + margin / 2;
}
double FigureLayout::legend_left() const { return side_ > 0 ? width - side_ : 16; }
double FigureLayout::legend_top() const { return height - title_height() - margin / 2; }

}  // namespace tilescope::lab
