#include "show/value_text.hpp"

#include <cmath>

#include "core/text/numbers.hpp"
#include "show/narration.hpp"
#include "show/sm_text.hpp"

namespace tilescope::show {
namespace {

/// "row 3", "rows 4–7", in the tensor where that is known.
std::string span_text(const char* what, Span s, bool known, Index begin) {
    const Index first = s.begin + begin;
    std::string text = what;
    text += s.size > 1 ? "s " + std::to_string(first) + "–" + std::to_string(first + s.size - 1)
                       : " " + std::to_string(first);
    return known && begin > 0 ? text + " (" + std::to_string(s.begin) + " of the tile)" : text;
}

std::string finite_or_not(double rms) { return std::isfinite(rms) ? text::number(rms) : "not finite"; }

}  // namespace

std::string value_text(float value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "−∞" : "∞";
    return text::number(static_cast<double>(value));
}

std::string output_name(const Run& run) { return run.algorithm().computes->output; }

std::string sm_and_block(const SmState& sm) {
    const std::string text = sm_name(sm);
    return sm.block ? text + " · block " + std::to_string(sm.block->block) : text;
}

std::string why_no_block(const Run& run) {
    return run.tick() == 0 ? "Nothing has run yet: Space plays, → is one step."
                           : "This SM has no thread block in this tick.";
}

std::string operation_text(const Run& run, const Step& s) {
    const auto& tiles = run.trace().tiles();
    const Event& e = s.event;
    if (s.moves_data()) {
        return tiles[s.tile()].name + (e.kind() == Kind::load ? " ← " : " → ") + tensor_of(run, e.region) +
               " in HBM, " + rows_of(run, e.region);
    }
    std::string operands;
    for (const Operand& o : e.reads)
        if (o.tile != no_tile)
            operands += (operands.empty() ? "" : ", ") + tiles[o.tile].name + (o.transposed ? "ᵀ" : "");
    return tiles[e.out].name + " ← " + e.operation->name + (operands.empty() ? "" : "(" + operands + ")");
}

std::string written_last_text(const RecordedTile& tile) { return tile.name + " was written last"; }

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

std::string why_no_error(const Run& run) { return "no " + output_name(run) + " on chip in this thread block so far"; }

std::string stored_text(const Run& run, const Run::StoredError& e) {
    const std::string text =
        output_name(run) + " in HBM: " + std::to_string(e.rows) + " of " + std::to_string(e.of) + " rows stored";
    return e.rows > 0 ? text + ", RMS error " + finite_or_not(e.rms) : text;
}

}  // namespace tilescope::show
