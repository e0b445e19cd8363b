#include "show/run/spill.hpp"

#include "algorithms/contract/algorithm.hpp"
#include "core/machine/sorted.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"

namespace tilescope::show {
using namespace lab;
using text::message;
namespace {

Experiment with_algorithm(Experiment e, const Algorithm& algorithm) {
    e.algorithm = &algorithm;
    return e;
}

bool has_room(const Experiment& e) { return memory_of(e) <= e.gpu.hbm_bytes; }

std::optional<std::pair<std::string, Bytes>> other_of(const Experiment& e, const std::string& preferred) {
    std::optional<std::pair<std::string, Bytes>> found;
    for (const Algorithm& a : algorithms()) {
        const Experiment other = with_algorithm(e, a);
        if (a.computes != e.algorithm->computes || !has_room(other)) continue;
        if (!found || a.name == preferred) found = {a.name, memory_of(other)};
    }
    return found;
}

std::optional<Index> shorter_of(Experiment e) {
    if (e.problem.seq_q != e.problem.seq_k) return std::nullopt;
    while (!has_room(e)) {
        if (e.problem.seq_q < 2) return std::nullopt;
        e.problem.seq_q = e.problem.seq_k = e.problem.seq_q / 2;
    }
    return e.problem.seq_q;
}

/// "16 × 65,536 × 65,536 f16"
std::string shape_of_spilled(const Spill::Tensor& t) {
    return message("spill.shape", t.slices, t.rows, t.cols, name_of(t.dtype));
}

}  // namespace

std::optional<Spill> spill_of(const Experiment& e, const std::string& preferred) {
    if (has_room(e)) return std::nullopt;
    Spill s{e.algorithm->name, e.gpu.name, {}, memory_of(e), e.gpu.hbm_bytes, other_of(e, preferred), shorter_of(e)};
    for (const TensorDecl& t : e.algorithm->tensors(e.problem, e.tiling))
        s.tensors.push_back(
            {t.name, t.meaning, t.slices, t.rows, t.cols, t.dtype, t.slices * t.rows * t.cols * size_of(t.dtype)});
    sort_stably(s.tensors, [](const Spill::Tensor& a, const Spill::Tensor& b) { return a.bytes < b.bytes; });
    return s;
}

std::string spill_title(const Spill& s) {
    return message("spill.title", text::bytes(s.needed), text::bytes(s.capacity), s.algorithm);
}

std::string spill_reason() { return message("spill.reason"); }

std::string rim_text(const Spill& s) { return message("spill.rim", s.gpu, text::bytes(s.capacity)); }

std::string beyond_text(const Spill& s) { return message("spill.beyond", text::bytes(s.needed - s.capacity)); }

std::string culprit_text(const Spill& s) {
    const Spill::Tensor& most = s.tensors.back();
    const double times = static_cast<double>(most.bytes) / static_cast<double>(s.capacity);
    return message(times >= 1 ? "spill.culprit" : "spill.culprit_of_part", most.name, text::bytes(most.bytes),
                   times >= 1 ? text::tenths(times) : text::percent(times), shape_of_spilled(most));
}

std::vector<std::string> spilled_tensor(const Spill::Tensor& t) {
    return {t.name + "  " + text::bytes(t.bytes), t.name};
}

std::string about_spilled(const Spill::Tensor& t) {
    return message("spill.tensor", t.name, text::bytes(t.bytes), shape_of_spilled(t));
}

std::string other_text(const Spill& s) {
    return message("spill.use_other", s.other->first, text::bytes(s.other->second));
}

std::string shorter_text(const Spill& s) { return message("spill.use_shorter", *s.shorter); }

}  // namespace tilescope::show
