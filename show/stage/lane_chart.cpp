#include "show/stage/lane_chart.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <utility>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "show/stage/lanes_text.hpp"

namespace tilescope::show {
namespace {

using text::message;

char letter_of(const LaneSegment& s) {
    constexpr std::pair<std::string_view, char> usual[] = {
        {"update_row_max", 'm'}, {"shuffle", 'r'}, {"exp_minus", 'e'}, {"scale_rows", 'x'},
        {"divide_rows", 'd'},    {"copy", 'c'},    {"round", 'c'}};
    if (s.doing == LaneDoing::busy) return '+';
    if (s.doing == LaneDoing::wait) {
        switch (s.awaited) {
            case Awaited::product:
                return '-';
            case Awaited::turn:
                return '.';
            case Awaited::load:
                return '~';
            case Awaited::slot:
                return ':';
            default:
                return '=';
        }
    }
    for (const auto& [what, letter] : usual)
        if (s.doing == LaneDoing::work && s.what == what) return letter;
    return s.what.empty() ? '?' : s.what[0];
}

struct ChartLine {
    std::string name, letters;
};

/// The lines of a chart, and where a cycle is in them.
class Chart {
  public:
    Chart(const LaneView& view, int columns) : view_(view), columns_(columns), width_(view.cycles() / columns) {}

    void fill(std::string& line, double from, double to, char letter) const {
        const int first = column_of(from), last = column_of(to);
        if (first < last) std::fill(line.begin() + first, line.begin() + last, letter);
    }
    /// Marks the column that the cycle lies in.
    void mark(std::string& line, double cycle, char letter) const {
        line[static_cast<std::size_t>(std::clamp(static_cast<int>(cycle / width_), 0, columns_ - 1))] = letter;
    }
    std::string blank() const { return std::string(static_cast<std::size_t>(columns_), ' '); }
    double middle(int column) const { return (column + 0.5) * width_; }
    int columns() const { return columns_; }
    const LaneView& view() const { return view_; }

    void draw(std::string& line, const LaneRow& row, const std::function<bool(const LaneSegment&)>& which) const {
        for (const std::uint32_t k : row.segments)
            if (const LaneSegment& s = view_.segments()[k]; which(s))
                fill(line, s.from, s.doing == LaneDoing::load ? s.sent : s.to, letter_of(s));
    }
    std::string axis() const {
        std::string line = blank();
        const double least = 10 * width_;  // a label and a gap
        double apart = 100;
        for (const double each : {100.0, 200.0, 250.0, 500.0, 1000.0, 2000.0, 5000.0, 10000.0, 50000.0})
            if (apart = each; each >= least) break;
        for (double at = 0; at < view_.cycles(); at += apart) {
            const std::string label = text::grouped(std::llround(at));
            const auto column = static_cast<std::size_t>(std::lround(at / width_));
            if (column + label.size() <= line.size()) line.replace(column, label.size(), label);
        }
        return line;
    }

  private:
    /// The first column whose middle is not before `at`.
    int column_of(double at) const { return std::clamp(static_cast<int>(std::ceil(at / width_ - 0.5)), 0, columns_); }

    const LaneView& view_;
    int columns_;
    double width_;
};

std::string of_turns(const Chart& chart, const LaneView::Baton& baton) {
    std::string line = chart.blank();
    for (int k = 0; k < chart.columns(); ++k)
        if (const LaneView::Turn* turn = baton.at(chart.middle(k)))
            line[static_cast<std::size_t>(k)] = static_cast<char>('1' + chart.view().group_of(turn->lane));
    return line;
}

std::string of_slot(const Chart& chart, const LaneSlot& slot) {
    std::string line = chart.blank();
    for (int k = 0; k < chart.columns(); ++k) {
        const SlotState state = chart.view().state_at(slot, chart.middle(k));
        if (state == SlotState::empty) continue;
        line[static_cast<std::size_t>(k)] = state == SlotState::loading ? '.'
                                            : state == SlotState::full  ? slot.stay_at(chart.middle(k))->what[0]
                                                                        : '#';
    }
    return line;
}

/// A line that points at the cycle.
std::string pointer_at(const Chart& chart, double cycle) {
    std::string line = chart.blank();
    chart.mark(line, cycle, '^');
    return line;
}

std::vector<ChartLine> lines_of(const Chart& chart, std::optional<double> cycle) {
    const LaneView& view = chart.view();
    const auto all = [](const LaneSegment&) { return true; };
    std::vector<ChartLine> lines = {{message("lane.cycle"), chart.axis()}};
    for (const LaneRow& row : view.rows()) {
        std::string line = chart.blank();
        if (row.kind == LaneRow::Kind::bus) {
            chart.draw(line, row, all);
            lines.push_back({message("lanes.bus"), line});
        } else if (row.kind == LaneRow::Kind::warpgroup) {
            const std::string& name = view.name_of(row.lane);
            std::string products = chart.blank();
            for (const LaneRow& other : view.rows())
                if (other.kind == LaneRow::Kind::tensor_cores)
                    chart.draw(products, other, [&](const LaneSegment& s) { return s.lane == row.lane; });
            const bool multiplies =
                std::any_of(view.segments().begin(), view.segments().end(),
                            [&](const LaneSegment& s) { return s.lane == row.lane && s.doing == LaneDoing::product; });
            if (multiplies)  // there are lanes that only work for others
                lines.push_back({message("lanes.of_group", name, message("lanes.tensor_cores")), products});
            chart.draw(line, row, all);
            lines.push_back({message("lanes.of_group", name, message("lanes.cuda_cores")), line});
        }
    }
    for (const LaneView::Baton& baton : view.batons())
        lines.push_back({turn_word(view, baton), of_turns(chart, baton)});
    for (const LaneSlot& s : view.slots())
        lines.push_back({message("lane.slot", std::to_string(s.slot), s.ring), of_slot(chart, s)});
    if (cycle) lines.push_back({message("lanes.sentences_are_about"), pointer_at(chart, *cycle)});
    return lines;
}

}  // namespace

std::string lane_chart(const LaneView& view, int width, std::optional<double> cycle) {
    if (cycle && (*cycle < 0 || *cycle > view.cycles())) cycle.reset();
    std::size_t widest = 0;
    for (const ChartLine& line : lines_of(Chart(view, 1), cycle)) widest = std::max(widest, text::width(line.name));
    const int columns = std::max(10, width - static_cast<int>(widest) - 4);
    std::string out;
    for (const ChartLine& line : lines_of(Chart(view, columns), cycle))
        out += line.name + std::string(widest - text::width(line.name) + 2, ' ') + '|' + line.letters + "|\n";
    return out;
}

std::string lane_legend(std::span<const LaneView> views) {
    std::vector<std::string> all;
    for (const LaneView& view : views)
        for (const LanePart& p : view.parts()) {
            const LaneSegment letter{p.doing, 0, p.what, 0, 0, 0, 0, 0, 0, Awaited::other};
            const std::string entry =
                message("lanes.letter", std::string(1, letter_of(letter)), lane_legend(p.doing, p.what));
            if (std::find(all.begin(), all.end(), entry) == all.end()) all.push_back(entry);
        }
    return text::sentences({message("lanes.letters", text::join(all, "; ")), message("lanes.letters_of_waits"),
                            message("lanes.letters_of_busy"), message("lanes.letters_of_slots")});
}

}  // namespace tilescope::show
