#include "device/validate_cases.hpp"

#include <algorithm>

#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "device/survey.hpp"
#include "lab/flags/algorithm_named.hpp"
#include "lab/flags/command.hpp"
#include "lab/flags/gpu.hpp"
#include "lab/flags/table.hpp"
#include "lab/flags/values.hpp"
#include "lab/gpu/gpu_presets.hpp"

namespace tilescope::device {
using namespace lab;
using text::message;
namespace {

/// Whether a GPU can run a kernel. Without one, the GPUs that kernels are written for are meant.
bool runs_on(const std::optional<Device>& device, const KernelVariant& v) {
    if (!device) return true;
    return v.shared() <= device->shared_per_block && (!v.hopper || device->compute_capability == "9.0");
}

bool has_files(const Options& o) { return !(o.q + o.k + o.v + o.x).empty(); }

std::vector<const Algorithm*> named(const std::vector<std::string>& names) {
    std::vector<const Algorithm*> list;
    for (const std::string& n : names) {
        list.push_back(&algorithm_named(n));
        if (kernels_of(*list.back()).empty())
            throw UsageError(
                message("validated.no_kernel", n, shell_line(lab::command_of({"tilescope", "run"}, n, {}))));
    }
    return list;
}

/// All algorithms that have kernels and that the flags apply to.
std::vector<const Algorithm*> all_for(const Options& o) {
    const bool splits = o.splits != Options().splits, packs = o.pack == name_of(Packing::on);
    std::vector<const Algorithm*> list;
    for (const Algorithm& a : algorithms())
        if (!kernels_of(a).empty() && (a.computes->features.has(Feature::head_dims) || !attention_flag(o)) &&
            (has_splits(a.knobs) || !splits) && (a.packs || !packs))
            list.push_back(&a);
    return list;
}

/// "f32 64: 64x64 128x64; f16 64/32: ...": what an algorithm has kernels for.
std::string offers(const Algorithm& a) {
    std::vector<std::pair<std::string, std::string>> groups;
    for (const KernelVariant& v : kernels_of(a)) {
        std::string key = name_of(v.dtype);
        if (v.dim > 0) key += " d=" + std::to_string(v.dim);
        if (v.dim_v != v.dim) key += " dv=" + std::to_string(v.dim_v);
        const std::string tile = ' ' + std::to_string(v.tile.br) + 'x' + std::to_string(v.tile.bc);
        const auto same = std::ranges::find(groups, key, &std::pair<std::string, std::string>::first);
        if (same == groups.end())
            groups.emplace_back(key, tile);
        else if ((same->second + ' ').find(tile + ' ') == std::string::npos)  // else they differ in roles alone
            same->second += tile;
    }
    std::string all;
    for (const auto& [key, tiles] : groups) all += (all.empty() ? "" : "; ") + key + ':' + tiles;
    return all;
}

/// "flash_v2 --dtype f32 --br 64 --bc 64, ...": the kernels of the same computation that take the problem's scores and
/// head dimensions.
std::string takers(const Computation& computation, const Problem& p) {
    std::vector<std::string> names;
    for (const Algorithm& a : algorithms())
        for (const KernelVariant& v : kernels_of(a)) {
            if (a.computes != &computation) continue;
            Problem own = p;
            own.packed = 1, own.dtype = v.dtype;
            if (!v.serves(own)) continue;
            names.push_back(std::string(a.name) + " --dtype " + name_of(v.dtype) + " --br " +
                            std::to_string(v.tile.br) + " --bc " + std::to_string(v.tile.bc));
        }
    return text::join(names, ", ");
}

/// Throws, and names the flags that no kernel serves.
[[noreturn]] void refuse(const Algorithm& a, const Request& r, const Options& o) {
    const Problem p = problem_of(a, r);
    if (p.packed > 1 && p.queries() > 1 && p.mask.hides()) throw UsageError(message("validated.packed_mask"));
    if (p.packed > 1 && p.corner == Corner::top_left) throw UsageError(message("validated.packed_corner"));
    if (const auto f = without_kernel(p))
        throw UsageError(message("validated.no_kernel_has", flag_of(*f, o), name_of(*f)));
    if (p.dropout.stored) throw UsageError(message("validated.stored_dropout"));
    if (p.packed > 1 && !scores_are_plain(p)) throw UsageError(message("validated.packed_scores", score_flag(o)));
    std::string asked = std::string("--dtype ") + name_of(p.dtype);
    if (a.computes->features.has(Feature::head_dims))
        asked += " --dim " + std::to_string(p.dim) + " --dim-v " + std::to_string(p.dim_v);
    if (!scores_are_plain(p)) {
        const std::string who = takers(*a.computes, p);
        throw UsageError(who.empty() ? message("validated.no_scores", score_flag(o), a.name, asked)
                                     : message("validated.others_take_scores", score_flag(o), a.name, asked, who));
    }
    if (r.wish.tiling.br > 0) asked += " --br " + std::to_string(r.wish.tiling.br);
    if (r.wish.tiling.bc > 0) asked += " --bc " + std::to_string(r.wish.tiling.bc);
    for (const Knob& k : a.knobs)
        if (!k.is_size && r.wish.tiling.*k.value > 0)
            asked += std::string(" --") + k.name + ' ' + k.text(r.wish.tiling);
    throw UsageError(message("validated.no_such_kernel", asked, a.name, offers(a)));
}

/// The kernels that serve a request: the default of them, or, with `all`, each.
std::vector<KernelCase> matching(const Algorithm& a, const Request& r, const GpuSpec& gpu, bool all,
                                 const std::optional<Device>& device) {
    const Problem problem = problem_of(a, r);
    const Index splits = with_splits(r.wish, a, problem, gpu).tiling.splits;
    std::vector<KernelCase> cases;
    for (const KernelVariant& v : kernels_of(a)) {
        const bool tiles = (r.wish.tiling.br == 0 || r.wish.tiling.br == v.tile.br) &&
                           (r.wish.tiling.bc == 0 || r.wish.tiling.bc == v.tile.bc);
        if (!tiles || !v.serves(problem) || !runs_on(device, v)) continue;
        Tiling own = v.tile;
        own.splits = splits;
        const Tiling tile = completed(own, a, problem, gpu);
        const auto differs = [&](const Knob& k) {
            return !k.is_size && r.wish.tiling.*k.value > 0 && r.wish.tiling.*k.value != tile.*k.value;
        };
        if (std::ranges::any_of(a.knobs, differs)) continue;
        cases.push_back({&a, &v, problem, tile.splits});
    }
    if (all || cases.empty()) return cases;
    const auto causal = std::ranges::find_if(cases, [](const KernelCase& c) { return c.variant->causal; });
    return {problem.mask.is_causal() && causal != cases.end() ? *causal : cases.front()};
}

void add_requested(ValidateRequest& all, const ValidateFlags& flags, const std::optional<Device>& device,
                   Control* control) {
    Options o = flags.options;
    if (!o.dtype && !has_files(o)) o.dtype = "f32";
    if (o.page_size) throw UsageError(message("validated.pages", std::to_string(*o.page_size)));
    const bool by_name = !flags.algorithms.empty();
    for (const Algorithm* a : by_name ? named(flags.algorithms) : all_for(o)) {
        Request r = lab::resolve(o, *a, control);
        const auto cases = matching(*a, r, all.gpu, flags.all_tiles, device);
        if (cases.empty() && by_name) refuse(*a, r, o);
        if (cases.empty()) all.left_out.emplace_back(a->name);
        all.cases.insert(all.cases.end(), cases.begin(), cases.end());
        all.remark = std::move(r.remark), all.notes = std::move(r.notes);
        all.inputs = std::move(r.inputs);
        all.file_rank = r.file_rank;
    }
    if (all.cases.empty()) refuse(*find_algorithm("flash_v2"), lab::resolve(o, computation::attention), o);
    if (!o.out.empty() && all.cases.size() != 1)
        throw UsageError(message("validated.one_output", text::shown(o.out), std::to_string(all.cases.size())));
}

void add_survey(ValidateRequest& all, const ValidateFlags& flags, const std::optional<Device>& device) {
    if (flags.survey != "quick" && flags.survey != "full")
        throw UsageError(message("validated.survey", text::shown(flags.survey)));
    const auto only = named(flags.algorithms);
    for (const KernelCase& c : flags.survey == "quick" ? quick_survey() : full_survey())
        if ((only.empty() || std::ranges::find(only, c.algorithm) != only.end()) && runs_on(device, *c.variant))
            all.cases.push_back(c);
}

/// Keeps the k-th of n parts, of about equal size.
void keep_part(std::vector<KernelCase>& cases, const std::string& part) {
    const std::size_t slash = part.find('/');
    const auto wrong = [&] { return UsageError(message("validated.part", text::shown(part))); };
    if (slash == std::string::npos) throw wrong();
    const Index k = to_index("--part", part.substr(0, slash)), n = to_index("--part", part.substr(slash + 1));
    if (k < 1 || n < k || n > 10000) throw wrong();
    const Index size = static_cast<Index>(cases.size());
    cases = {cases.begin() + (k - 1) * size / n, cases.begin() + k * size / n};
}

}  // namespace

std::string score_flag(const Options& o) {
    constexpr FeatureSet of_scores = {Feature::mask,  Feature::block_mask, Feature::documents, Feature::bias,
                                      Feature::alibi, Feature::soft_cap,   Feature::dropout};
    for (const Flag& flag : flags()) {
        if (!flag.asks_for || !of_scores.has(*flag.asks_for) || !flag.given(o) ||
            flag.name == std::string_view("causal"))
            continue;
        Problem p;
        if (flag.ask) flag.ask(o, p);
        if (!flag.ask || p.uses(*flag.asks_for)) return flag.as_given(o);  // --alibi=false asks for nothing
    }
    return "";
}

ValidateRequest resolve(const ValidateFlags& flags, const std::optional<Device>& device, Control* control) {
    const Options& o = flags.options;
    ValidateRequest r;
    r.distribution = to_distribution(o.distribution);
    if ((has_files(o) || !o.out.empty()) && flags.algorithms.size() != 1)
        throw UsageError(message("validated.files_of_one"));
    r.gpu = gpu_from(o);
    flags.survey.empty() ? add_requested(r, flags, device, control) : add_survey(r, flags, device);
    if (!flags.part.empty()) keep_part(r.cases, flags.part);
    return r;
}

}  // namespace tilescope::device
