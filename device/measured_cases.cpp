#include "device/measured_cases.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "algorithms/contract/packed.hpp"
#include "algorithms/contract/registry.hpp"
#include "core/machine/parallel.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "device/measurements.hpp"
#include "device/reading.hpp"
#include "lab/flags/in_flags.hpp"
#include "lab/flags/values.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/mapping.hpp"
#include "lab/model/timing.hpp"
#include "lab/workload/followed.hpp"

namespace tilescope::device {
using namespace lab;
using text::message;
namespace {

constexpr double most_us_that_tells = 100;  // as in scripts/library: shorter cases show the cost of a call

std::optional<double> scaled(const std::optional<double>& x, double factor) {
    return x ? std::optional(*x * factor) : std::nullopt;
}

MeasuredCase case_of_row(const MeasuredRow& r, const MeasurementFile& f, const GpuSpec& gpu, bool library) {
    MeasuredCase c;
    c.gpu = gpu.name, c.device = f.told("device"), c.date = f.told("date"), c.library = library;
    c.experiment = {find_algorithm(r["algorithm"]), problem_of(r), {}, gpu};
    c.us = library ? r.number("us") : scaled(r.number("warm_ms"), 1000);
    c.tells_call = library && r["half"] == "one" && c.us.value_or(most_us_that_tells) < most_us_that_tells;
    if (library) return c;
    const KernelCase own = case_of(r);
    c.experiment.tiling = own.tile(), c.roles = other_roles(*own.algorithm, *own.variant);
    c.read = r.number("measured_read_bytes"), c.write = r.number("measured_write_bytes");
    c.dram_read = r.number("dram_read_bytes");
    return c;
}

/// A flag that was given: the value that it asks for, and how to get that value of a case.
struct Filter {
    std::string flag, value;
    std::function<std::string(const MeasuredCase&)> of;

