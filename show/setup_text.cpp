#include "show/setup_text.hpp"

#include "core/text/numbers.hpp"

namespace tilescope::show {
using namespace lab;
namespace {

std::string shape_text(const Tiling& t) { return std::to_string(t.br) + " × " + std::to_string(t.bc); }

}  // namespace

std::string tiling_text(const Options& o, const Tiling& now, const Problem& p) {
    const auto size = [](Index n, const std::string& given) {
        return std::to_string(n) + (given == "auto" ? " (auto)" : "");
    };
    return size(now.br, o.br) + " × " + size(now.bc, o.bc) + ": " + text::grouped(ceil_div(p.seq_q, now.br)) + " × " +
           text::grouped(ceil_div(p.seq_k, now.bc)) + " tiles";
}

std::string machine_text(const GpuSpec& gpu) {
    return "A thread block has " + text::binary_bytes(gpu.sram_per_block) + " of SRAM and " +
           text::binary_bytes(gpu.registers_per_sm) + " of registers.";
}

std::string overflow_title(const Overflow& o) {
    return o.algorithm + " with Br × Bc = " + shape_text(o.tiling) + " does not fit in " +
           (o.error.space == Space::sram ? "SRAM" : "registers");
}

std::string capacity_text(const OutOfChipMemory& e) { return "one thread block has " + text::binary_bytes(e.capacity); }

std::string need_text(const OutOfChipMemory& e) {
    return "needs " + text::binary_bytes(e.used + e.wanted.bytes) + ": " + text::binary_bytes(e.missing()) +
           " too much";
}

std::string fix_text(const Tiling& fitting) { return "Use Br × Bc = " + shape_text(fitting); }

std::string tile_size(const LiveTile& tile) { return text::binary_bytes(tile.bytes); }

std::string about_tile(const LiveTile& t) {
    return t.name + "  " + std::to_string(t.rows) + " × " + std::to_string(t.cols) + " " + name_of(t.dtype) + "  " +
           tile_size(t);
}

std::string making_text(const Job::Progress& p) {
    return p.done == 0 ? "counting"
                       : "recording " + std::to_string(100 * p.done / std::max<Index>(1, p.done + p.left)) + "%";
}

std::string problem_text(const std::string& problem) { return "This cannot run: " + problem; }

}  // namespace tilescope::show
