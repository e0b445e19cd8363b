#include "algorithms/contract/scales.hpp"

#include "algorithms/contract/algorithm.hpp"
#include "core/machine/score_ops.hpp"

namespace tilescope {

const char* scales_tensor(std::string_view of) { return of == "Q" ? "Q_scale" : of == "K" ? "K_scale" : "V_scale"; }

Index rows_of_a_scale(const Problem& p, std::string_view of) {
    if (p.scales != Scaling::block) return of == "Q" ? p.seq_q : p.seq_k;
    return of == "Q" ? p.scale_block * p.packed : p.scale_block;
}

Scales::Scales(Block& b, const Problem& p, const Tensors& t, Span head, std::uint16_t line, For what, Here here)
    : p_(p), t_(t), head_(head), line_(line) {
    if (p.scales == Scaling::block || !p.scaled(p.key_type())) return;
    if (what != For::values) {
        b.at(line);
        load(b, keys_, "K", {0, p.seq_k}, here);
        if (p.scaled(p.query_type())) load(b, queries_, "Q", {0, p.seq_q}, here), join(b, here);
    }
    if (what == For::scores) return;
    b.at(line);
    load(b, values_, "V", {0, p.seq_k}, here);
}

void Scales::take_queries(Block& b, Span i, Here here) {
    if (p_.scales != Scaling::block || !p_.scaled(p_.query_type())) return;
    b.at(line_);
    load(b, queries_, "Q", i, here);
}

void Scales::take_keys(Block& b, Span j, Here here) {
    if (p_.scales != Scaling::block || !p_.scaled(p_.key_type())) return;
    b.at(line_);
    load(b, keys_, "K", j, here);
}

void Scales::take_values(Block& b, Span j, Here here) {
    if (p_.scales != Scaling::block || !p_.scaled(p_.key_type())) return;
    b.at(line_);
    greatest_.reset();
    load(b, values_, "V", j, here);
    if (!values_.several()) return;
    greatest_.emplace(b.alloc_registers("V_scale_max", 1, 1, 0, here));
    row_max(b, *greatest_, *values_.scales, here);
    divide_rows(b, *values_.scales, *greatest_, here);
}

/// Loads the scales of these rows, in place of others.
void Scales::load(Block& b, Taken& to, const char* of, Span rows, Here here) {
    const Index each = rows_of_a_scale(p_, of), first = rows.begin / each;
    const Span some{first, ceil_div(rows.end(), each) - first}, one{0, 1};
    const bool column = of == std::string_view("Q");
    to.scales.reset();
    to.scales.emplace(
        b.load(t_[scales_tensor(of)].of(head_), column ? some : one, column ? one : some, Space::registers, here));
    to.stairs = {each, rows.begin % each};
}

/// Multiplies the scales of Q by the single one of K.
void Scales::join(Block& b, Here here) {
    joined_.reset();
    joined_.emplace(b.alloc_registers("QK_scale", queries_.scales->rows(), 1, 0, here));
    copy(b, *joined_, *queries_.scales, here);
    scale_columns(b, *joined_, *keys_.scales, {}, here);
}

Product Scales::of_scores(Block& b, float alpha, Here here) {
    if (!queries_.scales) return product(alpha, keys_);
    if (keys_.several()) return product(alpha, queries_);
    if (p_.scales == Scaling::block) join(b, here);
    Product of = product(alpha, queries_);
    of.factor = &*joined_;
    return of;
}

Product Scales::of_values() const {
    Product of = product(1, values_);
    if (greatest_) of.factor = &*greatest_;
    return of;
}

Product Scales::product(float alpha, const Taken& by) const {
    const bool differ = p_.uses(Feature::eight_bits), used = by.scales && (&by == &queries_ || !by.several());
    Product of = {alpha, used ? &*by.scales : nullptr, differ ? std::optional(p_.query_type()) : std::nullopt};
    of.stairs = by.stairs;
    return of;
}

void Scales::scale_scores(Block& b, Tile& s, Here here) const {
    if (keys_.several()) scale_columns(b, s, *keys_.scales, keys_.stairs, here);
}

void Scales::scale_weights(Block& b, Tile& p, Here here) const {
    if (values_.several()) scale_columns(b, p, *values_.scales, values_.stairs, here);
}

}  // namespace tilescope
