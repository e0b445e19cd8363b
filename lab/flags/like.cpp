#include "lab/flags/like.hpp"

#include <algorithm>
#include <vector>

#include "algorithms/contract/choices.hpp"
#include "algorithms/contract/hidden_rows.hpp"
#include "algorithms/contract/registry.hpp"
#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/flags/algorithm_named.hpp"
#include "lab/flags/request.hpp"
#include "lab/flags/table.hpp"

namespace tilescope::lab {
using text::message;
namespace {

constexpr const char* like_key = "like";

/// LIBRARY-VERSION:BACKEND, cut at the colon; the backend is empty where there is none.
struct Parts {
    const Library* library;
    std::string backend;
};
Parts parts_of(const std::string& text) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    return {find_library(text.substr(0, colon)), text.substr(std::min(colon + 1, text.size()))};
}

std::vector<std::string> kernel_names() {
    std::vector<std::string> names;
    for (const NamedKernel& k : named_kernels()) names.emplace_back(k.name);
    return names;
}

std::vector<std::string> backend_names(const Library& library) {
    std::vector<std::string> names;
    for (const Backend& b : library.backends) names.emplace_back(b.name);
    return names;
}

/// The settings of --causal-corner and --hidden-rows with which `p` has the backend's answer.
Settings meaning_on(Problem p, const Answers& m) {
    Settings settings;
    const bool corner_matters = (p.mask.hides() || p.alibi > 0) && p.queries() != p.seq_k;
    if (corner_matters && m.corner == CausalCorner::top_left) {
        settings.emplace_back("causal-corner", name_of(Corner::top_left));
        p.corner = Corner::top_left;  // which queries see no key follows from the corner
    }
    const HiddenAnswer hidden = p.query_type() == Dtype::bf16 ? m.hidden_in_bf16 : m.hidden;
    if (const auto rule = rule_of(hidden); rule && p.mask.with(*rule, p.queries(), p.seq_k, p.diagonal()).blind())
        settings.emplace_back("hidden-rows", name_of(*rule));
    return settings;
}

/// Why the library takes the backend that it takes, or none: the order, and what those before it do not take.
std::string why_picked(const Library& l, const Problem& p, const GpuSpec& gpu) {
    const std::span<const char* const> order = l.order(gpu);
    std::vector<std::string> words;
    if (order.size() > 1) words.push_back(message("library.order", text::listed({order.begin(), order.end()})));
    for (const char* name : order) {
        const char* const refusal = l.backend(name)->refuses(p, gpu);
        if (!refusal) break;
        words.push_back(message("library.passed_over", name, message(refusal)));
    }
    return text::join(words, "; ");
}

bool is_given(const std::string& key, const Options& options) {
    return std::any_of(flags().begin(), flags().end(),
                       [&](const Flag& flag) { return key == flag.name && flag.given(options); });
}

/// `options` with the settings whose flags were not given.
Options filled_in(Options options, const Settings& settings) {
    for (const auto& [key, value] : settings)
        for (const Flag& flag : flags())
            if (key == flag.name && !flag.given(options)) flag.set(options, value);
    return options;
}

std::string words_of(const Settings& settings) {
    std::string words;
    for (const auto& [key, value] : settings) words += " --" + key + ' ' + text::shown(value);
    return words;
}

std::string typed_as(const Algorithm& algorithm, const Settings& kernel, const Settings& meaning) {
    return algorithm.name + words_of(kernel) + words_of(meaning);
}

/// What the name means here, in a sentence or two.
std::string said_of(const Likeness& like, const Algorithm& algorithm) {
    const bool its_own = &algorithm == &like.algorithm();
    const std::string typed = typed_as(algorithm, its_own ? like.of_kernel() : Settings(), like.of_meaning);
    if (!like.library) return message("library.is_kernel", like.name, typed);
    if (!its_own) return message("library.means", like.name, typed);
    if (!like.picked) return message("library.is_backend", like.name, like.kernel->name, typed);
    const std::string runs = message("library.runs", like.library->name, like.backend->name, like.kernel->name, typed);
    return like.rule.empty() ? runs : message("library.runs_by_rule", runs, like.rule);
}

}  // namespace

bool names_kernel(const std::string& text) {
    const auto [library, backend] = parts_of(text);
    if (library) return text.find(':') == std::string::npos || library->backend(backend);
    return find_kernel(text) != nullptr;
}

