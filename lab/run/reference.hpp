// The reference: what a computation defines, in double precision, to which a run's outputs are compared.
#pragma once

#include "lab/run/experiment.hpp"

namespace tilescope::lab {

/// Compares the outputs of some runs of one problem with the reference, by name and as far as the computation defines
/// them. The reference is computed once for all of them, a few rows at a time. Throws Interrupted.
std::vector<OutputErrors> compare_with_reference(const Computation& computation, const Problem& problem,
                                                 const Inputs& inputs, const std::vector<Outputs>& runs,
                                                 int threads = 0, Control* control = nullptr);

/// Rows of the reference of the computation's main output, row-major.
std::vector<double> reference_rows(const Computation& computation, const Problem& problem, const Inputs& inputs,
                                   Index slice, Span rows);

/// `inputs` with the tensors that an earlier pass would have saved: computed from `inputs`, and rounded once, to the
/// type of each tensor. Throws Interrupted.
Inputs with_saved(const Algorithm& algorithm, const Problem& problem, Inputs inputs, int threads = 0,
                  Control* control = nullptr);

/// All inputs of an algorithm: random numbers, and what an earlier pass would have saved. Throws Interrupted.
Inputs inputs_of(const Algorithm& algorithm, const Problem& problem, std::uint64_t seed, Distribution distribution,
                 Control* control = nullptr);

/// The reference of a whole problem, kept in memory (8 bytes an element) for many outputs to be compared with.
class Reference {
  public:
    /// Throws Interrupted.
    Reference(const Computation& computation, const Problem& problem, const Inputs& inputs, int threads = 0,
              Control* control = nullptr);
    /// The largest absolute value of a finite element of an output that the computation defines.
    double largest(const std::string& name) const { return values_.at(name).largest; }
    /// nullopt for an output that the computation does not define.
    std::optional<OutputError> compare(const std::string& name, const Storage& output) const;

  private:
    struct Values {
        Index rows;
        std::vector<double> elements;  // [slices, rows, cols]
        double largest = 0;
    };
    int threads_;
    bool finite_inputs_;
    std::map<std::string, Values> values_;
};

}  // namespace tilescope::lab
