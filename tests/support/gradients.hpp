// Attention and its gradients by plain loops in double, which share nothing with the reference or the programs.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "tests/support/problems.hpp"

namespace tilescope::testing {

using Doubles = std::vector<double>;

inline Doubles doubles_of(const Storage& tensor) {
    const std::vector<float> x = contents(tensor);
    return {x.begin(), x.end()};
}

class PlainAttention {
  public:
    PlainAttention(const Problem& problem, const Inputs& in)
        : Q(doubles_of(*in.at("Q"))),
          K(doubles_of(*in.at("K"))),
          V(doubles_of(*in.at("V"))),
          dO(doubles_of(*in.at("dO"))),
          p_(problem),
          scale_(p_.scale ? *p_.scale : 1 / std::sqrt(static_cast<double>(p_.dim))) {}

    Doubles Q, K, V, dO;

    struct Row {
        Doubles P, O;
    };
    /// The weights of a row of a head, and its output.
    Row row(Index head, Index r) const {
        Row row{Doubles(size(p_.seq_k)), Doubles(size(p_.dim_v))};
        double most = -std::numeric_limits<double>::infinity(), sum = 0;
        Doubles s(size(p_.seq_k));
        for (Index c = 0; c < p_.seq_k; ++c) {
            if (!p_.sees(r, c)) continue;
            for (Index x = 0; x < p_.dim; ++x) s[size(c)] += scale_ * Q[q(head, r, x)] * K[k(head, c, x)];
            most = std::max(most, s[size(c)]);
        }
        for (Index c = 0; c < p_.seq_k; ++c)
            if (p_.sees(r, c)) sum += row.P[size(c)] = std::exp(s[size(c)] - most);
        for (Index c = 0; c < p_.seq_k && sum > 0; ++c) {
            row.P[size(c)] /= sum;
            for (Index x = 0; x < p_.dim_v; ++x) row.O[size(x)] += row.P[size(c)] * V[v(head, c, x)];
        }
        return row;
    }
    /// The sum of dO * O.
    double loss() const {
        double sum = 0;
        for (Index head = 0; head < p_.batch_heads(); ++head)
            for (Index r = 0; r < p_.seq_q; ++r) {
                const Row of = row(head, r);
                for (Index x = 0; x < p_.dim_v; ++x) sum += dO[o(head, r, x)] * of.O[size(x)];
            }
        return sum;
    }

    struct Gradients {
        Doubles dQ, dK, dV;
        /// Of each, the sums of which its largest element could be one: of absolute values.
        std::map<std::string, double> sizes;
    };
    Gradients gradients() const {
        Gradients g{Doubles(Q.size()), Doubles(K.size()), Doubles(V.size()), {}};
        Doubles aq(Q.size()), ak(K.size()), av(V.size());
        for (Index head = 0; head < p_.batch_heads(); ++head)
            for (Index r = 0; r < p_.seq_q; ++r) {
                const Row of = row(head, r);
                double D = 0, aD = 0;
                for (Index x = 0; x < p_.dim_v; ++x) {
                    D += dO[o(head, r, x)] * of.O[size(x)];
                    for (Index c = 0; c < p_.seq_k; ++c)
                        aD += std::abs(dO[o(head, r, x)] * of.P[size(c)] * V[v(head, c, x)]);
                }
                for (Index c = 0; c < p_.seq_k; ++c) {
                    const double P = of.P[size(c)];
                    double dP = 0, aP = 0;
                    for (Index x = 0; x < p_.dim_v; ++x) {
                        dP += dO[o(head, r, x)] * V[v(head, c, x)];
                        aP += std::abs(dO[o(head, r, x)] * V[v(head, c, x)]);
                        g.dV[v(head, c, x)] += P * dO[o(head, r, x)];
                        av[v(head, c, x)] += P * std::abs(dO[o(head, r, x)]);
                    }
                    const double dS = scale_ * P * (dP - D), aS = std::abs(scale_) * P * (aP + aD);
                    for (Index x = 0; x < p_.dim; ++x) {
                        g.dQ[q(head, r, x)] += dS * K[k(head, c, x)];
                        g.dK[k(head, c, x)] += dS * Q[q(head, r, x)];
                        aq[q(head, r, x)] += aS * std::abs(K[k(head, c, x)]);
                        ak[k(head, c, x)] += aS * std::abs(Q[q(head, r, x)]);
                    }
                }
            }
        const auto most = [](const Doubles& x) { return *std::max_element(x.begin(), x.end()); };
        g.sizes = {{"dQ", most(aq)}, {"dK", most(ak)}, {"dV", most(av)}};
        return g;
    }

  private:
    static std::size_t size(Index n) { return static_cast<std::size_t>(n); }
    std::size_t q(Index head, Index r, Index x) const { return size((head * p_.seq_q + r) * p_.dim + x); }
    std::size_t o(Index head, Index r, Index x) const { return size((head * p_.seq_q + r) * p_.dim_v + x); }
    Index kv(Index head) const { return head / p_.heads * p_.kv_heads + head % p_.heads / (p_.heads / p_.kv_heads); }
    std::size_t k(Index head, Index c, Index x) const { return size((kv(head) * p_.seq_k + c) * p_.dim + x); }
    std::size_t v(Index head, Index c, Index x) const { return size((kv(head) * p_.seq_k + c) * p_.dim_v + x); }

    Problem p_;
    double scale_;
};

}  // namespace tilescope::testing
