#include "show/stage/softmaxes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "algorithms/contract/pseudo_code.hpp"
#include "core/machine/conversions.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "show/stage/row_text.hpp"

namespace tilescope::show {
using text::message;
namespace {

Problem one_row(Index keys, Dtype dtype) {
    Problem p;
    p.heads = p.kv_heads = 1;
    p.seq_q = 1, p.seq_k = keys;
    p.dtype = dtype;
    return p;
}

/// The scores, as the only input of the program.
InputsFor inputs_of(const Algorithm& algorithm, std::span<const float> scores) {
    return [&algorithm, scores](const Problem& p) {
        Inputs inputs;
        for (const TensorDecl& t : algorithm.tensors(p, {1, 1})) {
            if (t.role != Role::input) continue;
            auto x = std::make_shared<Storage>(t.dtype, t.slices, t.rows, t.cols);
            x->write(0, scores);
            inputs.emplace(t.name, std::move(x));
        }
        return inputs;
    };
}

Index count_infinite(std::span<const float> scores) {
    return std::count_if(scores.begin(), scores.end(), [](float x) { return std::isinf(x); });
}

bool lost(const SoftmaxMoment& p) {
    const auto no_number = [](const std::optional<float>& v) { return v && !std::isfinite(*v); };
    return (p.row.has_sum && !std::isfinite(p.row.sum)) || std::any_of(p.result.begin(), p.result.end(), no_number);
}

template <class F>
std::vector<std::string> names(const std::vector<SoftmaxMoment>& programs, F&& wanted) {
    std::vector<std::string> names;
    for (const SoftmaxMoment& p : programs)
        if (wanted(p)) names.emplace_back(p.algorithm->name);
    return names;
}

/// The largest difference of any program's result from that of the first program.
float difference(const std::vector<SoftmaxMoment>& programs) {
    float most = 0;
    for (const SoftmaxMoment& p : programs)
        for (std::size_t k = 0; k < p.result.size(); ++k)
            most = std::max(most, std::abs(*p.result[k] - *programs[0].result[k]));
    return most;
}

std::string about_bytes(const std::vector<SoftmaxMoment>& programs) {
    std::vector<std::string> each;
    for (const SoftmaxMoment& p : programs)
        each.push_back(message("softmaxes.moved", p.algorithm->name, text::bytes(p.read + p.written)));
    const float apart = difference(programs);
    if (apart == 0) return message("softmaxes.same_result", text::listed(each));
    return message("softmaxes.results_differ", text::listed(each), row_number(apart));
}

}  // namespace

Softmaxes::Program::Program(const Algorithm& algorithm, const Problem& problem, const RowStory& of,
                            std::span<const float> scores)
    : run(count_for_show({&algorithm,
                          problem,
                          {1, std::min(problem.seq_k, of.run().experiment().tiling.bc)},
                          of.run().experiment().gpu}),
          1, inputs_of(algorithm, scores)),
      story(run, 0, 0) {}

Softmaxes::Softmaxes(const Run& run, const RowStory& story)
    : block_(run.experiment().tiling.bc), dtype_(run.recorded().dtype) {
    std::vector<float> scores;
    for (const RowKey& key : story.at(run.ticks()).keys)
        if (key.state == RowKey::State::known) scores.push_back(key.score);
    keys_ = static_cast<Index>(scores.size());
    if (keys_ == 0) return;
    const Index infinite = count_infinite(scores);
    for (const Algorithm& a : algorithms())
        if (a.computes == &computation::softmax)
            programs_.push_back(std::make_unique<Program>(a, one_row(keys_, dtype_), story, scores));
    round_to(dtype_, scores.data(), keys_);
    out_of_range_ = count_infinite(scores) - infinite;
}

std::vector<SoftmaxMoment> Softmaxes::at(double share) const {
    Bytes most = 0;
    for (const auto& p : programs_) most = std::max(most, p->run.hbm(p->run.ticks()));
    const auto moved = static_cast<Bytes>(std::floor(std::clamp(share, 0.0, 1.0) * static_cast<double>(most)));
    std::vector<SoftmaxMoment> programs;
    for (const auto& p : programs_) {
        const Run& run = p->run;
        Index tick = 0;
        while (tick < run.ticks() && run.hbm(tick + 1) <= moved) ++tick;
        SoftmaxMoment m;
        m.algorithm = &run.algorithm();
        m.row = p->story.at(tick);
        m.result.resize(static_cast<std::size_t>(keys_));
        for (Index k = 0; k < run.schedule().steps_after(tick); ++k) {
            const Step& s = run.trace()[k];
            if (works(s.kind()) || s.moves_data()) m.line = s.event.line;
            if (s.kind() != Kind::store) continue;
            const auto values = run.trace().values(s);
            std::copy(values.begin(), values.end(),
                      m.result.begin() + static_cast<std::ptrdiff_t>(s.event.region.cols.begin));
        }
        m.pass = p->story.passes(tick), m.passes = p->story.passes(run.ticks());
        m.read = run.hbm_read(tick), m.written = run.hbm_sent(tick);
        programs.push_back(std::move(m));
    }
    return programs;
}

const Softmaxes& SoftmaxesOfRows::of(const Run& run, const RowStory& story, std::uint64_t version) {
    return told_.of(version, {&run, story.head(), story.query()}, [&] { return Softmaxes(run, story); });
}

std::string softmaxes_label() { return message("softmaxes.label"); }

std::string softmaxes_headline(const std::vector<SoftmaxMoment>& programs) {
    if (programs.empty()) return message("softmaxes.no_key");
    const auto gone = names(programs, lost);
    const auto whole = names(programs, [](const SoftmaxMoment& p) { return !lost(p) && !p.row.overflows; });
    const auto done = names(programs, [](const SoftmaxMoment& p) { return p.done(); });
    if (gone.size() == programs.size()) return message("softmaxes.all_lost");
    if (!gone.empty())
        return message("softmaxes.lost", text::listed(gone), gone.size(), text::listed(whole), whole.size());
    if (done.size() == programs.size()) return about_bytes(programs);
    if (!done.empty()) {
        std::vector<std::string> others;
        for (const SoftmaxMoment& p : programs)
            if (!p.done())
                others.push_back(
                    message("softmaxes.in_pass", p.algorithm->name, std::to_string(p.pass), std::to_string(p.passes)));
        return message("softmaxes.done", text::listed(done), done.size(), text::listed(others));
    }
    return message("softmaxes.question", std::to_string(programs.size()));
}

std::string softmaxes_reason(const Softmaxes& s, const std::vector<SoftmaxMoment>& programs) {
    if (programs.empty()) return "";
    const std::string type = name_of(s.dtype());
    if (s.out_of_range() > 0)
        return message(s.dtype() == Dtype::f16 ? "softmaxes.more_than_f16" : "softmaxes.more_than_type",
                       s.out_of_range(), type);
    if (std::any_of(programs.begin(), programs.end(), lost)) return message("row.exp_in_f32");
    return message("softmaxes.executed", s.keys(), type, std::min(s.block(), s.keys()));
}

std::vector<std::string> softmax_counts(const SoftmaxMoment& p) {
    const std::string pass = std::to_string(p.pass), passes = std::to_string(p.passes), read = text::bytes(p.read),
                      written = text::bytes(p.written);
    return {message("softmaxes.counted", pass, passes, read, written),
            message("softmaxes.traffic", pass, passes, read, written),
            message("softmaxes.traffic_in_all", pass, passes, text::bytes(p.read + p.written))};
}

std::string softmax_line(const SoftmaxMoment& p) {
    return p.line == 0 ? "" : p.done() ? message("softmaxes.line_done") : code_of(*p.algorithm, p.line);
}

std::string softmax_sum(const SoftmaxMoment& p) {
    if (!p.row.has_sum) return "";
    return message(p.pass < p.passes ? "softmaxes.sum_so_far" : "softmaxes.sum", row_number(p.row.sum));
}

std::vector<std::string> softmax_result(const SoftmaxMoment& p) {
    Index nan = 0, zero = 0;
    for (const auto& v : p.result) nan += v && std::isnan(*v), zero += v && *v == 0;
    if (nan == 0) return {""};
    if (!p.row.has_sum || !std::isinf(p.row.sum)) return {"NaN: " + text::grouped(nan)};
    const std::string lost = "∞ / ∞ = NaN: " + text::grouped(nan);
    return {lost + " · x / ∞ = 0: " + text::grouped(zero), lost};
}

}  // namespace tilescope::show
