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

/// The settings of --causal-corner and --hidden-rows with which `problem` has the backend's answer.
Settings meaning_on(const Problem& p, const Likeness& like) {
    Settings settings;
    const Answers& m = like.backend->answers;
    const bool corner_matters = (p.mask.hides() || p.alibi > 0) && p.queries() != p.seq_k;
    if (corner_matters && p.mask.is_causal() && m.corner == CausalCorner::refused)
        throw UsageError(message("library.refuses_corner", like.name, std::to_string(p.queries()),
                                 std::to_string(p.seq_k), like.library->name));
    if (corner_matters && m.corner == CausalCorner::top_left)
        settings.emplace_back("causal-corner", name_of(Corner::top_left));
    const HiddenAnswer hidden = p.query_type() == Dtype::bf16 ? m.hidden_in_bf16 : m.hidden;
    if (const auto rule = rule_of(hidden); rule && p.mask.with(*rule, p.queries(), p.seq_k, p.diagonal()).blind())
        settings.emplace_back("hidden-rows", name_of(*rule));
    return settings;
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
    like.library = library;
    if (backend.empty()) {
        const Pick pick = library->picks(*library, request.problem, request.gpu);
        like.rule = message(pick.rule);
        if (!pick.backend) throw UsageError(message("library.refuses", name, like.rule));
        like.backend = pick.backend;
    } else {
        like.backend = library->backend(backend);
    }
    like.kernel = find_kernel(like.backend->kernel);
    like.of_meaning = meaning_on(request.problem, like);
    return like;
}

namespace {

/// `algorithm`: nullptr where the user named none. `name`: what --like or a name in place of an algorithm has.
Named settled(const Algorithm* algorithm, const std::string& name, Options o) {
    o.roles.erase(like_key);
    const Likeness like = likeness(name, o);
    const Algorithm& chosen = algorithm ? *algorithm : like.algorithm();
    const bool its_own = &chosen == &like.algorithm();
    if (!its_own && !like.library)
        throw UsageError(message("library.other_program", name, like.kernel->algorithm, chosen.name));
    if (its_own) o = filled_in(std::move(o), like.of_kernel());
    o = filled_in(std::move(o), like.of_meaning);
    return {&chosen, std::move(o), algorithm && !like.library ? "" : said_of(like, chosen)};
}

}  // namespace

namespace {

/// Who gives this answer to the question: libraries, where all of their backends that do not refuse do, and backends.
template <class A, class F>
std::string who_says(A answer, F&& answer_of) {
    std::vector<std::string> names;
    for (const Library& l : libraries()) {
        std::vector<std::string> some;
        bool all = true;
        for (const Backend& b : l.backends) {
            const A said = answer_of(b.answers);
            if (said == answer) some.push_back(std::string(l.name) + ':' + b.name);
            all = all && (said == answer || said == A::refused);
        }
        if (all && !some.empty()) some = {l.name};
        names.insert(names.end(), some.begin(), some.end());
    }
    return text::listed(names);
}

}  // namespace

std::vector<std::string> other_answers(const Problem& p) {
    std::vector<std::string> all;
    if (!p.mask.hides()) return all;
    if (p.queries() != p.seq_k && (p.mask.left() || p.mask.right())) {
        const bool top_left = p.corner == Corner::top_left;
        const CausalCorner other = top_left ? CausalCorner::bottom_right : CausalCorner::top_left;
        all.push_back(message(top_left ? "library.others_end" : "library.others_begin",
                              who_says(other, [](const Answers& a) { return a.corner; })));
    }
    const HiddenRows here = p.mask.hidden_rows();
    const Mask uncovered = p.mask.with(HiddenRows::mean, p.queries(), p.seq_k, p.diagonal());
    if (!uncovered.blind()) return all;
    const bool in_bf16 = p.query_type() == Dtype::bf16;
    std::vector<std::string> answers;
    for (const HiddenAnswer a : {HiddenAnswer::zero, HiddenAnswer::mean, HiddenAnswer::unmasked, HiddenAnswer::nan})
        if (rule_of(a) != here)
            answers.push_back(message("library.hidden_in", in_words(a), who_says(a, [&](const Answers& of) {
                                          return in_bf16 ? of.hidden_in_bf16 : of.hidden;
                                      })));
    all.push_back(message("library.others_of_hidden", uncovered.blind()->among({0, p.queries()}),
                          in_words(static_cast<HiddenAnswer>(here)), text::listed(answers)));
    return all;
}

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
