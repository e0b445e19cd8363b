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

    /// Of a row of a head: the softmax P, the factors Z of dropout, the output O, and the slope of the soft-cap at each
    /// product.
    struct Row {
        Doubles P, Z, O, slope;
    };
    Row row(Index head, Index r) const;
    /// The sum of dO * O over all elements.
    double loss() const;

    struct Gradients {
        Doubles dQ, dK, dV;
        std::vector<Doubles> dbiases;
        /// By the gradient's name: the largest sum of absolute values of an element's terms. No element is larger.
        std::map<std::string, double> sizes;
    };
    Gradients gradients() const;

  private:
    static std::size_t size(Index n) { return static_cast<std::size_t>(n); }
    std::size_t q(Index head, Index r, Index x) const { return size((head * p_.seq_q + r) * p_.dim + x); }
    std::size_t o(Index head, Index r, Index x) const { return size((head * p_.seq_q + r) * p_.dim_v + x); }
    /// The index of a score's element in bias `n`. A bias lacks the axes along which scores share its elements.
    std::size_t bias(std::size_t n, Index head, Index r, Index c) const;
    Doubles kept(Index head, Index r) const;
    Index kv(Index head) const { return head / p_.heads * p_.kv_heads + head % p_.heads / (p_.heads / p_.kv_heads); }
    std::size_t k(Index head, Index c, Index x) const { return size((kv(head) * p_.seq_k + c) * p_.dim + x); }
    std::size_t v(Index head, Index c, Index x) const { return size((kv(head) * p_.seq_k + c) * p_.dim_v + x); }

    Problem p_;
    double scale_;
};

}  // namespace tilescope::testing
