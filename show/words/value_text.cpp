#include "show/words/value_text.hpp"

#include <cmath>
#include <cstdio>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/run/judgement.hpp"
#include "show/words/narration.hpp"
#include "show/words/sm_text.hpp"

namespace tilescope::show {
using namespace lab;
using text::message;
namespace {

/// "row 3", "columns 4–7": their numbers in the tensor where these are known, else in the tile.
std::string span_text(Span s, bool rows, bool known, Index begin) {
    const std::string numbers = numbers_of({s.begin + begin, s.size});
    if (!known || begin == 0) return message(rows ? "value.rows" : "value.columns", s.size, numbers);
    return message(rows ? "value.rows_of_tile" : "value.columns_of_tile", s.size, numbers, std::to_string(s.begin));
}

/// Decimals that give the largest number two or three significant digits; -1 where no number of decimals reads well.
int decimals_of(TileData values) {
    float largest = 0;
    for (const float v : values)
        if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
    if (largest > 0 && (largest < 0.001f || largest >= 100'000)) return -1;
    return largest >= 99.5f ? 0 : largest >= 9.95f ? 1 : largest >= 0.095f || largest == 0 ? 2 : 4;
}

std::string finite_or_not(double rms) { return std::isfinite(rms) ? text::number(rms) : message("value.not_finite"); }

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
    if (low < high) parts.push_back(message("value.from_to", value_text(low), value_text(high)));
    for (const auto& [n, what] : {std::pair(minus, "−∞"), std::pair(plus, "∞"), std::pair(none, "NaN")})
        if (n > 0) parts.push_back(text::grouped(n) + " × " + what);
    return text::join(parts, ", ");
}

std::string output_name(const Run& run) { return run.algorithm().computes->output; }

std::string sm_and_block(const SmState& sm) {
    if (!sm.block) return sm_name(sm);
    return message("value.sm_and_block", std::to_string(sm.sm), std::to_string(sm.block->block));
}

std::string why_no_values(const Run& run) {
    return message(run.is_recording() ? "value.recorded_without_numbers" : "value.too_large_for_numbers");
}

std::string why_no_block(const Run& run) { return message(run.tick() == 0 ? "value.nothing_yet" : "value.no_block"); }

std::string operation_text(const Run& run, Index step) {
    const Contents& contents = run.contents();
    const Event& e = run.trace()[step].event;
    if (e.moves_data()) {
        const bool loads = e.kind() == Kind::load;
        return message(loads ? "value.loaded" : "value.stored",
                       loads ? contents.after(step) : contents.operand(step, 0), tensor_of(run, e.region),
                       rows_of(run, e.region));
    }
    std::string operands;
    for (std::size_t k = 0; k < e.reads.size(); ++k)
        if (e.reads[k].tile != no_tile)
            operands += (operands.empty() ? "" : ", ") + contents.operand(step, k) + (e.reads[k].transposed ? "ᵀ" : "");
    return contents.after(step) + " ← " + e.operation->name + (operands.empty() ? "" : "(" + operands + ")");
}

std::string written_last_text(const std::string& name) { return message("value.written_last", name); }

std::string about_values(const RecordedTile& tile, const std::string& note, const Region& region,
                         const ValuesShown& values) {
    const bool known = region.tensor != no_tensor;
    const Index n = values.rows.size * values.cols.size;
    const std::string name = note.empty() ? tile.name : message("value.contents", tile.name, note);
    std::vector<std::string> where = {span_text(values.rows, true, known, region.rows.begin)};
    if (tile.cols > 1) where.push_back(span_text(values.cols, false, known, region.cols.begin));
    const std::string value = value_text(values.value);
    return text::join({message("value.tile", name, tile_shape(tile), name_of(tile.dtype), name_of(tile.space)),
                       text::join(where, ", "), n > 1 ? message("value.average", value, std::to_string(n)) : value},
                      "\n");
}

std::string error_title(const Run& run) { return message("value.error_of", output_name(run)); }

std::string error_text(double rms) { return message("value.rms", finite_or_not(rms)); }

std::string why_no_error(const Run& run) { return message("value.nothing_added", output_name(run)); }

bool is_wrong(const Run& run, const Run::StoredError& e) {
    return run.algorithm().lineage.file && e.rows > 0 && beyond_rounding(e.max_abs, e.largest);
}

std::string stored_text(const Run& run, const Run::StoredError& e) {
    const std::string rows = std::to_string(e.rows), of = std::to_string(e.of);
    if (e.rows == 0) return message("value.none_finished", output_name(run), rows, of);
    return message(is_wrong(run, e) ? "value.finished_wrong" : "value.finished", output_name(run), rows, of,
                   finite_or_not(e.rms));
}

}  // namespace tilescope::show
