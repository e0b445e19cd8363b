#include "show/words/value_text.hpp"

#include <cmath>
#include <cstdio>

#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/run/judgement.hpp"
#include "show/words/narration.hpp"
#include "show/words/sm_text.hpp"

namespace tilescope::show {
using namespace lab;
namespace {

/// "row 3", "rows 4–7", in the tensor where that is known.
std::string span_text(const char* what, Span s, bool known, Index begin) {
    const Index first = s.begin + begin;
    std::string text = what;
    text += s.size > 1 ? "s " + std::to_string(first) + "–" + std::to_string(first + s.size - 1)
                       : " " + std::to_string(first);
    return known && begin > 0 ? text + " (" + std::to_string(s.begin) + " of the tile)" : text;
}

/// Decimals that give the largest number three significant digits; -1 where no number of decimals reads well.
int decimals_of(TileData values) {
    float largest = 0;
    for (const float v : values)
        if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
    if (largest > 0 && (largest < 0.001f || largest >= 100'000)) return -1;
    return largest >= 99.5f ? 0 : largest >= 9.95f ? 1 : largest >= 0.095f || largest == 0 ? 2 : 4;
}

std::string finite_or_not(double rms) { return std::isfinite(rms) ? text::number(rms) : "not finite"; }

}  // namespace

std::string value_text(float value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "−∞" : "∞";
    return text::number(static_cast<double>(value));
}

std::string with_decimals(float v, int decimals) {
    if (!std::isfinite(v)) return value_text(v);
    char buffer[64];
    const bool zero = std::abs(v) < 0.5f * std::pow(10.f, static_cast<float>(-decimals));  // not "-0.00"
    std::snprintf(buffer, sizeof buffer, "%.*f", decimals, zero ? 0.0 : static_cast<double>(v));
    return buffer;
}

std::vector<std::vector<std::string>> value_cells(const RecordedTile& tile, TileData values, Index most_rows,
                                                  Index most_cols) {
    const int decimals = decimals_of(values);
    const auto text = [&](Index r, Index c) {
        const float v = values[static_cast<std::size_t>(r * tile.cols + c)];
        return decimals < 0 ? value_text(v) : with_decimals(v, decimals);
    };
    // "…" takes the room of a row or column, so it never stands for a single one.
    const auto shown = [](Index all, Index most) { return all <= most ? all : most - 1; };
    const Index rows = shown(tile.rows, most_rows), cols = shown(tile.cols, most_cols);
    std::vector<std::vector<std::string>> cells;
    for (Index r = 0; r < rows; ++r) {
        auto& row = cells.emplace_back();
        for (Index c = 0; c < cols; ++c) row.push_back(text(r, c));
        if (cols < tile.cols) row.push_back("…");
    }
    if (rows < tile.rows) cells.push_back({"…"});
    return cells;
}

std::string range_text(TileData values) {
    float low = INFINITY, high = -INFINITY;
    Count minus = 0, plus = 0, none = 0;
    for (const float v : values) {
        if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
        minus += std::isinf(v) && v < 0, plus += std::isinf(v) && v > 0, none += std::isnan(v);
    }
    std::vector<std::string> parts;
    if (low == high) parts.push_back(value_text(low));
    if (low < high) parts.push_back("from " + value_text(low) + " to " + value_text(high));
    for (const auto& [n, what] : {std::pair(minus, "−∞"), std::pair(plus, "∞"), std::pair(none, "NaN")})
        if (n > 0) parts.push_back(text::grouped(n) + " × " + what);
    return text::join(parts, ", ");
}

std::string output_name(const Run& run) { return run.algorithm().computes->output; }

std::string sm_and_block(const SmState& sm) {
    const std::string text = sm_name(sm);
    return sm.block ? text + " · block " + std::to_string(sm.block->block) : text;
}

std::string why_no_values(const Run& run) {
    return run.is_recording() ? "This recording was made without numbers: `tilescope trace --mode numeric` keeps them."
                              : "This recording holds shapes only: the run is too large for its numbers to be kept. A "
                                "shorter --seq has numbers.";
}

std::string why_no_block(const Run& run) {
    return run.tick() == 0 ? "Nothing has run yet: Space plays, → goes one step on."
                           : "This SM has no thread block in this tick.";
}

std::string operation_text(const Run& run, Index step) {
    const Contents& contents = run.contents();
    const Event& e = run.trace()[step].event;
    if (e.moves_data()) {
        const std::string in_hbm = tensor_of(run, e.region) + " in HBM, " + rows_of(run, e.region);
        return e.kind() == Kind::load ? contents.after(step) + " ← " + in_hbm
                                      : contents.operand(step, 0) + " → " + in_hbm;
    }
    std::string operands;
    for (std::size_t k = 0; k < e.reads.size(); ++k)
        if (e.reads[k].tile != no_tile)
            operands += (operands.empty() ? "" : ", ") + contents.operand(step, k) + (e.reads[k].transposed ? "ᵀ" : "");
    return contents.after(step) + " ← " + e.operation->name + (operands.empty() ? "" : "(" + operands + ")");
}

std::string written_last_text(const std::string& name) { return name + " was written last"; }

std::string about_values(const RecordedTile& tile, const std::string& note, const Region& region,
                         const ValuesShown& values) {
    const bool known = region.tensor != no_tensor;
    std::string text = tile.name + (note.empty() ? "" : ", " + note) + " (" + tile_shape(tile) + " " +
                       name_of(tile.dtype) + " in " + name_of(tile.space) + ")\n";
    text += span_text("row", values.rows, known, region.rows.begin);
    if (tile.cols > 1) text += ", " + span_text("column", values.cols, known, region.cols.begin);
    text += "\n" + value_text(values.value);
    if (const Index n = values.rows.size * values.cols.size; n > 1)
        text += "  average of " + std::to_string(n) + " values (−∞ left out)";
    return text;
}

std::string error_title(const Run& run) { return "Error of " + output_name(run) + " against the reference"; }

std::string error_text(double rms) { return "RMS " + finite_or_not(rms); }

std::string why_no_error(const Run& run) {
    return "nothing added to " + output_name(run) + " in this thread block so far";
}

bool is_wrong(const Run& run, const Run::StoredError& e) {
    return run.algorithm().file && e.rows > 0 && beyond_rounding(e.max_abs, e.largest);
}

std::string stored_text(const Run& run, const Run::StoredError& e) {
    const std::string text =
        output_name(run) + " in HBM: " + std::to_string(e.rows) + " of " + std::to_string(e.of) + " rows finished";
    if (e.rows == 0) return text;
    return text + ", RMS error " + finite_or_not(e.rms) + (is_wrong(run, e) ? ", no rounding: it is wrong" : "");
}

}  // namespace tilescope::show
