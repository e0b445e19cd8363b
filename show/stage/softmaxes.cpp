#include "show/stage/softmaxes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "show/stage/row_text.hpp"

namespace tilescope::show {
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

std::string verb(std::size_t subjects, const char* one, const char* many) { return subjects == 1 ? one : many; }

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
        each.push_back(std::string(p.algorithm->name) + " moved " + text::bytes(p.read + p.written));
    const float apart = difference(programs);
    return text::listed(each) +
           (apart == 0 ? " for the same result." : "; their results differ by at most " + row_number(apart) + ".");
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

std::string softmaxes_label() { return "This row in every softmax"; }

std::string softmaxes_headline(const std::vector<SoftmaxMoment>& programs) {
    if (programs.empty()) return "This query sees no key: there is no row to take a softmax of.";
    const auto gone = names(programs, lost);
    const auto whole = names(programs, [](const SoftmaxMoment& p) { return !lost(p) && !p.row.overflows; });
    const auto done = names(programs, [](const SoftmaxMoment& p) { return p.done(); });
    if (gone.size() == programs.size()) return "All of them have lost this row: a score of it is ∞.";
    if (!gone.empty())
        return text::listed(gone) + verb(gone.size(), " has", " have") + " lost this row: the sum is ∞. " +
               text::listed(whole) + verb(whole.size(), " subtracts", " subtract") + " the maximum, and " +
               verb(whole.size(), "stays", "stay") + " finite.";
    if (done.size() == programs.size()) return about_bytes(programs);
    if (!done.empty()) {
        std::vector<std::string> others;
        for (const SoftmaxMoment& p : programs)
            if (!p.done())
                others.push_back(std::string(p.algorithm->name) + " is in pass " + std::to_string(p.pass) + " of " +
                                 std::to_string(p.passes));
        return text::listed(done) + verb(done.size(), " is", " are") + " done; " + text::listed(others) + ".";
    }
    return "The same scores, in " + std::to_string(programs.size()) +
           " programs: which is done first, and which is right?";
}

std::string softmaxes_reason(const Softmaxes& s, const std::vector<SoftmaxMoment>& programs) {
    if (programs.empty()) return "";
    const std::string type = name_of(s.dtype());
    if (s.out_of_range() > 0)
        return text::counted(s.out_of_range(), "score") + " of this row " +
               verb(static_cast<std::size_t>(s.out_of_range()), "is", "are") + " more than " + type + " holds" +
               (s.dtype() == Dtype::f16 ? " (65,504)" : "") + ": stored, they are ∞, and ∞ − ∞ is NaN.";
    if (std::any_of(programs.begin(), programs.end(), lost))
        return "f32 holds exp(x) up to x = 88.7. ∞ / ∞ is NaN, and a finite number / ∞ is 0.";
    return "Executed on this row alone: " + text::counted(s.keys(), "score") + " in " + type + ", in blocks of " +
           text::grouped(std::min(s.block(), s.keys())) +
           "; the cursors move bytes equally fast. Attention spares the pass that writes: it rescales O as it goes.";
}

std::vector<std::string> softmax_counts(const SoftmaxMoment& p) {
    const std::string pass = "pass " + std::to_string(p.pass) + " of " + std::to_string(p.passes) + " · ";
    const std::string moved = pass + text::bytes(p.read) + " read, " + text::bytes(p.written) + " written";
    return {moved + " (counted)", moved, pass + text::bytes(p.read + p.written)};
}

std::string softmax_line(const SoftmaxMoment& p) {
    return p.line == 0 ? "" : p.done() ? "done" : code_of(*p.algorithm, p.line);
}

std::string softmax_sum(const SoftmaxMoment& p) {
    if (!p.row.has_sum) return "";
    return (p.pass < p.passes ? "sum so far " : "sum ") + row_number(p.row.sum);
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
