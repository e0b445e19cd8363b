#include "tests/support/gradients.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/machine/kept.hpp"

namespace tilescope::testing {

Doubles doubles_of(const Storage& tensor) {
    const std::vector<float> x = contents(tensor);
    return {x.begin(), x.end()};
}

PlainAttention::PlainAttention(const Problem& problem, const Inputs& in)
    : Q(doubles_of(*in.at("Q"))),
      K(doubles_of(*in.at("K"))),
      V(doubles_of(*in.at("V"))),
      dO(doubles_of(*in.at("dO"))),
      p_(problem),
      scale_(p_.scale ? *p_.scale : 1 / std::sqrt(static_cast<double>(p_.dim))) {
    for (std::size_t n = 0; n < p_.bias.terms.size(); ++n) biases.push_back(doubles_of(*in.at(bias_tensors[n])));
}

PlainAttention::Row PlainAttention::row(Index head, Index r) const {
    Row row{Doubles(size(p_.seq_k)), kept(head, r), Doubles(size(p_.dim_v)), Doubles(size(p_.seq_k), 1)};
    double most = -std::numeric_limits<double>::infinity(), sum = 0;
    Doubles s(size(p_.seq_k));
    for (Index c = 0; c < p_.seq_k; ++c) {
        if (!p_.sees(r, c)) continue;
        for (Index x = 0; x < p_.dim; ++x) s[size(c)] += scale_ * Q[q(head, r, x)] * K[k(head, c, x)];
        if (p_.soft_cap) {
            const double tangent = std::tanh(s[size(c)] / *p_.soft_cap);
            s[size(c)] = *p_.soft_cap * tangent, row.slope[size(c)] = 1 - tangent * tangent;
        }
        for (std::size_t n = 0; n < biases.size(); ++n) s[size(c)] += biases[n][bias(n, head, r, c)];
        if (p_.alibi > 0) {
            const auto distance = static_cast<double>(std::abs(r + first_place(p_) - c));
            s[size(c)] -= static_cast<double>(alibi_slope(head % p_.heads, p_.alibi)) * distance;
        }
        most = std::max(most, s[size(c)]);
    }
    for (Index c = 0; c < p_.seq_k; ++c)
        if (p_.sees(r, c)) sum += row.P[size(c)] = std::exp(s[size(c)] - most);
    for (Index c = 0; c < p_.seq_k && sum > 0; ++c) {
        row.P[size(c)] /= sum;
        for (Index x = 0; x < p_.dim_v; ++x) row.O[size(x)] += row.P[size(c)] * row.Z[size(c)] * V[v(head, c, x)];
    }
    return row;
}

double PlainAttention::loss() const {
    double sum = 0;
    for (Index head = 0; head < p_.batch_heads(); ++head)
        for (Index r = 0; r < p_.seq_q; ++r) {
            const Row of = row(head, r);
            for (Index x = 0; x < p_.dim_v; ++x) sum += dO[o(head, r, x)] * of.O[size(x)];
        }
    return sum;
}

PlainAttention::Gradients PlainAttention::gradients() const {
    Gradients g{Doubles(Q.size()), Doubles(K.size()), Doubles(V.size()), {}, {}};
    Doubles aq(Q.size()), ak(K.size()), av(V.size());
    for (const Doubles& each : biases) g.dbiases.emplace_back(each.size());
    std::vector<Doubles> ab = g.dbiases;
    for (Index head = 0; head < p_.batch_heads(); ++head)
        for (Index r = 0; r < p_.seq_q; ++r) {
            const Row of = row(head, r);
            double D = 0, aD = 0;
            for (Index x = 0; x < p_.dim_v; ++x) {
                D += dO[o(head, r, x)] * of.O[size(x)];
                for (Index c = 0; c < p_.seq_k; ++c)
                    aD += std::abs(dO[o(head, r, x)] * of.P[size(c)] * of.Z[size(c)] * V[v(head, c, x)]);
            }
            for (Index c = 0; c < p_.seq_k; ++c) {
                const double P = of.P[size(c)], Z = of.Z[size(c)];
                double dP = 0, aP = 0;
                for (Index x = 0; x < p_.dim_v; ++x) {
                    dP += Z * dO[o(head, r, x)] * V[v(head, c, x)];
                    aP += Z * std::abs(dO[o(head, r, x)] * V[v(head, c, x)]);
                    g.dV[v(head, c, x)] += P * Z * dO[o(head, r, x)];
                    av[v(head, c, x)] += P * Z * std::abs(dO[o(head, r, x)]);
                }
                const double dlogit = P * (dP - D), alogit = P * (aP + aD), through = scale_ * of.slope[size(c)];
                for (std::size_t n = 0; n < biases.size(); ++n) {
                    g.dbiases[n][bias(n, head, r, c)] += dlogit;
                    ab[n][bias(n, head, r, c)] += alogit;
                }
                for (Index x = 0; x < p_.dim; ++x) {
                    g.dQ[q(head, r, x)] += through * dlogit * K[k(head, c, x)];
                    g.dK[k(head, c, x)] += through * dlogit * Q[q(head, r, x)];
                    aq[q(head, r, x)] += std::abs(through) * alogit * std::abs(K[k(head, c, x)]);
                    ak[k(head, c, x)] += std::abs(through) * alogit * std::abs(Q[q(head, r, x)]);
                }
            }
        }
    const auto most = [](const Doubles& x) { return *std::max_element(x.begin(), x.end()); };
    g.sizes = {{"dQ", most(aq)}, {"dK", most(ak)}, {"dV", most(av)}};
    for (std::size_t n = 0; n < biases.size(); ++n) g.sizes[bias_gradients[n]] = most(ab[n]);
    return g;
}

std::size_t PlainAttention::bias(std::size_t n, Index head, Index r, Index c) const {
    Index at = 0;
    for (const char axis : p_.bias.terms[n].axes()) {
        if (axis == 'b') at = head / p_.heads;
        if (axis == 'g') at = head / p_.heads / p_.bias.group;
        if (axis == 'h') at = at * p_.heads + head % p_.heads;
        if (axis == 'q') at = at * p_.seq_q + r;
        if (axis == 'k') at = at * p_.seq_k + c;
    }
    return size(at);
}

Doubles PlainAttention::kept(Index head, Index r) const {
    if (!p_.dropout) return Doubles(size(p_.seq_k), 1);
    std::vector<float> keep(size(p_.seq_k));
    Kept{p_.dropout.seed, p_.dropout.threshold()}.of_row(head, r, {0, p_.seq_k}, keep.data());
    Doubles z(keep.begin(), keep.end());
    for (double& x : z) x /= 1 - p_.dropout.p;
    return z;
}

}  // namespace tilescope::testing
