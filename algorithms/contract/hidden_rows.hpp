// Which queries see no key, where their output is not 0: docs/libraries.md.
#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/contract/mask.hpp"

namespace tilescope {

inline constexpr HiddenRows hidden_row_rules[] = {HiddenRows::zero, HiddenRows::mean, HiddenRows::unmasked};
const char* name_of(HiddenRows rule);

/// The queries that see no key, as spans in order, and what becomes of them: mean or unmasked.
struct BlindQueries {
    HiddenRows rule = HiddenRows::unmasked;
    std::vector<Span> spans;

    /// How many queries of `rows` see no key.
    Index among(Span rows) const {
        Index n = 0;
        // The first span that ends behind the first row.
        auto s = std::partition_point(spans.begin(), spans.end(), [&](Span b) { return b.end() <= rows.begin; });
        for (; s != spans.end() && s->begin < rows.end(); ++s) n += common(*s, rows);
        return n;
    }
    bool has(Index row) const { return among({row, 1}) > 0; }
    friend bool operator==(const BlindQueries&, const BlindQueries&) = default;
};

}  // namespace tilescope
