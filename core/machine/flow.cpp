#include "core/machine/flow.hpp"

namespace tilescope {
namespace {

Meaning meaning_of_product(Meaning a, Meaning b) {
    const auto are = [&](Meaning x, Meaning y) { return (a == x && b == y) || (a == y && b == x); };
    if (are(Meaning::query, Meaning::key)) return Meaning::score;
    if (are(Meaning::score, Meaning::value)) return Meaning::output;
    return Meaning::other;
}

}  // namespace

Origin origin_of_product(const Origin& a, bool a_transposed, const Origin& b, bool b_transposed, const Origin& out) {
    const Meaning meaning = meaning_of_product(a.meaning, b.meaning);
    const Region region{no_tensor, a.region.slice, a_transposed ? a.region.cols : a.region.rows,
                        b_transposed ? b.region.rows : b.region.cols};
    return {meaning == Meaning::other ? out.meaning : meaning, region};
}

void flow(const Operation& operation, Origin& out, Origin* a) {
    out.region.tensor = no_tensor;
    if (!a) return;
    const Span one_column{0, 1};
    if (operation.kind == Kind::reduce || operation.operates == Operates::a_column) {
        out = {Meaning::statistic, {no_tensor, a->region.slice, a->region.rows, one_column}};
    } else if (operation.operates == Operates::by_row) {
        // `a` has one number for each row: a statistic, whatever it was made of.
        if (a->meaning == Meaning::other)
            *a = {Meaning::statistic, {no_tensor, out.region.slice, out.region.rows, one_column}};
    } else if (operation.operates == Operates::transposed) {
        out = {a->meaning, {no_tensor, a->region.slice, a->region.cols, a->region.rows}};
    } else if (operation.access == Access::write) {
        out = {a->meaning, {no_tensor, a->region.slice, a->region.rows, a->region.cols}};
    } else if (out.meaning == Meaning::other) {
        out.meaning = a->meaning;
    }
}

}  // namespace tilescope