    bool keeps(const MeasuredCase& c) const { return of(c) == value; }
    std::string words() const { return flag.empty() ? value : flag + ' ' + value; }
};

/// Gets a size of a case; "" where the case has no such size: the dimensions of a softmax.
std::function<std::string(const MeasuredCase&)> size_of(Index Problem::*member) {
    const bool of_heads = member == &Problem::kv_heads || member == &Problem::dim || member == &Problem::dim_v;
    return [=](const MeasuredCase& c) {
        return of_heads && !has_head_dims(c) ? std::string() : std::to_string(c.problem().*member);
    };
}

void add_sizes(std::vector<Filter>& all, const Options& o) {
    const auto add = [&](const char* flag, const std::optional<Index>& value, Index Problem::*member) {
        if (value) all.push_back({flag, std::to_string(*value), size_of(member)});
    };
    add("--batch", o.batch, &Problem::batch);
    add("--heads", o.heads, &Problem::heads);
    add("--kv-heads", o.kv_heads, &Problem::kv_heads);
    add(o.seq_q ? "--seq-q" : "--seq", o.seq_q ? o.seq_q : o.seq, &Problem::seq_q);
    add(o.seq_k ? "--seq-k" : "--seq", o.seq_k ? o.seq_k : o.seq, &Problem::seq_k);
    add("--dim", o.dim, &Problem::dim);
    add("--dim-v", o.dim_v, &Problem::dim_v);
}

void add_tiles(std::vector<Filter>& all, const Options& o) {
    const auto tile = [](Index Tiling::*member) {
        return [member](const MeasuredCase& c) {
            const Index n = c.experiment.tiling.*member;
            return n > 0 ? std::to_string(n) : std::string();
        };
    };
    if (o.br != "auto") all.push_back({"--br", o.br, tile(&Tiling::br)});
    if (o.bc != "auto") all.push_back({"--bc", o.bc, tile(&Tiling::bc)});
    if (const Index splits = to_splits("--splits", o.splits).number; splits > 0)
        all.push_back({"--splits", std::to_string(splits), tile(&Tiling::splits)});
    if (o.pack != name_of(Packing::automatic))
        all.push_back({"--pack", o.pack, [](const MeasuredCase& c) {
                           return std::string(name_of(c.experiment.problem.packed > 1 ? Packing::on : Packing::off));
                       }});
    for (const Knob* k : chosen_roles())
        if (const auto given = o.roles.find(k->name); given != o.roles.end())
            all.push_back({std::string("--") + k->name, given->second, [k](const MeasuredCase& c) {
                               return role_in_words(*c.experiment.algorithm, c.experiment.tiling, k->value);
                           }});
}

/// The filters of all flags with one value; algorithms are filtered elsewhere.
std::vector<Filter> filters_of(const MeasuredFlags& flags) {
    const Options& o = flags.options;
    std::vector<Filter> all;
    add_sizes(all, o);
    if (o.dtype)
        all.push_back({"--dtype", name_of(to_dtype(*o.dtype)),
                       [](const MeasuredCase& c) { return std::string(name_of(c.experiment.problem.dtype)); }});
    if (flags.causal)
        all.push_back({*flags.causal ? "--causal" : "--no-causal", "", [causal = *flags.causal](const MeasuredCase& c) {
                           return c.experiment.problem.mask.is_causal() == causal ? "" : "other";
                       }});
    add_tiles(all, o);
    if (!o.gpu.empty())
        all.push_back(
            {"--gpu", in_flags([&] { return load_gpu(o.gpu).name; }), [](const MeasuredCase& c) { return c.gpu; }});
    if (!flags.kernel.empty()) {
        if (flags.kernel != "tilescope" && flags.kernel != "pytorch")
            throw UsageError(message("measured_case.kernel", text::shown(flags.kernel)));
        all.push_back({"--kernel", flags.kernel, [](const MeasuredCase& c) { return std::string(c.kernel()); }});
    }
    return all;
}

/// The values of the cases, each once: numbers by size, or words by the alphabet.
std::string values_of(const MeasuredCases& cases, const Filter& f) {
    std::set<std::pair<double, std::string>> values;
    for (const MeasuredCase& c : cases)
        if (const std::string v = f.of(c); !v.empty()) values.emplace(text::to_number(v).value_or(0), v);
    std::vector<std::string> words;
    for (const auto& [number, word] : values) words.push_back(word);
    return text::join(words, ", ");
}

bool named(const MeasuredCase& c, const MeasuredFlags& flags) {
    return flags.algorithms.empty() ||
           std::ranges::find(flags.algorithms, c.experiment.algorithm->name) != flags.algorithms.end();
}

/// Names the values that each flag could have beside the others, or else all values that were measured at all.
[[noreturn]] void refuse(const MeasuredCases& all, const MeasuredFlags& flags, const std::vector<Filter>& filters) {
    std::vector<std::string> asked = flags.algorithms, there;
    std::set<std::string> seen;
    for (const Filter& f : filters) {
        if (!seen.insert(f.flag).second) continue;
        asked.push_back(f.value.empty() ? f.flag : f.words());
        if (f.value.empty()) continue;
        MeasuredCases others;
        std::ranges::copy_if(all, std::back_inserter(others), [&](const MeasuredCase& c) {
            return named(c, flags) &&
                   std::ranges::all_of(filters, [&](const Filter& g) { return g.flag == f.flag || g.keeps(c); });
        });
        const std::string beside = values_of(others, f);
        there.push_back(beside.empty() ? message("measured_case.at_all", f.flag, values_of(all, f))
                                       : message("measured_case.beside_others", f.flag, beside));
    }
    const std::string what = text::join(asked, " ");
    throw RunError(there.empty() ? message("measured_case.none", what)
                                 : message("measured_case.none_but", what, text::join(there, "; ")));
}

void add_model(MeasuredCase& c) {
    Experiment& e = c.experiment;
    if (e.tiling.br == 0) e.tiling = choose_tiling(*e.algorithm, e.problem, {}, e.gpu);
    const Report r = count_and_time(e);
    c.counted_read = static_cast<double>(r.counters.hbm_read);
    c.counted_write = static_cast<double>(r.counters.hbm_write);
    if (r.time) c.modelled_us = r.time->us();
    if (const auto dram = r.dram()) c.modelled_dram_read = static_cast<double>(dram->read);
}

void model_at_once(MeasuredCases& cases, Control* control) {
    const Index n = static_cast<Index>(cases.size());
    const Followed followed(control, n);
    at_once(n, 0, [&](Index, Index k) {
        followed.step();
        add_model(cases[static_cast<std::size_t>(k)]);
    });
}

/// What a call of the library costs on a machine, in microseconds.
double call_us(const MeasuredCases& all, const std::string& gpu, Control* control) {
    MeasuredCases telling;
    std::ranges::copy_if(all, std::back_inserter(telling),
                         [&](const MeasuredCase& c) { return c.tells_call && c.gpu == gpu; });
    model_at_once(telling, control);
    std::vector<double> left;
    for (const MeasuredCase& c : telling) left.push_back(*c.us - *c.modelled_us);
    return left.empty() ? 0 : reading_of(std::move(left)).median;
}

std::optional<double> over(const std::optional<double>& model, const std::optional<double>& measured) {
    return model && measured && *measured > 0 ? std::optional(*model / *measured) : std::nullopt;
}

std::optional<double> sum(const std::optional<double>& a, const std::optional<double>& b) {
    return a && b ? std::optional(*a + *b) : std::nullopt;
}

}  // namespace

bool has_head_dims(const MeasuredCase& c) { return c.experiment.algorithm->computes->features.has(Feature::head_dims); }

Problem MeasuredCase::problem() const { return unpacked(experiment.problem); }
std::optional<double> MeasuredCase::time_ratio() const { return over(modelled_us, us); }
std::optional<double> MeasuredCase::sm_ratio() const {
    return over(sum(counted_read, counted_write), sum(read, write));
}
std::optional<double> MeasuredCase::dram_ratio() const { return over(modelled_dram_read, dram_read); }

MeasuredCases shipped_cases() {
    MeasuredCases cases;
    for (const ShippedOn& machine : shipped_by_machine()) {
        const GpuSpec gpu = gpu_preset(machine.gpu);
        for (const bool library : {false, true})
            for (const MeasurementFile& f : library ? machine.library : machine.own)
                for (const MeasuredRow& r : f.rows)
                    if (library || r["status"] == "ok") cases.push_back(case_of_row(r, f, gpu, library));
    }
    return cases;
}

bool asks(const MeasuredFlags& flags) { return !flags.algorithms.empty() || !filters_of(flags).empty(); }

MeasuredCases asked_cases(const MeasuredCases& all, const MeasuredFlags& flags) {
    const std::vector<Filter> filters = filters_of(flags);
    MeasuredCases chosen;
    std::ranges::copy_if(all, std::back_inserter(chosen), [&](const MeasuredCase& c) {
        return named(c, flags) && std::ranges::all_of(filters, [&](const Filter& f) { return f.keeps(c); });
    });
    if (chosen.empty()) refuse(all, flags, filters);
    return chosen;
}

void add_model(MeasuredCases& chosen, const MeasuredCases& all, Control* control) {
    model_at_once(chosen, control);
    std::map<std::string, double> calls;
    for (MeasuredCase& c : chosen) {
        if (!c.library || !c.us) continue;
        if (!calls.contains(c.gpu)) calls[c.gpu] = call_us(all, c.gpu, control);
        c.call_us = calls[c.gpu];
        *c.us -= c.call_us;
    }
}

}  // namespace tilescope::device
