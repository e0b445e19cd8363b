#include "lab/library/libraries.hpp"

#include <algorithm>
#include <cstddef>

#include "core/text/message.hpp"

namespace tilescope::lab {
namespace {

/// A value's name in JSON, and the id of its name in sentences.
struct Names {
    const char *key, *words;
};
constexpr Names corner_names[] = {
    {"top-left", "library.top_left"}, {"bottom-right", "library.bottom_right"}, {"refused", "library.refused"}};
constexpr Names hidden_names[] = {{"zero", "library.zero"},
                                  {"mean", "library.mean"},
                                  {"unmasked", "library.unmasked"},
                                  {"nan", "library.nan"},
                                  {"refused", "library.refused"}};
constexpr Names window_names[] = {{"own", "library.own_apart"},
                                  {"counted", "library.own_counted"},
                                  {"both-sides", "library.both_sides"},
                                  {"none", "library.none"}};
constexpr Names kept_names[] = {{"f32", "library.f32"}, {"input", "library.of_q"}};
constexpr Names cap_names[] = {{"before-mask", "library.before_mask"}, {"none", "library.none"}};

template <class E, std::size_t N>
const Names& names_in(const Names (&names)[N], E value) {
    return names[static_cast<std::size_t>(value)];
}

using enum CausalCorner;
constexpr Answers of_pytorch_cudnn = {.corner = top_left,
                                      .hidden = HiddenAnswer::unmasked,
                                      .hidden_in_bf16 = HiddenAnswer::unmasked,
                                      .windows = Windows::none,
                                      .soft_cap = SoftCap::none,
                                      .scores = Kept::f32,
                                      .weights = Kept::input,
                                      .sums = Kept::f32};
/// The answers with other ones for queries that see no key.
constexpr Answers hiding(Answers a, HiddenAnswer in_f16, HiddenAnswer in_bf16) {
    return a.hidden = in_f16, a.hidden_in_bf16 = in_bf16, a;
}
constexpr Answers hiding(Answers a, HiddenAnswer always) { return hiding(a, always, always); }
constexpr Answers storing(Answers a, Kept scores, Kept weights) { return a.scores = scores, a.weights = weights, a; }
constexpr Answers with_windows(Answers a, Windows w) { return a.windows = w, a; }
constexpr Answers at_corner(Answers a, CausalCorner c) { return a.corner = c, a; }
constexpr Answers with_cap(Answers a) { return a.soft_cap = SoftCap::before_mask, a; }

constexpr Answers of_zeros = hiding(of_pytorch_cudnn, HiddenAnswer::zero);
constexpr Answers of_flash_attention = with_cap(with_windows(at_corner(of_zeros, bottom_right), Windows::own));

constexpr Backend of_pytorch[] = {
    {"cudnn", "cudnn-9.19", of_pytorch_cudnn, true},
    {"flash", "fa2", at_corner(hiding(of_zeros, HiddenAnswer::refused), CausalCorner::refused), true},
    {"efficient", "efficient", of_zeros, true},
    {"math", "math", storing(of_zeros, Kept::f32, Kept::f32), true},
    {"flex", "flex", with_cap(with_windows(of_zeros, Windows::own)), true},
    {"typed", "typed", storing(hiding(of_zeros, HiddenAnswer::nan), Kept::input, Kept::input), true},
};
constexpr Backend of_jax[] = {
    {"xla", "xla", with_windows(hiding(of_zeros, HiddenAnswer::mean), Windows::own), true},
    {"cudnn", "cudnn-9.19",
     with_windows(hiding(of_zeros, HiddenAnswer::unmasked, HiddenAnswer::mean), Windows::both_sides), true},
};
constexpr Backend of_flash_attention_2[] = {{"cuda", "fa2", of_flash_attention, false}};
constexpr Backend of_flash_attention_3[] = {{"hopper", "fa3-2025", of_flash_attention, false}};

bool in_16_bits(const Problem& p) { return size_of(p.query_type()) == 2 && p.query_type() == p.key_type(); }
/// Whether PyTorch's call gets a tensor beside Q, K and V: a mask of booleans, or numbers that are added.
bool has_mask_tensor(const Problem& p) { return (p.mask.hides() && !p.mask.is_causal()) || p.bias || p.alibi > 0; }

Pick picks_in_pytorch(const Library& l, const Problem& p, const GpuSpec& gpu) {
    const std::string& capability = gpu.compute_capability;
    const auto pick = [&](const char* name, const char* rule) { return Pick{l.backend(name), rule}; };
    if (p.uses(Feature::eight_bits)) return {nullptr, "library.pytorch_in_8_bits"};
    if (p.soft_cap) return pick("flex", "library.pytorch_soft_cap");
    const bool multiples_of_8 = p.dim % 8 == 0 && p.dim_v % 8 == 0, alike = p.dim == p.dim_v;
    const bool narrow = in_16_bits(p) && multiples_of_8 && p.dim <= 256 && p.dim_v <= 256;
    if (narrow && alike && (capability == "9.0" || capability == "10.0")) return pick("cudnn", "library.pytorch_cudnn");
    const bool square = !p.mask.is_causal() || p.seq_q == p.seq_k;
    if (narrow && alike && square && !has_mask_tensor(p) && !capability.starts_with("7"))
        return pick("flash", "library.pytorch_flash");
    const Index aligned = size_of(p.query_type()) == 2 ? 8 : 4;
    if (p.dim % aligned == 0 && p.dim_v % aligned == 0 && p.heads == p.kv_heads)
        return pick("efficient", "library.pytorch_efficient");
    return pick("math", "library.pytorch_math");
}

template <const char* const& rule>
Pick picks_first(const Library& l, const Problem&, const GpuSpec&) {
    return {&l.backends.front(), rule};
}
constexpr const char *jax_rule = "library.jax_xla", *only_rule = "library.only_one";

constexpr Library known_libraries[] = {
    {"pytorch-2.11", "PyTorch 2.11", "torch.nn.functional.scaled_dot_product_attention", of_pytorch, picks_in_pytorch},
    {"jax-0.11", "JAX 0.11", "jax.nn.dot_product_attention", of_jax, picks_first<jax_rule>},
    {"flash-attn-2.8", "FlashAttention 2.8", "flash_attn_func", of_flash_attention_2, picks_first<only_rule>},
    {"flash-attn-3", "FlashAttention-3", "flash_attn_interface.flash_attn_func", of_flash_attention_3,
     picks_first<only_rule>},
};

}  // namespace

const Backend* Library::backend(std::string_view wanted) const {
    const auto found =
        std::find_if(backends.begin(), backends.end(), [&](const Backend& b) { return b.name == wanted; });
    return found == backends.end() ? nullptr : &*found;
}

std::span<const Library> libraries() { return known_libraries; }

const Library* find_library(std::string_view name) {
    const auto found =
        std::find_if(libraries().begin(), libraries().end(), [&](const Library& l) { return l.name == name; });
    return found == libraries().end() ? nullptr : &*found;
}

const char* name_of(CausalCorner corner) { return names_in(corner_names, corner).key; }
const char* name_of(HiddenAnswer answer) { return names_in(hidden_names, answer).key; }
const char* name_of(Windows windows) { return names_in(window_names, windows).key; }
const char* name_of(Kept kept) { return names_in(kept_names, kept).key; }
const char* name_of(SoftCap soft_cap) { return names_in(cap_names, soft_cap).key; }
std::string in_words(CausalCorner corner) { return text::message(names_in(corner_names, corner).words); }
std::string in_words(HiddenAnswer answer) { return text::message(names_in(hidden_names, answer).words); }
std::string in_words(Windows windows) { return text::message(names_in(window_names, windows).words); }
std::string in_words(Kept kept) { return text::message(names_in(kept_names, kept).words); }
std::string in_words(SoftCap soft_cap) { return text::message(names_in(cap_names, soft_cap).words); }

std::optional<HiddenRows> rule_of(HiddenAnswer answer) {
    if (answer == HiddenAnswer::nan || answer == HiddenAnswer::refused) return std::nullopt;
    return static_cast<HiddenRows>(answer);
}

}  // namespace tilescope::lab
