#include "lab/workload/mask_json.hpp"

#include "algorithms/contract/block_mask.hpp"
#include "core/text/message.hpp"

namespace tilescope::lab {
using text::message;
namespace {

/// Reads a block mask: sizes of blocks, and a string of 0 and 1 for every row of blocks.
BlockMask blocks_from(JsonEntry e) {
    BlockMask m{e.text("name"), e.integer("block_rows", 1), e.integer("block_cols", 1), 0, 0, {}};
    for (const Json& row : e.at("rows")) {
        const std::string seen = row.is_string() ? row.get<std::string>() : "";
        if (seen.empty() || seen.find_first_not_of("01") != std::string::npos ||
            (m.rows > 0 && static_cast<Index>(seen.size()) != m.cols))
            e.refuse(message("mask_json.no_rows"));
        m.cols = static_cast<Index>(seen.size()), ++m.rows;
        for (const char c : seen) m.seen.push_back(c == '1');
    }
    if (m.rows == 0) e.refuse(message("mask_json.empty_rows"));
    e.finish();
    return m;
}

}  // namespace

Mask mask_from(JsonEntry e, const std::string& file) {
    const auto bound = [&](const char* key) {
        return e.has(key) ? std::optional(e.integer(key, -JsonEntry::most_index)) : std::nullopt;
    };
    Mask m = Mask::window(bound("left"), bound("right"));
    if (e.has("documents")) {
        std::vector<Index> lengths;
        for (const Json& n : e.at("documents")) {
            if (!n.is_number_integer() || n.get<Index>() < 1 || n.get<Index>() > Index{1} << 40)
                e.refuse(message("mask_json.no_documents"));
            lengths.push_back(n.get<Index>());
        }
        if (lengths.empty() || lengths.size() > 1 << 20) e.refuse(message("mask_json.documents_beyond"));
        m = m.with(Documents(lengths));
    }
    if (e.has("blocks")) m = m.with(blocks_from(JsonEntry(e.at("blocks"), file, "blocks")));
    e.finish();
    return m;
}

Json to_json(const Mask& m) {
    Json j = Json::object();
    if (m.left()) j["left"] = *m.left();
    if (m.right()) j["right"] = *m.right();
    if (const Documents* d = m.documents()) j["documents"] = d->lengths();
    if (const BlockMask* b = m.blocks()) {
        Json rows = Json::array();
        for (Index i = 0; i < b->rows; ++i) {
            std::string seen;
            for (Index k = 0; k < b->cols; ++k) seen += (*b)(i, k) ? '1' : '0';
            rows.push_back(std::move(seen));
        }
        j["blocks"] = {
            {"name", b->name}, {"block_rows", b->block_rows}, {"block_cols", b->block_cols}, {"rows", std::move(rows)}};
    }
    return j;
}

}  // namespace tilescope::lab
