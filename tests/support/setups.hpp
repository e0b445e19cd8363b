// Setups as a command line would make them.
#pragma once

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "show/run/session.hpp"

namespace tilescope::show {

using Flags = std::vector<std::pair<std::string, std::string>>;

/// A setup small enough to work out every number by hand: four row tiles and four key tiles on four SMs.
inline const Flags toy = {{"gpu", "toy"}, {"seq", "16"}, {"dim", "4"},    {"heads", "1"},
                          {"br", "4"},    {"bc", "4"},   {"dtype", "f32"}};
/// Eight heads of eight row blocks on 132 SMs; four heads are recorded.
inline const Flags half = {{"seq", "512"}, {"br", "64"}, {"bc", "64"}};

/// Setups of few tiles, some of them ragged; the one for attention also has a causal mask and grouped heads.
inline const Flags small = {{"seq", "20"}, {"heads", "3"}, {"br", "4"}, {"bc", "6"}};
inline const Flags small_attention = {{"seq", "20"}, {"heads", "4"}, {"kv-heads", "2"}, {"dim", "6"},
                                      {"br", "4"},   {"bc", "6"},    {"causal", "true"}};

inline Flags with(Flags flags, std::initializer_list<std::pair<std::string, std::string>> more) {
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
}

inline Setup setup(const std::string& algorithm, const Flags& flags = {}, const std::string& rival = "") {
    Setup s;
    s.algorithm = algorithm;
    s.rival = rival;
    for (const auto& [flag, value] : flags) set_flag(s.options, flag, value);
    return s;
}
inline Setup small_setup(const Algorithm& a) {
    return setup(a.name, a.computes == &computation::softmax ? small : small_attention);
}

/// Whether a run of this setup is made quickly.
inline bool is_cheap(const Setup& setup) {
    if (!setup.recording.empty()) return true;
    const Problem p = lab::sizes_from(setup.options);
    const auto size = [](Index n) { return static_cast<double>(n); };
    return size(p.batch) * size(p.heads) * size(p.seq_q) * size(p.seq_k) <= 0x1p22 &&
           size(p.dim) * size(p.dim_v) <= 0x1p16;
}

/// Writes the file that `tilescope trace` would write for the setup `toy`. It holds these thread blocks, or all where
/// `blocks` is empty.
inline void record_to(const std::string& path, const std::vector<Index>& blocks = {}) {
    const Setup asked = setup("flash_v2", toy);
    const Algorithm& a = *find_algorithm(asked.algorithm);
    const lab::Request r = lab::resolve(asked.options, a);
    const lab::Experiment e{&a, r.problem, r.wish.tiling, r.gpu};
    Gpu gpu(e.gpu, numeric_mode, 1);
    Trace trace(gpu, {.blocks = blocks});
    gpu.listen(trace);
    lab::run_program(gpu, a, e.problem, e.tiling, lab::inputs_for(asked.options, r, a));
    std::ofstream out(path);
    lab::write_recording(out, e, lab::RandomInputs{}, trace);
}

}  // namespace tilescope::show
