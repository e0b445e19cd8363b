// The texts about values: tiles as pictures, single numbers, the error of the output.
#pragma once

#include <string>
#include <vector>

#include "show/run/run.hpp"

namespace tilescope::show {

/// Three significant digits; infinities as signs.
std::string value_text(float value);
/// So many digits after the point; infinities as signs.
std::string with_decimals(float value, int decimals);
/// The numbers of a tile, row by row, with the same decimals: all of a small one; of a large one its first rows and
/// columns, with "…" for the rest.
std::vector<std::vector<std::string>> value_cells(const RecordedTile& tile, TileData values, Index most_rows,
                                                  Index most_cols);
/// "from −1.81 to 2.8", of the finite ones, with how many others there are: "from 0.25 to 2.8, 12 × −∞".
std::string range_text(TileData values);
/// The output's name: "O" or "Y".
std::string output_name(const Run& run);

/// "SM 0 · block 3".
std::string sm_and_block(const SmState& sm);
/// Why an SM has no tiles.
std::string why_no_block(const Run& run);
/// Why tiles have shapes alone.
std::string why_no_values(const Run& run);
/// What an operation did: "S ← matmul(Q, K)", "K ← K of head 1 in HBM, rows 64–127"; without an operation, which tile
/// was written last.
std::string operation_text(const Run& run, Index step);
std::string written_last_text(const std::string& name);

/// A rectangle of a tile's values, and their average.
struct ValuesShown {
    Span rows, cols;
    float value;
};
/// The tooltip of values. `note` says which contents they are ("before"); `region` is where the tile is in HBM, if it
/// is.
std::string about_values(const RecordedTile& tile, const std::string& note, const Region& region,
                         const ValuesShown& values);

/// "Error of O against the reference", and its value: "RMS 1.2e-05".
std::string error_title(const Run& run);
std::string error_text(double rms);
/// In place of the error: "nothing added to O in this thread block so far".
std::string why_no_error(const Run& run);
/// Whether the stored rows of a user's own algorithm are further from the reference than rounding explains.
bool is_wrong(const Run& run, const Run::StoredError& error);
/// "O in HBM: 128 of 1024 rows finished, RMS error 1.2e-05".
std::string stored_text(const Run& run, const Run::StoredError& error);

}  // namespace tilescope::show
