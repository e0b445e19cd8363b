#include "algorithms/attention/standard/graph.hpp"

#include <algorithm>
#include <cmath>

namespace tilescope::standard {
namespace {

PassList list_of(const Problem& p) {
    if (!p.passes.empty()) return p.passes;
    return {{{Pass::product}, p.score_type()}, {{Pass::softmax}, p.weight_type()}, {{Pass::product}}};
}

bool asked_for(Pass pass, const Problem& p) {
    switch (pass) {
        case Pass::cap:
            return p.soft_cap.has_value();
        case Pass::bias:
            return p.bias || p.alibi > 0;
        case Pass::mask:
            return p.mask.hides();
        default:
            return true;
    }
}

/// Adds a pass to a launch, whose passes are in the order of `Pass`.
void put(Pass pass, PassLaunch& launch) {
    launch.passes.push_back(pass);
    std::sort(launch.passes.begin(), launch.passes.end());
}

/// The list of exactly the passes that the problem needs.
PassList complete(const Problem& p) {
    PassList list = list_of(p);
    const auto place = [&](Pass pass) {
        return std::find_if(list.begin(), list.end(), [&](const PassLaunch& l) { return l.has(pass); });
    };
    auto at = place(Pass::product);
    if (const auto scale = place(Pass::scale); scale != list.end() && scale > at) at = scale;
    for (const Pass pass : {Pass::cap, Pass::bias, Pass::mask}) {
        if (!asked_for(pass, p)) continue;
        if (const auto own = place(pass); own != list.end())
            at = own;
        else
            put(pass, *at);
    }
    for (PassLaunch& launch : list) std::erase_if(launch.passes, [&](Pass pass) { return !asked_for(pass, p); });
    std::erase_if(list, [](const PassLaunch& launch) { return launch.passes.empty(); });
    return list;
}

const char* matrix_of(Pass pass, bool weights) {
    switch (pass) {
        case Pass::product:
            return "S";
        case Pass::scale:
            return "S_scaled";
        case Pass::cap:
            return "S_capped";
        case Pass::bias:
            return "S_biased";
        case Pass::mask:
            return "S_masked";
        case Pass::exp:
            return "E";
        case Pass::seen:
            return "seen";
        case Pass::clear:
            return "P_cleared";
        case Pass::convert:
            return weights ? "P_converted" : "S_converted";
        case Pass::copy:
            return "P_copied";
        default:
            return "P";
    }
}

/// Turns a list of passes into steps. On the way it keeps the current name and type of each tensor.
class Walk {
  public:
    explicit Walk(const Problem& p) : p_(p), q_{"Q", p.query_type()}, k_{"K", p.key_type()}, v_{"V", p.key_type()} {
        for (const PassLaunch& launch : complete(p)) add(launch);
    }

    std::vector<Step> steps;

  private:
    struct Tensor {
        const char* name;
        Dtype type;
    };

    void add(const PassLaunch& launch) {
        const Dtype type = launch.type.value_or(p_.output_type());
        const Pass first = launch.passes.front();
        if (!matrix_.name && first != Pass::product) return ahead(first, type);
        if (!matrix_.name) return scores(launch, type);
        if (first == Pass::product) return output(type);
        if (output_.name) return result(type);
        if ((first == Pass::convert || first == Pass::copy) && type == matrix_.type) return;
        if (first == Pass::softmax) return softmax(type);
        if (launch.has(Pass::max) || launch.has(Pass::sum) || launch.has(Pass::any)) return rows(launch, type);
        elements(launch, first == Pass::seen ? Dtype::u8 : type);
    }

    /// Converts or scales the inputs, before the first product.
    void ahead(Pass pass, Dtype type) {
        const bool converts = pass == Pass::convert;
        if (converts && type == p_.query_type()) return;
        const auto make = [&](Tensor& of, const char* launch, const char* to) {
            steps.push_back({Does::input, launch, {pass}, of.name, nullptr, to, nullptr, type});
            of = {to, type};
        };
        make(q_, converts ? "convert_q" : "scale_q", converts ? "Q_converted" : "Q_scaled");
        make(k_, converts ? "convert_k" : "scale_k", converts ? "K_converted" : "K_scaled");
        if (converts) make(v_, "convert_v", "V_converted");
    }

    void scores(const PassLaunch& launch, Dtype type) {
        steps.push_back({Does::scores, "scores", launch.passes, q_.name, k_.name, "S", nullptr, type});
        matrix_ = logits_ = {"S", type};
    }

