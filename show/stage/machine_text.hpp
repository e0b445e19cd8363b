// The texts about the machine: what crosses which boundary, and how much of it the L2 answers.
#pragma once

#include <string>
#include <vector>

#include "show/stage/l2_shown.hpp"
#include "show/stage/wall_text.hpp"

namespace tilescope::show {

/// What the SMs load or store in the tick shown, and where loaded bytes come from.
Sentence machine_headline(const Run& run, const L2Shown& l2);
/// The size of the tensors relative to the L2's, and the share of reads that the L2 answered so far.
std::string machine_reason(const Run& run, const L2Shown& l2);

/// Bytes per second. l2_rate(): from the L2 to all SMs together, as in the time model. dram_rate(): from HBM.
double l2_rate(const Run& run);
double dram_rate(const Run& run);
/// "DRAM 3.35 TB/s"; "L2 5.57 TB/s · 42.2 GB/s for each SM": the longest version first.
std::vector<std::string> dram_pipe_text(const Run& run);
std::vector<std::string> l2_pipe_text(const Run& run);
std::string about_pipes(const Run& run);

/// "L2 50.0 MiB · 264 kB held".
std::vector<std::string> l2_titles(const Run& run, const L2Shown& l2);
/// "this operation: 24.6 kB asked for, 8.19 kB from DRAM", the longest version first.
std::vector<std::string> l2_answer(const Run& run, const L2Shown& l2);
std::string about_l2(const Run& run);
/// "K: 57.3 kB of 65.5 kB held".
std::string about_held(const Run& run, const L2Shown& l2, TensorId tensor);

/// "264 kB DRAM traffic, modelled".
std::string dram_text(Bytes bytes);

}  // namespace tilescope::show
