#include "show/words/setup_text.hpp"

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/version.hpp"
#include "core/text/words.hpp"
#include "lab/model/published_tiles.hpp"
#include "lab/run/covers.hpp"

namespace tilescope::show {
using namespace lab;
using text::message;
namespace {

std::string shape_text(const Tiling& t) { return std::to_string(t.br) + " × " + std::to_string(t.bc); }

}  // namespace

std::string tiling_text(const Options& o, const Tiling& now, const Problem& p) {
    const auto size = [](Index n, const std::string& given) {
        return given == "auto" ? message("setup.automatic", std::to_string(n)) : std::to_string(n);
    };
    const std::string br = size(now.br, o.br), bc = size(now.bc, o.bc);
    const Index rows = ceil_div(p.seq_q, now.br), cols = ceil_div(p.seq_k, now.bc);
    return now.splits > 0 ? message("setup.tiling_and_parts", br, bc, rows, cols, now.splits)
                          : message("setup.tiling", br, bc, rows, cols);
}

std::string tile_rule_text(const Request* r, const Algorithm& algorithm) {
    if (!r) return message("setup.tile_rule");
    const PublishedTiles kernel = published_tiles(algorithm, r->problem, r->gpu);
    return text::sentences(
        {message("setup.tile_rule"), message("setup.tile_rule_of_kernel", shape_text(kernel.tiling), kernel.source)});
}

std::string about_rule(TileRule rule) {
    switch (rule) {
        case TileRule::paper:
            return message("setup.tiles_of_paper");
        case TileRule::best:
            return message("setup.tiles_best");
        default:
            return message("setup.tiles_of_kernel");
    }
}

std::string about_parts(bool own_rule) {
    return message(own_rule ? "setup.parts_by_algorithm" : "setup.parts_by_rule");
}

std::string about_rule(SplitRule rule) {
    return message(rule == SplitRule::fa2 ? "setup.parts_of_fa2" : "setup.parts_of_fa3");
}

std::string about_packing(Packing packing) {
    switch (packing) {
        case Packing::on:
            return message("setup.packing_on");
        case Packing::off:
            return message("setup.packing_off");
        default:
            return message("setup.packing_auto");
    }
}

std::string about_model(const Model& model, Phase phase) {
    const ModelShape& m = model.in(phase);
    return message(phase == Phase::decode ? "setup.model_decodes" : "setup.model_reads_prompt", model.title, m.heads,
                   m.kv_heads.value_or(m.heads), m.dim, m.seq, m.dtype);
}

std::string about_distribution(Distribution distribution) {
    switch (distribution) {
        case Distribution::normal:
            return message("setup.inputs_normal");
        case Distribution::uniform:
            return message("setup.inputs_uniform");
        case Distribution::outliers:
            return message("setup.inputs_outliers");
        case Distribution::sentence:
            return message("setup.inputs_sentence");
        case Distribution::band:
            return message("setup.inputs_band");
        case Distribution::sink:
            return message("setup.inputs_sink");
        case Distribution::new_maximum:
            return message("setup.inputs_new_maximum");
        default:
            return message("setup.inputs_large");
    }
}

std::string about_order(Order order) {
    switch (order) {
        case Order::heads:
            return message("setup.order_heads");
        case Order::rows:
            return message("setup.order_rows");
        case Order::longest:
            return message("setup.order_longest");
        case Order::snake:
            return message("setup.order_snake");
        case Order::longest_in_l2:
            return message("setup.order_longest_in_l2");
        default:
            return message("setup.order_auto");
    }
}

std::string machine_text(const GpuSpec& gpu) {
    return message("setup.machine", text::binary_bytes(gpu.sram_per_block), text::binary_bytes(gpu.registers_per_sm));
}

std::string overflow_title(const Overflow& o) {
    const std::string space = message(o.error.space == Space::sram ? "setup.sram" : "setup.registers");
    const auto sizes = [](const Tiling& t) {
        if (t.br > 0 && t.bc > 0) return "Br × Bc = " + shape_text(t);
        return t.br > 0 ? "Br = " + std::to_string(t.br) : "Bc = " + std::to_string(t.bc);
    };
    Tiling chosen = o.tiling;
    if (o.given.br > 0) chosen.br = 0;
    if (o.given.bc > 0) chosen.bc = 0;
    const bool some = o.given.br > 0 || o.given.bc > 0, completed = chosen.br > 0 || chosen.bc > 0;
    if (some && completed)
        return message("setup.overflow_with_given", o.algorithm, space, sizes(o.given), sizes(chosen));
    if (some || completed)
        return message(some ? "setup.overflow_with" : "setup.overflow_even_with", o.algorithm, space,
                       sizes(some ? o.given : chosen));
    return message("setup.overflow", o.algorithm, space);
}

std::string capacity_text(const OutOfChipMemory& e) {
    return message("setup.capacity", text::binary_bytes(e.capacity));
}

std::string need_text(const OutOfChipMemory& e) {
    return message("setup.need", text::binary_bytes(e.used + e.wanted.bytes), text::binary_bytes(e.missing()));
}

std::string fix_text(const Tiling& fitting) { return message("setup.fix", shape_text(fitting)); }

std::string tile_size(const LiveTile& tile) { return text::binary_bytes(tile.bytes); }

std::string about_tile(const LiveTile& t) {
    return t.name + "  " + std::to_string(t.rows) + " × " + std::to_string(t.cols) + " " + name_of(t.dtype) + "  " +
           tile_size(t);
}

std::string making_text(const Job::Progress& p) {
    return p.done == 0 ? message("setup.counting")
                       : message("setup.recording", std::to_string(100 * p.done / std::max<Index>(1, p.done + p.left)));
}

std::string caption_text(const Session& session, bool of_time) {
    if (!session.request()) return "";
    const Problem& p = session.request()->problem;
    const std::string& algorithm = session.setup().algorithm;
    const Index heads = p.batch * p.heads;
    std::vector<std::string> said = {
        session.rival() ? message("setup.race", algorithm, session.rival()->algorithm().name) : algorithm,
        p.seq_q == p.seq_k ? "N = " + text::grouped(p.seq_q) : message("setup.queries_and_keys", p.seq_q, p.seq_k),
        "d = " + text::grouped(p.dim), heads == 1 ? message("setup.one_head") : message("setup.heads", heads)};
    if (p.mask.is_causal()) said.push_back(mask_words(p));
    if (session.tiling() && !session.rival()) said.push_back(message("setup.tiles", shape_text(*session.tiling())));
    return message(of_time ? "setup.caption_of_time" : "setup.caption_of_traffic", text::join(said, ", "),
                   text::version());
}

std::string about_files_text(const Session& session) {
    if (!session.request()) return "";
    std::vector<std::string> said = session.request()->notes;
    if (const std::string& remark = session.request()->remark; !remark.empty()) said.insert(said.begin(), remark);
    return text::join(said, "; ");
}

std::string problem_text(const std::string& problem) { return message("setup.cannot_run", problem); }

}  // namespace tilescope::show