    void softmax(Dtype type) {
        steps.push_back({Does::softmax, "softmax", {Pass::softmax}, matrix_.name, nullptr, "P", nullptr, type});
        matrix_ = {"P", type}, weights_ = true;
    }

    void rows(const PassLaunch& launch, Dtype type) {
        const Pass last = launch.passes.back();
        const char* const writes = last == Pass::max ? "m" : last == Pass::sum ? "l" : "any";
        const bool changes = launch.passes.size() > 1;
        const char* const to = changes ? matrix_of(launch.passes[launch.passes.size() - 2], weights_) : nullptr;
        const char* const from = last == Pass::any ? "seen" : matrix_.name;
        const char* const with = launch.has(Pass::exp) && maximum_ ? "m" : nullptr;
        steps.push_back({Does::rows, name_of(launch.passes.front()), launch.passes, from, with, to, writes, type});
        if (changes) matrix_ = {to, type};
        if (last == Pass::max) maximum_ = true, logits_ = matrix_;
    }

    void elements(const PassLaunch& launch, Dtype type) {
        const Pass last = launch.passes.back();
        const char* const to = matrix_of(last, weights_);
        const char* const with = last == Pass::divide            ? "l"
                                 : last == Pass::clear           ? "any"
                                 : last == Pass::exp && maximum_ ? "m"
                                                                 : nullptr;
        const char* const from = last == Pass::seen ? logits_.name : matrix_.name;
        steps.push_back({Does::elements, name_of(last), launch.passes, from, with, to, nullptr, type});
        if (last == Pass::seen || last == Pass::copy) return;
        matrix_ = {to, type};
        if (last == Pass::divide) weights_ = true;
        if (!weights_ && last != Pass::exp) logits_ = matrix_;
    }

    void output(Dtype type) {
        output_ = {type == p_.output_type() ? "O" : "O_unconverted", type};
        steps.push_back({Does::output, "output", {Pass::product}, matrix_.name, v_.name, output_.name, nullptr, type});
    }

    void result(Dtype type) {
        if (type == output_.type) return;
        steps.push_back({Does::result, "convert_o", {Pass::convert}, output_.name, nullptr, "O", nullptr, type});
    }

    const Problem& p_;
    Tensor q_, k_, v_, matrix_{}, logits_{}, output_{};
    bool weights_ = false, maximum_ = false;
};

}  // namespace

bool Step::has(Pass pass) const { return std::find(passes.begin(), passes.end(), pass) != passes.end(); }

std::vector<Step> steps_of(const Problem& p) { return Walk(p).steps; }

std::vector<TensorDecl> scratch_of(const Problem& p) {
    std::vector<TensorDecl> all;
    const auto add = [&](const char* name, Meaning meaning, Sliced sliced, Index rows, Index cols, Dtype type) {
        all.push_back(declare(p, name, Role::scratch, meaning, sliced, rows, cols, type));
    };
    for (const Step& step : steps_of(p)) {
        const char of = step.from[0];
        if (step.does == Does::input && of == 'Q')
            add(step.to, Meaning::query, Sliced::by_head, p.seq_q, p.dim, step.type);
        if (step.does == Does::input && of == 'K')
            add(step.to, Meaning::key, Sliced::by_kv_head, p.seq_k, p.dim, step.type);
        if (step.does == Does::input && of == 'V')
            add(step.to, Meaning::value, Sliced::by_kv_head, p.seq_k, p.dim_v, step.type);
        if (step.does == Does::output && step.to != std::string_view("O"))
            add(step.to, Meaning::output, Sliced::by_head, p.seq_q, p.dim_v, step.type);
        if (step.does == Does::input || step.does == Does::output || step.does == Does::result) continue;
        if (step.to) add(step.to, Meaning::score, Sliced::by_head, p.seq_q, p.seq_k, step.type);
        if (step.row_numbers)
            add(step.row_numbers, Meaning::statistic, Sliced::by_head, p.seq_q, 1,
                step.has(Pass::any) ? Dtype::u8 : Dtype::f32);
    }
    return all;
}

Factors factors_of(const Problem& p) {
    const float scale = p.logit_scale();
    for (const PassLaunch& launch : p.passes) {
        if (launch.has(Pass::product)) break;
        if (launch.has(Pass::scale)) return {std::sqrt(scale), 1};
    }
    const bool own = std::any_of(p.passes.begin(), p.passes.end(), [](auto& l) { return l.has(Pass::scale); });
    return {1, own ? 1 : scale};
}

}  // namespace tilescope::standard