std::string as_named_kernel(const std::string& flag, const std::string& text) {
    if (names_kernel(text)) return text;
    const auto [library, backend] = parts_of(text);
    if (library)
        throw UsageError(message("library.no_backend", flag, text::shown(text), library->name,
                                 text::listed(backend_names(*library)), library->backends.front().name));
    std::vector<std::string> all = kernel_names();
    for (const Library& l : libraries()) {
        all.emplace_back(l.name);
        for (const Backend& b : l.backends) all.push_back(std::string(l.name) + ':' + b.name);
    }
    const std::string near = text::nearest(text, all).value_or(libraries().front().name);
    throw UsageError(message("library.no_such", flag, text::shown(text), near));
}

const Algorithm& program_of(const std::string& name) {
    const auto [library, backend] = parts_of(name);
    const Backend* const b = !library          ? nullptr
                             : backend.empty() ? &library->backends.front()
                                               : library->backend(backend);
    return *find_algorithm(find_kernel(b ? b->kernel : name.c_str())->algorithm);
}

const Algorithm& Likeness::algorithm() const { return *find_algorithm(kernel->algorithm); }

Settings Likeness::of_kernel() const {
    Settings settings;
    if (kernel->key) settings.emplace_back(kernel->key, kernel->value);
    return settings;
}

Likeness likeness(const std::string& name, const Options& given) {
    Likeness like;
    like.name = name;
    if (const NamedKernel* kernel = find_kernel(name)) return like.kernel = kernel, like;
    const auto [library, backend] = parts_of(as_named_kernel("--like", name));
    Options o = given;
    o.roles.erase(like_key);
    const Request request = resolve(o, computation::attention);
    const Problem& p = request.problem;
    like.library = library, like.picked = backend.empty();
    like.backend = like.picked ? library->picks(p, request.gpu) : library->backend(backend);
    if (like.picked) like.rule = why_picked(*library, p, request.gpu);
    if (!like.backend) throw UsageError(message("library.refuses", name, like.rule));
    if (const char* refusal = like.backend->refuses(p, request.gpu))
        throw UsageError(
            message("library.refuses", name, message("library.passed_over", like.backend->name, message(refusal))));
    like.kernel = find_kernel(like.backend->kernel);
    like.of_meaning = meaning_on(p, like.backend->answers);
    std::erase_if(like.of_meaning, [&](const auto& setting) { return is_given(setting.first, given); });
    return like;
}

namespace {

/// `algorithm`: nullptr where the user named none. `name`: what --like or a name in place of an algorithm has.
Named settled(const Algorithm* algorithm, const std::string& name, Options o) {
    o.roles.erase(like_key);
    const Likeness like = likeness(name, o);
    const Algorithm& chosen = algorithm ? *algorithm : like.algorithm();
    if (chosen.computes != &computation::attention)
        throw UsageError(message("library.of_forward_pass", name, chosen.name));
    const bool its_own = &chosen == &like.algorithm();
    if (!its_own && !like.library)
        throw UsageError(message("library.other_program", name, like.kernel->algorithm, chosen.name));
    if (its_own) o = filled_in(std::move(o), like.of_kernel());
    o = filled_in(std::move(o), like.of_meaning);
    return {&chosen, std::move(o), algorithm && !like.library ? "" : said_of(like, chosen)};
}

}  // namespace

std::string like_of(const Options& options) {
    const auto given = options.roles.find(like_key);
    return given == options.roles.end() ? "" : given->second;
}

Named named(const std::string& algorithm, const Options& options) {
    const std::string like = like_of(options);
    if (!names_kernel(algorithm)) {
        const Algorithm* const chosen = algorithm.empty() && !like.empty() ? nullptr : &algorithm_named(algorithm);
        return like.empty() ? Named{chosen, options} : settled(chosen, like, options);
    }
    if (!like.empty()) throw UsageError(message("library.named_twice", text::shown(algorithm), like));
    return settled(nullptr, algorithm, options);
}

Named named(const Variant& v, const Options& options) {
    const Options o = with(options, v.settings);
    const std::string like = like_of(o);
    if (!v.like.empty() && !like.empty()) throw UsageError(message("library.named_twice", v.like, like));
    if (!v.like.empty()) return settled(nullptr, v.like, o);
    return like.empty() ? Named{v.algorithm, o} : settled(v.algorithm, like, o);
}

}  // namespace tilescope::lab
