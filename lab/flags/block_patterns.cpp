#include "lab/flags/block_patterns.hpp"

#include <algorithm>
#include <bit>
#include <fstream>
#include <functional>
#include <iterator>

#include "algorithms/contract/block_mask.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/flags/values.hpp"
#include "lab/workload/npy.hpp"

namespace tilescope::lab {
using text::message;
namespace {

constexpr const char* pattern_flag = "--block-mask";
constexpr Index most_blocks = Index{1} << 26;

/// Throws the message `id`, whose first argument is the value of --block-mask.
template <class... A>
[[noreturn]] void refuse_pattern(const char* id, const std::string& wanted, const A&... more) {
    throw UsageError(message(id, text::shown(wanted), more...));
}

/// Whether block (row, col) is seen. `diagonal`: the column of blocks in which the diagonal lies in this row.
using Sees = std::function<bool(Index row, Index col, Index diagonal)>;

/// A number from 0 to 1 for a block: a hash of its position, so that every problem has the same blocks.
double share_at(Index row, Index col) {
    auto x = (static_cast<std::uint64_t>(row) << 32 | static_cast<std::uint64_t>(col)) + 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return static_cast<double>((x ^ x >> 31) >> 11) * 0x1p-53;
}

Sees pattern(const std::string& wanted) {
    const std::size_t colon = wanted.find(':');
    const std::string name = wanted.substr(0, colon), number = colon < wanted.size() ? wanted.substr(colon + 1) : "";
    const auto need_number = [&](const char* example) {
        if (number.empty()) refuse_pattern("block_patterns.needs_number", wanted, example);
    };
    const auto whole = [&] {
        need_number((name + ":2").c_str());
        return to_index(pattern_flag + (' ' + name), number, {1, most_blocks, 2});
    };
    if (wanted == "butterfly")
        return [](Index i, Index j, Index) { return std::popcount(static_cast<std::uint64_t>(i ^ j)) <= 1; };
    if (name == "band") return [n = whole()](Index, Index j, Index d) { return j >= d - n && j <= d + n; };
    if (name == "strided")
        return [n = whole()](Index, Index j, Index d) { return j <= d && (j > d - n || (j + 1) % n == 0); };
    if (name == "global")
        return [n = whole()](Index i, Index j, Index d) { return i < n || j < n || (j >= d - 1 && j <= d + 1); };
    if (name == "random") {
        need_number("random:0.25");
        const double share = to_real(pattern_flag + (' ' + name), number, "random:0.25");
        if (share < 0 || share > 1) refuse_pattern("block_patterns.no_share", wanted);
        return [share](Index i, Index j, Index) { return share_at(i, j) < share; };
    }
    if (const auto near = text::nearest(name, {"butterfly", "band:2", "strided:4", "global:1", "random:0.25"}))
        refuse_pattern("block_patterns.misspelt", wanted, *near);
    refuse_pattern("block_patterns.unknown", wanted);
}

void read_text(const std::string& path, BlockMask& m) {
    std::ifstream in(path);
    if (!in) refuse_pattern("block_patterns.unreadable", path);
    Index lines = 0;
    const auto refuse_row = [&](const char* id, const auto&... more) {
        refuse_pattern(id, path, std::to_string(m.rows), std::to_string(lines), more...);
    };
    for (std::string line; std::getline(in, line);) {
        ++lines;
        Index cols = 0;
        for (const char c : line) {
            if (c == ' ' || c == '\r' || c == '\t') continue;
            if (c != '0' && c != '1') refuse_row("block_patterns.other_signs");
            m.seen.push_back(c == '1'), ++cols;
            if (static_cast<Index>(m.seen.size()) > most_blocks) refuse_pattern("block_patterns.too_many_blocks", path);
        }
        if (cols == 0) continue;
        if (m.rows > 0 && cols != m.cols) refuse_row("block_patterns.uneven_row", cols, std::to_string(m.cols));
        m.cols = cols, ++m.rows;
    }
    if (m.rows == 0) refuse_pattern("block_patterns.empty_text", path);
}

/// Reads a .npy file. Its 16-bit whole numbers are the 0 and 1 of a mask, never bits of bf16.
void read_matrix(const std::string& path, BlockMask& m) {
    const FileArray a = [&] {
        try {
            return read_npy(path, nullptr, std::nullopt, WholeNumbers::mask);
        } catch (const UsageError& e) {
            throw UsageError(std::string(pattern_flag) + ' ' + e.what());
        }
    }();
    if (std::find(a.shape.begin(), a.shape.end(), 0) != a.shape.end())
        refuse_pattern("block_patterns.empty_matrix", path);
    if (a.shape.size() != 2) refuse_pattern("block_patterns.no_matrix", path, a.shape.size());
    m.rows = a.shape[0], m.cols = a.shape[1];
    for (std::size_t k = 0; k < a.values.size(); ++k) {
        const float x = a.values[k];
        const auto at = [&](Index n) { return std::to_string(n); };
        if (x != 0 && x != 1)
            refuse_pattern("block_patterns.other_number", path, text::number(x), at(static_cast<Index>(k) / m.cols),
                           at(static_cast<Index>(k) % m.cols));
        m.seen.push_back(x == 1);
    }
}

}  // namespace

BlockMask block_mask(const std::string& wanted, const Problem& p, Index block_rows, Index block_cols) {
    BlockMask m{wanted, block_rows, block_cols, 0, 0, {}};
    if (wanted.ends_with(".npy"))
        read_matrix(wanted, m);
    else if (wanted.ends_with(".txt"))
        read_text(wanted, m);
    if (m.rows > 0) return m;
    const Sees sees = pattern(wanted);
    m.rows = ceil_div(p.queries(), block_rows), m.cols = ceil_div(p.seq_k, block_cols);
    if (m.rows > most_blocks / m.cols)
        throw UsageError(message("block_patterns.blocks_too_small", std::to_string(block_rows),
                                 std::to_string(block_cols), m.rows, m.cols));
    m.seen.reserve(static_cast<std::size_t>(m.rows * m.cols));
    for (Index i = 0; i < m.rows; ++i) {
        const Index last = std::min((i + 1) * block_rows, p.queries()) - 1 + p.diagonal();
        const Index diagonal = last < 0 ? -1 : last / block_cols;
        for (Index j = 0; j < m.cols; ++j) m.seen.push_back(sees(i, j, diagonal));
    }
    return m;
}

}  // namespace tilescope::lab
