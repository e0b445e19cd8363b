#include "algorithms/contract/algorithm.hpp"

#include "algorithms/contract/kernel_description.hpp"
#include "core/machine/mistakes.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"

namespace tilescope {
using text::message;

const KernelDescription no_kernel = {};

namespace {

/// The message NAME.`what` of the algorithm's en.txt; empty where there is none.
std::string in_its_words(const Algorithm& algorithm, const std::string& what) {
    const std::string_view* words = text::language().words(algorithm.name + ('.' + what));
    return words ? std::string(*words) : std::string();
}

}  // namespace

Hbm Tensors::operator[](Name asked) const {
    for (const auto& [name, tensor] : tensors_)
        if (name == asked.name) return tensor;
    std::vector<std::string> names;
    for (const auto& [name, tensor] : tensors_) names.emplace_back(name);
    throw Misuse(message("tensors.undeclared", text::shown(std::string(asked.name)), text::listed(names)), asked.here);
}

const Algorithm* find_algorithm(std::string_view name) {
    for (const Algorithm& a : algorithms())
        if (a.name == name) return &a;
    for (const Algorithm& a : algorithms())
        if (a.formerly && a.formerly == name) return &a;
    return nullptr;
}

std::span<const CodeLine> code_for(const Algorithm& algorithm, const Problem& problem) {
    std::span<const CodeLine> code = algorithm.code;
    while (!code.empty() && code.back().of && !problem.uses(*code.back().of)) code = code.first(code.size() - 1);
    return code;
}

std::string code_of(const Algorithm& algorithm, std::uint16_t line) {
    for (const CodeLine& c : algorithm.code) {
        const std::string_view code = c.code;
        if (c.number == line) return std::string(code.substr(code.find_first_not_of(' ')));
    }
    return {};
}

std::string idea_of(const Algorithm& algorithm) {
    return *algorithm.idea ? algorithm.idea : in_its_words(algorithm, "idea");
}

std::string why_of(const Algorithm& algorithm, const CodeLine& line) {
    return line.why ? line.why : in_its_words(algorithm, std::to_string(line.number));
}

std::optional<Refusal> refuses(const Algorithm& algorithm, const Problem& problem) {
    for (const Feature f : all_features) {
        if (!problem.uses(f) || algorithm.supports.has(f)) continue;
        // The softmax of a matrix knows no features of attention; their flags are refused where flags are read.
        if (!algorithm.computes->features.has(f) && !algorithm.computes->features.has(Feature::head_dims)) continue;
        Refusal refusal{f, {}};
        for (const Algorithm& a : algorithms())
            if (a.computes == algorithm.computes && a.supports.has(f)) refusal.instead.push_back(&a);
        return refusal;
    }
    return std::nullopt;
}

const std::vector<const Computation*>& computations() {
    static const std::vector<const Computation*> all = {&computation::softmax, &computation::attention,
                                                        &computation::attention_backward};
    return all;
}

TensorDecl declare(const Problem& p, const char* name, Role role, Meaning meaning, Sliced sliced, Index rows,
                   Index cols, Dtype dtype) {
    const Index slices = sliced == Sliced::by_head      ? p.batch_heads()
                         : sliced == Sliced::by_kv_head ? p.kv_slices()
                         : sliced == Sliced::by_batch   ? p.batch
                                                        : 1;
    return {name, role, meaning, sliced, slices, rows, cols, dtype};
}

TensorDecl declare_gradient(const Problem& p, const char* name, Role role, Meaning of, Sliced sliced, Index rows,
                            Index cols, Dtype dtype) {
    TensorDecl t = declare(p, name, role, Meaning::gradient, sliced, rows, cols, dtype);
    t.gradient_of = of;
    return t;
}

}  // namespace tilescope
