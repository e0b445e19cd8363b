// What the words of libraries mean, and which kernel they run: data. scripts/meanings and scripts/meanings-onnx ask the
// libraries themselves; docs/measured has their answers, and a test compares them with this.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "algorithms/contract/problem.hpp"
#include "core/machine/gpu_spec.hpp"

namespace tilescope::lab {

/// Where the diagonal of a causal mask lies if there are not as many queries as keys.
enum class CausalCorner : std::uint8_t { top_left, bottom_right, refused };
/// What a boolean mask makes of a query that sees no key: what HiddenRows has, or NaN. refused: takes no such mask.
enum class HiddenAnswer : std::uint8_t { zero, mean, unmasked, nan, refused };
/// How many keys a window of w to the left shows. own: w and the query's own; counted: w with its own; both_sides: w
/// and its own, and all later keys unless the mask is causal; none: the call has no windows.
enum class Windows : std::uint8_t { own, counted, both_sides, none };
/// A type of S, P or sums: f32, or that of Q.
enum class Kept : std::uint8_t { f32, input };
/// When a soft-cap is taken; none: the call has none.
enum class SoftCap : std::uint8_t { before_mask, none };

struct Answers {
    CausalCorner corner;
    HiddenAnswer hidden, hidden_in_bf16;
    Windows windows;
    SoftCap soft_cap;
    Kept scores, weights, sums;  ///< of inputs of 16 bits: S, P as the operand of P V, and sums
};

/// Why a backend does not take a problem: the id of a message; nullptr where it does.
using Refusal = const char* (*)(const Problem&, const GpuSpec&);

/// One way in which a library computes attention.
struct Backend {
    const char* name;    ///< "cudnn"
    const char* kernel;  ///< NamedKernel::name
    Answers answers;
    bool checked;  ///< a script asked the library
    Refusal refuses;
};

struct Library {
    const char* name;  ///< "pytorch-2.11", with its version
    const char* call;  ///< what a user types
    std::span<const Backend> backends;
    /// The names of backends in the order in which a call tries them on this GPU; it takes the first that does not
    /// refuse.
    std::span<const char* const> (*order)(const GpuSpec&);

    /// nullptr where there is none of this name.
    const Backend* backend(std::string_view name) const;
    /// What the call picks; nullptr where all refuse.
    const Backend* picks(const Problem& problem, const GpuSpec& gpu) const;
};
std::span<const Library> libraries();
const Library* find_library(std::string_view name);

// Their names in JSON and in the scripts' answers; in_words(): in sentences.
const char* name_of(CausalCorner corner);
const char* name_of(HiddenAnswer answer);
const char* name_of(Windows windows);
const char* name_of(Kept kept);
const char* name_of(SoftCap soft_cap);
std::string in_words(CausalCorner corner);
std::string in_words(HiddenAnswer answer);
std::string in_words(Windows windows);
std::string in_words(Kept kept);
std::string in_words(SoftCap soft_cap);

/// The rule of a problem that gives this answer; nullopt: no rule does.
std::optional<HiddenRows> rule_of(HiddenAnswer answer);

}  // namespace tilescope::lab
