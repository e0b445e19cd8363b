// The texts about the SMs: about all of them, and about what one holds.
#pragma once

#include <string>
#include <vector>

#include "show/run/run.hpp"

namespace tilescope::show {

/// What an SM works on: a thread block that is shown, one of the same kind that was not recorded, nothing.
enum class Work : std::uint8_t { shown, elsewhere, none };

/// The work of every SM of the GPU. Thread blocks go to the SMs in order, the recorded ones first. The others do the
/// same on other heads: where all run at once, each ends with its recorded counterpart; where there are more thread
/// blocks than SMs, their SMs stay busy as long as the launch runs. `over`: the run has ended.
std::vector<Work> work_of_sms(const Run& run, bool over);
Index busy_sms(const std::vector<Work>& work);

/// Whether the last operation is done: only freeing what is on chip is left.
bool has_ended(const Run& run);
/// About the launch, the longest version first: "flash_v2 · 64 thread blocks · 64 of 108 SMs busy, 32 of them
/// shown".
std::vector<std::string> launch_lines(const Run& run, Index busy, bool over);
/// The tooltip of an SM among all of them.
std::string about_sm(const Run& run, Index sm, Work work);

/// sm_name(): "SM 3". sm_places(): where the SM is, the longest version first: "head 1 of 8, i = 3 of 8, j = 2 of 8 ·
/// block 12". sm_block(): "block 12" or "idle". sm_line(): "line 7" or nothing.
std::string sm_name(const SmState& sm);
std::vector<std::string> sm_places(const Run& run, const SmState& sm);
std::string sm_block(const SmState& sm);
std::string sm_line(const SmState& sm);

/// What an SM does in the tick shown, and how that is said in a legend.
enum class StepKind : std::uint8_t { none, load, store, product, rest };
StepKind phase_of(const Run& run, const SmState& sm);
std::string name_of(StepKind phase);

/// "SRAM" and "24.0 KiB of 163 KiB", "free 139 KiB".
std::string space_title(Space space);
std::string space_used(Bytes used, Bytes capacity);
/// space_used() and, for little room, the used bytes alone.
std::vector<std::string> space_used_texts(Bytes used, Bytes capacity);
std::string space_free(Bytes used, Bytes capacity);

/// What a tile is to the operation of the tick, and how it is marked: "=", "a", "b" or nothing.
enum class Part : std::uint8_t { none, result, first, second };
Part part_of(const Step* step, TileId tile);
std::string part_mark(const Step* step, Part part);

/// "16,384 B"; "64 × 64".
std::string tile_size(const RecordedTile& tile);
std::string tile_shape(const RecordedTile& tile);
/// The tooltip of a tile on chip that was written last by step `written`.
std::string about_tile(const Run& run, TileId tile, Index written, Part part);

}  // namespace tilescope::show
