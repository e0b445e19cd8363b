// Problems for tests of algorithms: corner cases written out, random ones from a seed, and one way to run all of them.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "algorithms/contract/algorithm.hpp"
#include "lab/run/reference.hpp"
#include "lab/workload/inputs.hpp"
#include "tests/support/seeds.hpp"

namespace tilescope {

/// A problem, its tiles, and the seed from which both (where random) and their inputs come. Printed as flags of
/// `tilescope run`.
struct Case {
    Problem problem;
    Tiling tiling;
    std::uint64_t seed = 1;
};
std::ostream& operator<<(std::ostream& out, const Case& c);
/// The case as a string, with the algorithm's name in front, for INFO.
std::string to_string(const Algorithm& algorithm, const Case& c);

/// Sizes up to about 70: ragged, Nq < Nk and Nq > Nk, d != dv, single rows, columns and keys, grouped heads, batches,
/// tiles larger than the problem, tiles of one element, rows that see no key. Each is there with and without a causal
/// mask, over all dtypes.
std::vector<Case> corner_cases();
/// Cases in which S and P have types of their own, and cases with a list of passes. Few algorithms support these.
std::vector<Case> typed_cases();
/// Cases in which K and V, and mostly Q, have 8 bits, with scales of each kind.
std::vector<Case> eight_bit_cases();
/// Cases in which queries that see no key get the mean of V, or their rows without the mask. There are some.
std::vector<Case> hidden_row_cases();
/// The position of the first query among the keys, as Problem::diagonal() should return it.
constexpr Index first_place(const Problem& p) { return p.corner == Corner::top_left ? 0 : p.seq_k - p.seq_q; }
/// Sizes up to 70, heads and batches of up to 3.
Case random_case(std::uint64_t seed);
/// The case without the features that the algorithm does not support.
Case as_supported(const Algorithm& algorithm, Case c);
/// The same sizes as random_case(), with a window of keys around every query.
Case window_case(std::uint64_t seed);
/// A random_case() or window_case(). In addition a query sees only some blocks of keys, at random, or its own document,
/// or both masks apply.
Case pattern_case(std::uint64_t seed);
/// A random_case(), window_case() or pattern_case() with biases, ALiBi, a soft-cap and dropout, each in about every
/// second case.
Case score_case(std::uint64_t seed);
/// A score_case() with a list of passes: any order, fusion and types that are allowed.
Case passes_case(std::uint64_t seed);
/// Sequences of up to 10^6, causal ones of up to 20,000, only for counts.
Case large_case(std::uint64_t seed);

/// A GPU of 4 SMs, each with this much memory. One thread block can have all of it.
GpuSpec machine(Bytes sram, Bytes registers);
/// A GPU on which everything fits.
GpuSpec roomy();

/// The results of a run.
struct Outcome {
    Counters counters;
    std::vector<TensorInfo> tensors;  ///< as declared, with their contents after a run with data
    std::vector<Traffic> traffic;     ///< by tensor
    Bytes sram_peak = 0, register_peak = 0;
    std::vector<LaunchInfo> launches;
    std::vector<std::string> notes;

    const TensorInfo& tensor(std::string_view name) const;
    const Traffic& moved(std::string_view name) const;
    /// The main output: O or Y.
    const TensorInfo& output() const;
};
Outcome run(const Algorithm& algorithm, const Case& c, const GpuSpec& gpu, Mode mode, const Inputs& inputs = {},
            int threads = 1, Listener* listener = nullptr);

/// Three GPUs: one with plenty of memory, one with not a byte more than the run needs, and one whose registers do not
/// hold a row of scores. The last one is left out where the program does not run on it.
std::vector<GpuSpec> machines(const Algorithm& algorithm, const Case& c);

/// What differs, or "" where all is equal.
std::string difference(const Outcome& a, const Outcome& b);

/// The error of the computation's main output against the reference.
lab::OutputError error_of(const Computation& computation, const Problem& problem, const Inputs& inputs,
                          std::shared_ptr<const Storage> output, int threads = 0, Control* control = nullptr);

/// Random inputs from the case's seed.
Inputs inputs_for(const Algorithm& algorithm, const Case& c,
                  lab::Distribution distribution = lab::Distribution::normal);
/// The same inputs where references compute with the values that are stored in 8 bits, not with those before rounding.
Inputs as_stored(const Case& c, Inputs inputs);
/// All elements, in C order.
std::vector<float> contents(const Storage& tensor);
/// Compares bits, not numbers: NaN equals itself, and 0 differs from -0.
bool same_bits(const Storage& a, const Storage& b);
/// The largest difference; infinities of the same sign do not differ. NaN where either has one.
double distance(const Storage& a, const Storage& b);
/// How far numbers of up to about 4 may be off by one rounding to the storage type and by sums in f32.
double allowed_distance(Dtype type);

}  // namespace tilescope
