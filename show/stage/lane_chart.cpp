#include "show/stage/lane_chart.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text/message.hpp"
#include "core/text/words.hpp"

namespace tilescope::show {
namespace {

enum class LaneRow : std::uint8_t { tensor_cores, own_warps, bus };

LaneRow row_of(Act::Kind kind) {
    return kind == Act::Kind::product ? LaneRow::tensor_cores
           : kind == Act::Kind::load  ? LaneRow::bus
                                      : LaneRow::own_warps;
}

/// The first letter of a name that no other name has.
class Letters {
  public:
    char of(std::string_view name) {
        for (const auto& [known, letter] : known_)
            if (known == name) return letter;
        const std::string_view all = "abcdefghijklmnopqrstuvwxyz";
        for (const std::string_view candidates : {name, all})
            for (const char c : candidates)
                if (is_free(c)) return known_.emplace_back(name, c).second;
        return known_.emplace_back(name, '?').second;
    }
    std::string legend() const {
        std::vector<std::string> all;
        for (const auto& [name, letter] : known_)
            if (name != std::string_view(&letter, 1)) all.push_back(std::string(1, letter) + ' ' + name);
        return text::join(all, ", ");
    }

  private:
    bool is_free(char c) const {
        return c != '_' && std::none_of(known_.begin(), known_.end(), [&](const auto& k) { return k.second == c; });
    }
    std::vector<std::pair<std::string, char>> known_;
};

}  // namespace

std::string lane_chart(std::span<const LaneProgram> lanes, const LanePlay& play, double from, double to, int columns) {
    std::map<std::pair<std::uint32_t, LaneRow>, std::string> rows;
    Letters letters;
    for (const LaneProgram& l : lanes)
        for (const Act& a : l.acts)
            if (a.kind == Act::Kind::product || a.kind == Act::Kind::load || a.kind == Act::Kind::work)
                letters.of(a.what);
    const double width = (to - from) / columns;
    const auto column_of = [&](double at) {  // the first column whose middle is not before `at`
        return std::clamp(static_cast<int>(std::ceil((at - from) / width - 0.5)), 0, columns);
    };
    for (const LanePhase& p : play.phases) {
        const int first = column_of(p.from), last = column_of(p.to);
        if (first >= last) continue;
        std::string& row =
            rows.try_emplace({p.lane, row_of(p.kind)}, static_cast<std::size_t>(columns), ' ').first->second;
        std::fill(row.begin() + first, row.begin() + last, p.kind == Act::Kind::wait ? '-' : letters.of(p.what));
    }
    const std::string names[] = {text::message("lanes.tensor_cores"), text::message("lanes.warps"),
                                 text::message("lanes.bus")};
    std::size_t longest = 0, widest = 0;
    for (const LaneProgram& l : lanes) longest = std::max(longest, l.name.size());
    for (const std::string& name : names) widest = std::max(widest, text::width(name));
    std::string out;
    for (const auto& [of, row] : rows) {
        const std::string& lane = lanes[of.first].name;
        const std::string& name = names[static_cast<std::size_t>(of.second)];
        out += lane + std::string(longest - lane.size() + 2, ' ') + name +
               std::string(widest - text::width(name) + 2, ' ') + '|' + row + "|\n";
    }
    return out + letters.legend() + '\n';
}

}  // namespace tilescope::show
