#include "show/state/setups.hpp"

#include "algorithms/contract/registry.hpp"
#include "lab/flags/algorithm_named.hpp"
#include "lab/flags/table.hpp"

namespace tilescope::show {
using namespace lab;
namespace {

constexpr Index first_dim = 128;

}  // namespace

Setup first_setup(Setup asked) {
    if (asked == Setup()) {
        asked.options.seq = 512, asked.options.heads = 1, asked.options.causal = true;
        asked.options.dim = first_dim;
        return asked;
    }
    const Options& o = asked.options;
    if (!o.dim && o.model.empty() && (asked.recording + o.q + o.k + o.v).empty()) asked.options.dim = first_dim;
    return asked;
}

const std::vector<Example>& examples() {
    static const std::vector<Example> all = {
        {"examples.blackboard",
         "examples.about_blackboard",
         {{"gpu", "toy"}, {"seq", "16"}, {"dim", "4"}, {"heads", "1"}, {"br", "4"}, {"bc", "4"}, {"dtype", "f32"}}},
        {"examples.one_head",
         "examples.about_one_head",
         {{"seq", "256"}, {"dim", "64"}, {"heads", "1"}, {"br", "64"}, {"bc", "64"}}},
        {"examples.gpt2_layer",
         "examples.about_gpt2_layer",
         {{"heads", "12"}, {"seq", "1024"}, {"dim", "64"}, {"causal", "true"}}},
        {"examples.long_context", "examples.about_long_context", {{"heads", "16"}, {"seq", "16384"}, {"dim", "128"}}},
        {"examples.does_not_fit", "examples.about_does_not_fit", {{"dim", "128"}, {"br", "512"}, {"bc", "512"}}},
        {"examples.race",
         "examples.about_race",
         {{"seq", "256"}, {"dim", "64"}, {"heads", "1"}, {"br", "64"}, {"bc", "64"}},
         true},
    };
    return all;
}

std::vector<const Algorithm*> rivals_of(const Algorithm& algorithm) {
    std::vector<const Algorithm*> all;
    for (const Algorithm& a : algorithms())
        if (a.computes == algorithm.computes && std::string_view(a.name) != algorithm.name) all.push_back(&a);
    return all;
}

Setup with_algorithm(Setup s, const std::string& name) {
    const Algorithm& algorithm = algorithm_named(name);
    const Algorithm* before = find_algorithm(s.algorithm);
    s.algorithm = name;
    const auto has_heads = [](const Algorithm& a) { return a.computes->features.has(Feature::head_dims); };
    if (!has_heads(algorithm)) {
        while (const char* flag = attention_flag(s.options)) clear_flag(s.options, flag);
        s.options.q.clear(), s.options.k.clear(), s.options.v.clear();
    } else {
        if (before && !has_heads(*before)) s.options.dim = first_dim;  // a softmax has no head dimension
        s.options.x.clear();
    }
    if (!has_splits(algorithm.knobs)) clear_flag(s.options, "splits");
    for (const Knob* k : knobs_of_roles())
        if (!has_knob(algorithm.knobs, k->value)) clear_flag(s.options, k->name);
    if (!algorithm.packs) clear_flag(s.options, "pack");
    const Algorithm* rival = find_algorithm(s.rival);
    if (!rival || rival->computes != algorithm.computes || s.rival == name) s.rival.clear();
    return s;
}

Setup with_model_of(Setup s, const std::string& model, Phase phase) {
    for (const char* flag : {"heads", "kv-heads", "seq", "seq-q", "seq-k", "dim", "dim-v", "dtype", "causal", "scale"})
        clear_flag(s.options, flag);
    s.options.q.clear(), s.options.k.clear(), s.options.v.clear(), s.options.layout.reset(), s.options.bits16.clear();
    s.options.model = model, s.options.phase = phase == Phase::decode ? name_of(phase) : "";
    return first_setup(s);
}

Setup setup_of(const Example& example, const std::string& algorithm) {
    Setup s;
    for (const auto& [flag, value] : example.flags) set_flag(s.options, flag, value);
    s = with_algorithm(s, algorithm);
    if (example.race) {
        const auto rivals = rivals_of(algorithm_named(algorithm));
        const bool first = algorithm_named(algorithm).lineage.rung < rivals.front()->lineage.rung;
        s.rival = (first ? rivals.back() : rivals.front())->name;
        s.pace = Pace::bytes;
    }
    return s;
}

}  // namespace tilescope::show
