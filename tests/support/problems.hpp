// Problems for the tests of algorithms: corner cases written out, random ones from a seed, and one way to run them all.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "algorithms/contract/algorithm.hpp"
#include "lab/inputs.hpp"
#include "lab/reference.hpp"
#include "tests/support/seeds.hpp"

namespace tilescope {

/// A problem, its tiles, and the seed that both of them (where random) and their inputs come from. Printed as the flags
/// of `tilescope run`.
struct Case {
    Problem problem;
    Tiling tiling;
    std::uint64_t seed = 1;
};
std::ostream& operator<<(std::ostream& out, const Case& c);
/// The same in a string, with the algorithm's name in front, for INFO.
std::string to_string(const Algorithm& algorithm, const Case& c);

/// Sizes up to about 70: ragged, Nq != Nk both ways, d != dv, single rows, columns and keys, grouped heads, batches,
/// tiles beyond the problem and of one element, rows that see no key; each causal and not, over all dtypes.
std::vector<Case> corner_cases();
/// S and P in types of their own, and launches by a list, which few algorithms have.
std::vector<Case> typed_cases();
/// Where the first query stands among the keys, as Problem::diagonal() should have it.
constexpr Index first_place(const Problem& p) { return p.corner == Corner::top_left ? 0 : p.seq_k - p.seq_q; }
/// Sizes up to 70, heads and batches of up to 3.
Case random_case(std::uint64_t seed);
/// The case, without what the algorithm does not do.
Case as_supported(const Algorithm& algorithm, Case c);
/// The same sizes as random_case(), with a window of keys around every query.
Case window_case(std::uint64_t seed);
/// The same sizes and windows (or none), and of the keys some blocks, at random, or the query's own document.
Case pattern_case(std::uint64_t seed);
/// One of those two, with biases, ALiBi, a soft-cap and dropout, each in every second case.
Case score_case(std::uint64_t seed);
/// One of score_case(), by a list of passes in any order, fusion and types that there are.
Case passes_case(std::uint64_t seed);
/// Sequences of up to 10^6, causal ones of up to 20,000: for counts only.
Case large_case(std::uint64_t seed);

/// A GPU with this much memory for each thread block, on 4 SMs.
GpuSpec machine(Bytes sram, Bytes registers);
/// One on which everything fits.
GpuSpec roomy();

/// What is left of a run.
struct Outcome {
    Counters counters;
    std::vector<TensorInfo> tensors;  ///< as declared, with their contents after a run with data
    std::vector<Traffic> traffic;     ///< by tensor
    Bytes sram_peak = 0, register_peak = 0;
    std::vector<LaunchInfo> launches;
    std::vector<std::string> notes;

    const TensorInfo& tensor(std::string_view name) const;
    const Traffic& moved(std::string_view name) const;
    /// The output that users came for: O or Y.
    const TensorInfo& output() const;
};
Outcome run(const Algorithm& algorithm, const Case& c, const GpuSpec& gpu, Mode mode, const Inputs& inputs = {},
            int threads = 1, Listener* listener = nullptr);

/// Plenty of memory; not a byte more than the run needs; registers that a row of scores does not fit in.
std::vector<GpuSpec> machines(const Algorithm& algorithm, const Case& c);

/// "" where they are equal, or else what differs.
std::string difference(const Outcome& a, const Outcome& b);

/// How far the computation's own output is from the reference.
lab::OutputError error_of(const Computation& computation, const Problem& problem, const Inputs& inputs,
                          std::shared_ptr<const Storage> output, int threads = 0, Control* control = nullptr);

/// Random inputs from the case's seed.
Inputs inputs_for(const Algorithm& algorithm, const Case& c,
                  lab::Distribution distribution = lab::Distribution::normal);
/// All elements, in C order.
std::vector<float> contents(const Storage& tensor);
/// Bits, not numbers: NaN equals itself and 0 differs from -0.
bool same_bits(const Storage& a, const Storage& b);
/// The largest difference, apart from infinities of the same sign, which are no distance from each other; NaN where
/// either has one.
double distance(const Storage& a, const Storage& b);
/// One rounding of numbers up to about 4 to the storage type, and sums of f32.
double allowed_distance(Dtype type);

}  // namespace tilescope
