#include "lab/flags/supported.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "algorithms/contract/feature_names.hpp"
#include "algorithms/contract/kernel_description.hpp"
#include "algorithms/contract/refusal.hpp"
#include "algorithms/contract/registry.hpp"
#include "algorithms/contract/validate.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/flags/table.hpp"
#include "lab/flags/values.hpp"
#include "lab/workload/packing.hpp"
#include "lab/workload/splits.hpp"

namespace tilescope::lab {
using text::message;
namespace {

/// Refuses `flag`. The message names algorithms for which does() is true.
[[noreturn]] void refuse(const char* id, const std::string& flag, const Algorithm& algorithm,
                         const std::function<bool(const Algorithm&)>& does) {
    const std::vector<std::string> names = names_of(who_does(*algorithm.computes, does));
    throw UsageError(message(id, flag, algorithm.name, text::join(names, ", "), names.size()));
}

/// Refuses a knob that is no size and that the algorithm lacks. Where several algorithms run, one of them may have it.
[[noreturn]] void refuse_knob(const Knob& k, const std::string& value, const Algorithm& algorithm) {
    std::vector<std::string> names;
    for (const Algorithm& a : algorithms())
        if (has_knob(a.knobs, k.value)) names.push_back(a.name);
    throw UsageError(message("request.has_no_knob", std::string("--") + k.name + ' ' + text::shown(value),
                             algorithm.name, text::join(names, ", "), names.size(),
                             names[0] + ':' + k.name + '=' + text::shown(value)));
}

void check_packing(const Algorithm& algorithm, const Problem& p, const Options& o) {
    if (o.pack != name_of(Packing::on)) return;
    if (!algorithm.packs)
        refuse("request.packs_no_heads", "--pack on", algorithm, [](const Algorithm& a) { return a.packs; });
    if (p.bias.by_head_or_query()) throw UsageError(message("request.bias_of_packed_heads", o.bias));
    if (p.heads == p.kv_heads)
        throw UsageError(message("request.nothing_to_pack", std::to_string(p.heads % 4 == 0 ? p.heads / 4 : 1)));
}

}  // namespace

void check_supported(const Algorithm& algorithm, const Problem& problem, const Options& o) {
    if (o.splits != Options().splits && !has_splits(algorithm.knobs))
        refuse("request.cuts_no_keys", "--splits " + text::shown(o.splits), algorithm,
               [](const Algorithm& a) { return has_splits(a.knobs); });
    if (algorithm.kernel->parts && o.splits != Options().splits && to_splits("--splits", o.splits).number == 0)
        throw UsageError(message("request.own_rule_of_splits", text::shown(o.splits), algorithm.name));
    for (const Knob* k : knobs_of_roles())
        if (const auto given = o.roles.find(k->name); given != o.roles.end() && !has_knob(algorithm.knobs, k->value))
            refuse_knob(*k, given->second, algorithm);
    check_packing(algorithm, problem, o);
    const auto refusal = refuses(algorithm, problem);
    if (!refusal) return;
    const std::vector<std::string> names = names_of(refusal->instead);
    const std::string flag = flag_of(refusal->feature, o), feature = name_of(refusal->feature);
    throw UsageError(
        message("request.others_do", flag, algorithm.name, feature, text::join(names, ", "), names.size()));
}

}  // namespace tilescope::lab
