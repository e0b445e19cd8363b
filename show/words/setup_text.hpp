// The texts about a setup: its tiles, its machine, and why it does not run.
#pragma once

#include <string>

#include "lab/workload/model_presets.hpp"
#include "show/run/session.hpp"

namespace tilescope::show {

/// "64 (auto) × 128: 16 × 8 tiles".
std::string tiling_text(const lab::Options& options, const Tiling& tiling, const Problem& problem);
/// How tile sizes are chosen that are not given, with the released kernel that `algorithm` has its tiles from.
std::string tile_rule_text(const lab::Request* request, const Algorithm& algorithm);
std::string about_rule(lab::TileRule rule);
/// The number of parts that keys are cut into; `own_rule`: the algorithm has a rule for that number.
std::string about_parts(bool own_rule);
/// How this rule chooses the number of parts.
std::string about_rule(lab::SplitRule rule);
/// Which tiles hold the rows of query heads that share K and V.
std::string about_packing(lab::Packing packing);
/// "Llama 3 8B, a prompt at once: 32 heads of queries, 8 of keys, d = 128, N = 8,192, bf16.".
std::string about_model(const lab::Model& model, lab::Phase phase);
/// In which order thread blocks start.
std::string about_order(Order order);
/// What generated inputs of this distribution show.
std::string about_distribution(lab::Distribution distribution);
/// What a thread block has on chip.
std::string machine_text(const GpuSpec& gpu);

/// For tiles that do not fit. overflow_title(): with the sizes that were given and those that were chosen.
/// capacity_text(), need_text(): what there is, and what the tiles need. fix_text(): the way out.
std::string overflow_title(const Overflow& o);
std::string capacity_text(const OutOfChipMemory& e);
std::string need_text(const OutOfChipMemory& e);
std::string fix_text(const Tiling& fitting);
/// "128 KiB"; "Q  1024 × 64 f16  128 KiB".
std::string tile_size(const LiveTile& tile);
std::string about_tile(const LiveTile& tile);

/// While something is in the making: "counting", "recording 43%".
std::string making_text(const Job::Progress& progress);

/// Below a picture of a run: what was asked for, and where its numbers come from.
std::string caption_text(const Session& session, bool of_time);

/// What looks wrong about the input files, and what was done with their numbers; empty where there is nothing to say.
std::string about_files_text(const Session& session);

/// The text for a setup that is wrong.
std::string problem_text(const std::string& problem);

}  // namespace tilescope::show
