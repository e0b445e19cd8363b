// Attention and its gradients by plain loops in double, which share nothing with the reference or the programs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/support/problems.hpp"

namespace tilescope::testing {

using Doubles = std::vector<double>;

Doubles doubles_of(const Storage& tensor);

class PlainAttention {
  public:
    PlainAttention(const Problem& problem, const Inputs& in);

    Doubles Q, K, V, dO;
    std::vector<Doubles> biases;

    /// The softmax of a row of a head, by what dropout multiplies it, and its output; the slope of the soft-cap at each
    /// product.
    struct Row {
        Doubles P, Z, O, slope;
    };
    Row row(Index head, Index r) const;
    /// The sum of dO * O.
    double loss() const;

    struct Gradients {
        Doubles dQ, dK, dV;
        std::vector<Doubles> dbiases;
        /// Of each, the sums of which its largest element could be one: of absolute values.
        std::map<std::string, double> sizes;
    };
    Gradients gradients() const;

  private:
    static std::size_t size(Index n) { return static_cast<std::size_t>(n); }
    std::size_t q(Index head, Index r, Index x) const { return size((head * p_.seq_q + r) * p_.dim + x); }
    std::size_t o(Index head, Index r, Index x) const { return size((head * p_.seq_q + r) * p_.dim_v + x); }
    /// By its letters: the axes that it has, in their order.
    std::size_t bias(std::size_t n, Index head, Index r, Index c) const;
    Doubles kept(Index head, Index r) const;
    Index kv(Index head) const { return head / p_.heads * p_.kv_heads + head % p_.heads / (p_.heads / p_.kv_heads); }
    std::size_t k(Index head, Index c, Index x) const { return size((kv(head) * p_.seq_k + c) * p_.dim + x); }
    std::size_t v(Index head, Index c, Index x) const { return size((kv(head) * p_.seq_k + c) * p_.dim_v + x); }

    Problem p_;
    double scale_;
};

}  // namespace tilescope::testing
