#include "device/beside_measured.hpp"

#include <algorithm>
#include <cstdio>

#include "algorithms/contract/packed.hpp"
#include "algorithms/contract/pass_lists.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "core/time/rates.hpp"
#include "device/backends.hpp"
#include "lab/model/basis.hpp"
#include "lab/model/mapping.hpp"
#include "lab/model/placing.hpp"

namespace tilescope::device {
using namespace lab;
using text::message;
namespace {

/// Launching is a visible part of shorter times.
constexpr double short_us = 100;

bool is_attention(std::span<const Contender> rows) {
    return !rows.empty() && rows[0].report->experiment.algorithm->computes == &computation::attention;
}

/// What is to be computed, without how heads are packed and which launches compute it.
Problem question(const Experiment& e) {
    Problem p = unpacked(e.problem);
    p.passes.clear();
    return p;
}

bool one_question(std::span<const Contender> rows) {
    const Experiment& first = rows[0].report->experiment;
    return std::ranges::all_of(rows, [&](const Contender& c) {
        const Experiment& e = c.report->experiment;
        return question(e) == question(first) && e.gpu.name == first.gpu.name;
    });
}

/// "4 x 32 heads, N = 4,096, d = 64, causal"
std::string shape_of(const Problem& p) {
    std::string heads =
        p.batch > 1 ? message("beside.batch_and_heads", p.batch, p.heads) : message("beside.heads", p.heads);
    if (p.kv_heads != p.heads) heads = message("beside.shared_heads", heads, p.kv_heads);
    std::vector<std::string> parts = {
        heads,
        p.seq_q == p.seq_k ? message("beside.keys", p.seq_k) : message("beside.queries_and_keys", p.seq_q, p.seq_k),
        message("beside.dim", p.dim)};
    if (p.mask.is_causal()) parts.push_back(message("beside.causal"));
    return text::join(parts, ", ");
}

/// "the same work", "2.5 x this work".
std::string work_of(const Problem& measured, const Problem& asked) {
    const double ratio = work_ratio(measured, asked);
    char number[32];
    std::snprintf(number, sizeof number, "%.2g", ratio);
    return ratio == 1 ? message("beside.same_work") : message("beside.times_work", number);
}

/// The row of an algorithm with a time and these launches: the one without settings of its own, or else the first.
const Contender* row_of(std::span<const Contender> rows, const char* algorithm, const PassList& passes) {
    const Contender* found = nullptr;
    for (const Contender& c : rows) {
        const Experiment& e = c.report->experiment;
        if (!c.report->time || !algorithm || e.algorithm->name != std::string_view(algorithm)) continue;
        if (e.problem.passes == passes && (!found || c.label == algorithm)) found = &c;
    }
    return found;
}

/// What an experiment's --like names; empty where it names nothing.
std::string like_of(const Experiment& e) {
    for (const Knob& k : e.algorithm->knobs)
        if (k.value == &Tiling::like) return k.text(e.tiling);
    return "";
}

/// The row of an algorithm with a time and this --like; nullptr where there is none.
const Contender* row_named(std::span<const Contender> rows, const Like& like) {
    for (const Contender& c : rows) {
        const Experiment& e = c.report->experiment;
        if (c.report->time && e.algorithm->name == std::string_view(like.algorithm) && like_of(e) == like.named)
            return &c;
    }
    return nullptr;
}

/// The row that is nearest to a backend: that of its own list of passes, or else of the algorithm's own launches.
const Contender* row_of(std::span<const Contender> rows, const Like& like) {
    if (like.named) return row_named(rows, like);
    if (like.passes)
        if (const Contender* row = row_of(rows, like.algorithm, passes_from(like.passes))) return row;
    return row_of(rows, like.algorithm, {});
}

/// How a backend differs from a row. It also differs where the row's tiles are not the released kernel's, or its thread
/// blocks do not start in the library's order, row blocks from the first on.
std::string apart(const Like& like, const Contender* row) {
    if (row && !row->report->experiment.problem.passes.empty()) return message(like.apart_from_passes);
    if (!row && *like.without) return message(like.without);
    if (!row || *like.apart) return *like.apart ? message(like.apart) : "-";
    const Experiment& e = row->report->experiment;
    Wish same_kernel;
    same_kernel.tiling.like = e.tiling.like;
    const Tiling released = choose_tiling(*e.algorithm, e.problem, same_kernel, e.gpu);
    std::vector<std::string> others;
    if (released.br != e.tiling.br || released.bc != e.tiling.bc) others.push_back(message("beside.own_tiles"));
    const Order order = order_of(e);
    if (order != Order::rows && (order != Order::kernel || e.problem.mask.is_causal()))
        others.push_back(message("beside.order_rows"));
    if (e.placing.blocks_per_sm > 0) others.push_back(message("beside.as_many_as_fit"));
    return others.empty() ? "-" : text::join(others, "; ");
}

/// "flash_v2", "flash_v3:like=cudnn-9.19"; null where nothing models the backend.
Json modelled_by(const Like& like) {
    if (!like.algorithm) return {};
    return like.named ? std::string(like.algorithm) + ":like=" + like.named : like.algorithm;
}

/// Says what was measured, where no problem like this one was.
std::vector<std::string> nothing_like_it(const Experiment& e) {
    const std::vector<std::string> gpus = measured_gpus();
    if (e.gpu.compute_capability == "none" || gpus.empty()) return {};
    if (std::ranges::find(gpus, e.gpu.name) == gpus.end() || !was_measured(e.gpu))
        return {message("beside.other_gpus", text::listed(gpus))};
    std::vector<std::string> dims;
    for (const Index d : measured_dims(e.gpu.name)) dims.push_back(std::to_string(d));
    return {message("beside.nothing_near", text::listed(dims))};
}

/// Which kernel PyTorch chooses by itself, and whether a row models this kernel.
std::string about_choice(const BackendTimes& m, const BackendTime& choice, std::span<const Contender> rows, bool same) {
    const Contender* row = row_of(rows, m.like(*choice.backend));
    const std::string library = m.library.substr(0, m.library.find(", "));
    const std::string name = message(choice.backend->name), us = text::microseconds(choice.us);
    return row ? message(same ? "beside.choice" : "beside.choice_near", library, name, us, row->label)
               : message(same ? "beside.choice_not_modelled" : "beside.choice_near_not_modelled", library, name, us);
}

std::vector<std::string> backend_cells(const BackendTime& t, const BackendTimes& m, std::span<const Contender> rows,
                                       bool same) {
    const Like& like = m.like(*t.backend);
    const Contender* row = row_of(rows, like);
    const std::string name = message(t.backend->name);
    std::vector<std::string> cells = {t.backend == m.chosen ? message("beside.chosen", name) : name,
                                      row ? row->label : "-", apart(like, row), text::microseconds(t.us)};
    if (same) cells.push_back(row ? text::microseconds(row->report->time->us()) : "-");
    return cells;
}

Json json_of(const BackendTimes& m, const Problem& asked, bool same) {
    Json j = {{"device", m.device},
              {"library", m.library},
              {"date", m.date},
              {"same_shape", same},
              {"work_ratio", work_ratio(m.problem, asked)},
              {"batch", m.problem.batch},
              {"heads", m.problem.heads},
              {"kv_heads", m.problem.kv_heads},
              {"seq_q", m.problem.seq_q},
              {"seq_k", m.problem.seq_k},
              {"dim", m.problem.dim},
              {"dtype", name_of(m.problem.dtype)},
              {"causal", m.problem.mask.is_causal()},
              {"chosen", m.chosen ? Json(m.chosen->key) : Json()},
              {"kernels", Json::array()}};
    for (const BackendTime& t : m.times)
        j["kernels"].push_back(
            {{"kernel", t.backend->key}, {"time_us", t.us}, {"modelled_by", modelled_by(m.like(*t.backend))}});
    return j;
}

}  // namespace

BesideMeasured beside_measured(std::span<const Contender> rows) {
    BesideMeasured out;
    if (!is_attention(rows)) return out;
    if (!one_question(rows)) {
        out.before = {message("beside.one_problem")};
        return out;
    }
    const Experiment& e = rows[0].report->experiment;
    const Problem asked = question(e);
    const auto m = was_measured(e.gpu) ? backend_times(asked, e.gpu.name) : std::nullopt;
    if (!m) {
        out.before = nothing_like_it(e);
        return out;
    }
    const bool same = same_shape(m->problem, asked);
    const auto choice = std::ranges::find(m->times, m->chosen, &BackendTime::backend);
    if (choice != m->times.end()) out.before.push_back(about_choice(*m, *choice, rows, same));
    out.before.push_back(same ? message("beside.measured_here", m->device, m->library, m->date)
                              : message("beside.measured_near", shape_of(m->problem), work_of(m->problem, asked),
                                        m->device, m->library, m->date));
    if (same && rows[0].report->time && rows[0].report->time->us() < short_us)
        out.before.push_back(message("beside.launch", text::microseconds(rates_of(e.gpu).launch_us)));
    std::vector<std::string> header = {message("beside.kernel"), message("beside.model_above"),
                                       message("beside.what_otherwise"), message("beside.measured")};
    if (same) header.push_back(message("beside.modelled"));
    out.table.emplace(header, 3);
    for (const BackendTime& t : m->times) out.table->add(backend_cells(t, *m, rows, same));
    out.json = json_of(*m, asked, same);
    return out;
}

}  // namespace tilescope::device
