#include "lab/library/libraries.hpp"

#include <algorithm>
#include <cstddef>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"

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

bool in_16_bits(const Problem& p) { return size_of(p.query_type()) == 2 && p.query_type() == p.key_type(); }
double capability_of(const GpuSpec& gpu) { return text::to_number(gpu.compute_capability).value_or(0); }
/// Whether PyTorch's call gets a tensor beside Q, K and V: a mask of booleans, or numbers that are added.
bool has_mask_tensor(const Problem& p) { return (p.mask.hides() && !p.mask.is_causal()) || p.bias || p.alibi > 0; }
constexpr double of_ampere = 8, of_hopper = 9, of_blackwell = 10;  // compute capability

/// What no backend of scaled_dot_product_attention and of dot_product_attention has.
const char* beyond_frameworks(const Problem& p) {
    if (p.uses(Feature::eight_bits)) return "refusal.eight_bits";
    if (p.soft_cap) return "refusal.soft_cap";
    return p.pages ? "refusal.pages" : nullptr;
}

// By sdp_utils.cpp of PyTorch: what each backend takes. cuDNN and FlashAttention share a part.
const char* refused_by_both(const Problem& p, const GpuSpec& gpu) {
    if (const char* id = beyond_frameworks(p)) return id;
    if (!in_16_bits(p)) return "refusal.not_16_bits";
    if (capability_of(gpu) < of_ampere) return "refusal.before_ampere";
    if (p.dim > 256 || p.dim_v > 256) return "refusal.beyond_256";
    return p.dim != p.dim_v ? "refusal.other_dim_v" : nullptr;
}
const char* refused_by_cudnn(const Problem& p, const GpuSpec& gpu) {
    if (const char* id = refused_by_both(p, gpu)) return id;
    return p.dim % 8 == 0 ? nullptr : "refusal.no_multiple_of_8";
}
const char* refused_by_flash(const Problem& p, const GpuSpec& gpu) {
    if (const char* id = refused_by_both(p, gpu)) return id;
    if (has_mask_tensor(p)) return "refusal.mask_tensor";
    return p.mask.is_causal() && p.queries() != p.seq_k ? "refusal.not_square" : nullptr;
}
const char* refused_by_efficient(const Problem& p, const GpuSpec& gpu) {
    if (const char* id = beyond_frameworks(p)) return id;
    if (p.query_type() == Dtype::bf16 && capability_of(gpu) < of_ampere) return "refusal.bf16_before_ampere";
    if (p.heads != p.kv_heads) return "refusal.grouped_heads";
    const Index aligned = size_of(p.query_type()) == 2 ? 8 : 4;
    return p.dim % aligned == 0 && p.dim_v % aligned == 0 ? nullptr : "refusal.not_aligned";
}
const char* refused_by_math(const Problem& p, const GpuSpec&) { return beyond_frameworks(p); }
const char* refused_by_flex(const Problem& p, const GpuSpec&) {
    return p.uses(Feature::eight_bits) ? "refusal.eight_bits" : nullptr;
}
const char* refused_by_xla(const Problem& p, const GpuSpec&) { return beyond_frameworks(p); }
const char* refused_by_jax_cudnn(const Problem& p, const GpuSpec& gpu) {
    if (const char* id = refused_by_xla(p, gpu)) return id;
    if (!in_16_bits(p)) return "refusal.not_16_bits";
    return capability_of(gpu) < of_ampere ? "refusal.before_ampere" : nullptr;
}
const char* refused_by_flash_attention(const Problem& p, const GpuSpec& gpu) {
    if (!in_16_bits(p)) return "refusal.not_16_bits";
    if (capability_of(gpu) < of_ampere) return "refusal.before_ampere";
    return p.dim > 256 || p.dim_v > 256 ? "refusal.beyond_256" : nullptr;
}
const char* refused_by_flash_attention_3(const Problem& p, const GpuSpec& gpu) {
    const bool is_hopper = capability_of(gpu) >= of_hopper && capability_of(gpu) < of_blackwell;
    if (!is_hopper) return "refusal.not_hopper";
    return p.query_type() == Dtype::f32 ? "refusal.f32" : nullptr;
}

constexpr Backend of_pytorch[] = {
    {"cudnn", "cudnn-9.19", of_pytorch_cudnn, true, refused_by_cudnn},
    {"flash", "fa2", at_corner(hiding(of_zeros, HiddenAnswer::refused), CausalCorner::refused), true, refused_by_flash},
    {"efficient", "efficient", of_zeros, true, refused_by_efficient},
    {"math", "math", storing(of_zeros, Kept::f32, Kept::f32), true, refused_by_math},
    {"flex", "flex", with_cap(with_windows(of_zeros, Windows::own)), true, refused_by_flex},
    {"typed", "typed", storing(hiding(of_zeros, HiddenAnswer::nan), Kept::input, Kept::input), true, refused_by_math},
};
constexpr const char *cudnn_first[] = {"cudnn", "flash", "efficient", "math"},
                     *cudnn_last[] = {"flash", "efficient", "math"};
/// check_prefer_cudnn_attention() of sdp_utils.cpp.
std::span<const char* const> order_of_pytorch(const GpuSpec& gpu) {
    const double capability = capability_of(gpu);
    if (capability == of_hopper || capability == of_blackwell) return cudnn_first;
    return cudnn_last;
}

constexpr Backend of_jax[] = {
    {"xla", "xla", with_windows(hiding(of_zeros, HiddenAnswer::mean), Windows::own), true, refused_by_xla},
    {"cudnn", "cudnn-9.19",
     with_windows(hiding(of_zeros, HiddenAnswer::unmasked, HiddenAnswer::mean), Windows::both_sides), true,
     refused_by_jax_cudnn},
};
constexpr const char *xla_alone[] = {"xla"}, *cuda_alone[] = {"cuda"}, *hopper_alone[] = {"hopper"};
constexpr Backend of_flash_attention_2[] = {{"cuda", "fa2", of_flash_attention, false, refused_by_flash_attention}};
constexpr Backend of_flash_attention_3[] = {
    {"hopper", "fa3-2025", of_flash_attention, false, refused_by_flash_attention_3}};

template <const auto& names>
std::span<const char* const> always(const GpuSpec&) {
    return names;
}

constexpr Library known_libraries[] = {
    {"pytorch-2.11", "torch.nn.functional.scaled_dot_product_attention", of_pytorch, order_of_pytorch},
    {"jax-0.11", "jax.nn.dot_product_attention", of_jax, always<xla_alone>},
    {"flash-attn-2.8", "flash_attn_func", of_flash_attention_2, always<cuda_alone>},
    {"flash-attn-3", "flash_attn_interface.flash_attn_func", of_flash_attention_3, always<hopper_alone>},
};

}  // namespace

const Backend* Library::backend(std::string_view wanted) const {
    const auto found =
        std::find_if(backends.begin(), backends.end(), [&](const Backend& b) { return b.name == wanted; });
    return found == backends.end() ? nullptr : &*found;
}

const Backend* Library::picks(const Problem& problem, const GpuSpec& gpu) const {
    for (const char* tried : order(gpu))
        if (const Backend* b = backend(tried); !b->refuses(problem, gpu)) return b;
    return nullptr;
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
