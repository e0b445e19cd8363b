#include "show/blackboard.hpp"

#include <algorithm>

#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "show/formula.hpp"
#include "show/value_text.hpp"

namespace tilescope::show {
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

/// The tiles of the table, by name.
class Columns {
  public:
    void add(const RecordedTile& tile) {
        const auto known = [&](const auto& c) { return c.second == tile.name; };
        if (std::none_of(all_.begin(), all_.end(), known)) all_.emplace_back(rank(tile.meaning), tile.name);
    }
    std::vector<std::string> names() {
        std::stable_sort(all_.begin(), all_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        std::vector<std::string> names;
        for (const auto& [rank, name] : all_) names.push_back(name);
        return names;
    }

  private:
    std::vector<std::pair<int, std::string>> all_;
};

std::vector<Written> written(const Run& run, const SmState& sm, Columns& columns) {
    std::vector<Written> all;
    for (const Index k : sm.steps) {
        const Step& s = run.trace()[k];
        const TileData values = run.trace().values(s);
        if (s.event.out == no_tile || values.empty()) continue;
        const RecordedTile& tile = run.trace().tiles()[s.event.out];
        if (is_input(tile.meaning)) continue;
        columns.add(tile);
        RecordedTile row = tile;
        row.rows = 1;
        all.push_back({tile.name, value_cells(row, values.first(static_cast<std::size_t>(tile.cols)), 1, Index{most_numbers})[0]});
    }
    return all;
}

std::string did(const Run& run, const SmState& sm) {
    if (run.tick() == 0) return "";
    const bool launches = run.trace()[run.schedule().steps_after(run.tick() - 1)].kind() == Kind::launch;
    return launches ? "launch " + run.moment().kernel : formula(run, sm);
}

/// A row in at most `numbers` numbers.
std::string shortened(const std::vector<std::string>& row, std::size_t numbers) {
    if (row.size() <= numbers) return text::join(row, " ");
    return text::join({row.begin(), row.begin() + static_cast<std::ptrdiff_t>(numbers)}, " ") + " …";
}

Blackboard table(const std::vector<Line>& lines, const std::vector<std::string>& tiles, std::size_t numbers) {
    Blackboard b{{"step", "line", "formula"}, {}, {}};
    b.header.insert(b.header.end(), tiles.begin(), tiles.end());
    for (const Line& l : lines) {
        auto& row = b.rows.emplace_back(std::vector<std::string>{l.step, l.line, l.formula});
        for (const std::string& tile : tiles) {
            row.emplace_back();
            // A tile that is made and then written in one step is told by what it has become.
            for (const Written& w : l.written)
                if (w.tile == tile) row.back() = shortened(w.row, numbers);
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

/// As many numbers of as many tiles as there is room for.
Blackboard fitted(const std::vector<Line>& lines, std::vector<std::string> tiles, std::size_t width) {
    std::vector<std::string> left_out;
    for (std::size_t numbers = most_numbers;;) {
        Blackboard b = table(lines, tiles, numbers);
        if (width_of(b) <= width || tiles.size() <= 1) {
            b.left_out = std::move(left_out);
            return b;
        }
        if (numbers > 2)
            --numbers;
        else
            left_out.insert(left_out.begin(), tiles.back()), tiles.pop_back(), numbers = most_numbers;
    }
}

std::vector<std::string> so_far(const Counters& c) {
    return {text::bytes(static_cast<double>(c.hbm_read)), text::bytes(static_cast<double>(c.hbm_write)),
            text::count(static_cast<double>(c.flops()))};
}

}  // namespace

Blackboard blackboard(Run& run, Index sm, const std::vector<Index>& steps, std::size_t width) {
    Columns columns;
    std::vector<Line> lines;
    Blackboard counts{{"step", "line", "formula", "read", "written", "FLOPs"}, {}, {}};
    for (const Index step : steps) {
        run.seek(step);
        const SmState& s = run.moment().sms[static_cast<std::size_t>(sm)];
        const std::string line = s.block && s.line > 0 ? std::to_string(s.line) : "";
        lines.push_back({std::to_string(step), line, did(run, s), written(run, s, columns)});
        counts.rows.push_back({lines.back().step, line, lines.back().formula});
        for (std::string& c : so_far(run.player().state().total)) counts.rows.back().push_back(std::move(c));
    }
    return run.has_values() ? fitted(lines, columns.names(), width) : counts;
}

}  // namespace tilescope::show
