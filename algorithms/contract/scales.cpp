#include "algorithms/contract/scales.hpp"

#include <utility>

#include "algorithms/contract/algorithm.hpp"

namespace tilescope {
namespace {

std::optional<Tile> loaded(Block& b, const Tensors& t, const char* of, Span head, Here here) {
    return b.load(t[scales_tensor(of)].of(head), {0, 1}, Space::registers, here);
}

}  // namespace

const char* scales_tensor(std::string_view of) { return of == "Q" ? "Q_scale" : of == "K" ? "K_scale" : "V_scale"; }

std::optional<Tile> scale_of_scores(Block& b, const Problem& p, const Tensors& t, Span head, std::uint16_t line,
                                    Here here) {
    if (!p.scaled(p.key_type())) return std::nullopt;
    b.at(line);
    std::optional<Tile> scale = loaded(b, t, "K", head, here);
    if (p.scaled(p.query_type())) scale_rows(b, *scale, *loaded(b, t, "Q", head, here), here);
    return scale;
}

std::optional<Tile> scale_of_values(Block& b, const Problem& p, const Tensors& t, Span head, std::uint16_t line,
                                    Here here) {
    if (!p.scaled(p.key_type())) return std::nullopt;
    b.at(line);
    return loaded(b, t, "V", head, here);
}

Scales load_scales(Block& b, const Problem& p, const Tensors& t, Span head, std::uint16_t line, Here here) {
    std::optional<Tile> of_scores = scale_of_scores(b, p, t, head, line, here);
    return {std::move(of_scores), scale_of_values(b, p, t, head, line, here)};
}

Product of_stored(const Problem& p, const std::optional<Tile>& scale, float alpha) {
    const bool differ = p.uses(Feature::eight_bits);
    return {alpha, scale ? &*scale : nullptr, differ ? std::optional(p.query_type()) : std::nullopt};
}

}  // namespace tilescope
