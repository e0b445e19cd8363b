#include "show/stage/blackboard.hpp"

#include <algorithm>

#include "core/machine/sorted.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/table.hpp"
#include "core/text/words.hpp"
#include "show/words/formula.hpp"
#include "show/words/value_text.hpp"

namespace tilescope::show {
using namespace lab;
using text::message;
namespace {

constexpr std::size_t most_numbers = 4;  // of a row

/// What a step writes: the first row of a tile.
struct Written {
    std::string tile;
    std::vector<std::string> row;
};

struct Line {
    std::string step, line, formula;
    std::vector<Written> written;
};

bool is_input(Meaning m) {
    return m == Meaning::query || m == Meaning::key || m == Meaning::value || m == Meaning::bias;
}

/// The order of the columns.
int rank(Meaning m) { return m == Meaning::statistic ? 0 : m == Meaning::output ? 1 : m == Meaning::score ? 2 : 3; }

struct Column {
    std::string tile;
    Meaning meaning;
};
using Columns = std::vector<Column>;

void add(Columns& columns, const RecordedTile& tile) {
    const auto known = [&](const Column& c) { return c.tile == tile.name; };
    if (std::none_of(columns.begin(), columns.end(), known)) columns.push_back({tile.name, tile.meaning});
}

void sort(Columns& columns) {
    sort_stably(columns, [](const Column& a, const Column& b) { return rank(a.meaning) < rank(b.meaning); });
}

/// Removes the least important column: the last one that is not the output.
std::string take_one(Columns& columns) {
    const auto found =
        std::find_if(columns.rbegin(), columns.rend(), [](const Column& c) { return c.meaning != Meaning::output; });
    const auto taken = found == columns.rend() ? columns.end() - 1 : std::prev(found.base());
    std::string name = taken->tile;
    columns.erase(taken);
    return name;
}

std::vector<Written> written(const Run& run, const SmState& sm, Columns& columns) {
    std::vector<Written> all;
    for (const Index k : sm.steps) {
        const Step& s = run.trace()[k];
        const TileData values = run.trace().values(s);
        if (s.event.out == no_tile || values.empty()) continue;
        const RecordedTile& tile = run.trace().tiles()[s.event.out];
        if (is_input(tile.meaning)) continue;
        add(columns, tile);
        RecordedTile row = tile;
        row.rows = 1;
        all.push_back({tile.name,
                       value_cells(row, values.first(static_cast<std::size_t>(tile.cols)), 1, Index{most_numbers})[0]});
    }
    return all;
}

std::string did(const Run& run, const SmState& sm) {
    if (run.tick() == 0) return "";
    const bool launches = run.trace()[run.schedule().steps_after(run.tick() - 1)].kind() == Kind::launch;
    return launches ? message("board.launch", run.moment().kernel) : formula(run, sm);
}

/// A row in at most `numbers` numbers.
std::string shortened(const std::vector<std::string>& row, std::size_t numbers) {
    if (row.size() <= numbers) return text::join(row, " ");
    return text::join({row.begin(), row.begin() + static_cast<std::ptrdiff_t>(numbers)}, " ") + " …";
}

Blackboard table(const std::vector<Line>& lines, const Columns& columns, std::size_t numbers) {
    Blackboard b{text::titles({"board.op", "board.line", "board.formula"}), {}, {}};
    for (const Column& c : columns) b.header.push_back(c.tile);
    for (const Line& l : lines) {
        auto& row = b.rows.emplace_back(std::vector<std::string>{l.step, l.line, l.formula});
        for (const Column& c : columns) {
            row.emplace_back();
            // Where one step makes a tile and then writes it, the last write is shown.
            for (const Written& w : l.written)
                if (w.tile == c.tile) row.back() = shortened(w.row, numbers);
        }
    }
    return b;
}

std::size_t width_of(const Blackboard& b) {
    std::size_t sum = 0;
    for (std::size_t c = 0; c < b.header.size(); ++c) {
        std::size_t widest = text::width(b.header[c]);
        for (const auto& row : b.rows) widest = std::max(widest, text::width(row[c]));
        sum += widest + 2;
    }
    return sum - 2;
}

/// As many numbers of as many tiles as fit into `width` characters.
Blackboard fitted(const std::vector<Line>& lines, Columns columns, std::size_t width) {
    sort(columns);
    std::vector<std::string> left_out;
    for (std::size_t numbers = most_numbers;;) {
        Blackboard b = table(lines, columns, numbers);
        if (width_of(b) <= width || columns.size() <= 1) {
            b.left_out = std::move(left_out);
            return b;
        }
        if (numbers > 2)
            --numbers;
        else
            left_out.insert(left_out.begin(), take_one(columns)), numbers = most_numbers;
    }
}

std::vector<std::string> so_far(const Counters& c) {
    return {text::bytes(c.hbm_read), text::bytes(c.hbm_sent()), text::count(static_cast<double>(c.flops()))};
}

}  // namespace

Blackboard blackboard(Run& run, Index sm, const std::vector<Index>& steps, std::size_t width) {
    Columns columns;
    std::vector<Line> lines;
    Blackboard counts = table({}, {}, 0);
    for (std::string& title : text::titles({"board.read", "board.written", "board.flops"}))
        counts.header.push_back(std::move(title));
    for (const Index step : steps) {
        run.seek(step);
        const SmState& s = run.moment().sms[static_cast<std::size_t>(sm)];
        const std::string line = s.block && s.line > 0 ? std::to_string(s.line) : "";
        lines.push_back({std::to_string(step), line, did(run, s), written(run, s, columns)});
        counts.rows.push_back({lines.back().step, line, lines.back().formula});
        for (std::string& c : so_far(run.player().state().total)) counts.rows.back().push_back(std::move(c));
    }
    return run.has_values() ? fitted(lines, std::move(columns), width) : counts;
}

}  // namespace tilescope::show
