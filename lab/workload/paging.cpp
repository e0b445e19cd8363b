#include "lab/workload/paging.hpp"

#include <algorithm>
#include <cstring>

#include "algorithms/contract/page_pool.hpp"
#include "core/machine/storage.hpp"
#include "core/text/message.hpp"

namespace tilescope::lab {
using text::message;
namespace {

using Rows = std::vector<float>;

PagePool pool_of(const Problem& p) { return {p.pages, p.batch, p.seq_k}; }

/// The keys of page n.
Span keys_of(const Problem& p, Index n) { return Tiles(p.seq_k, p.pages.size)[n]; }

/// Reads rows of a slice of a tensor as users have it, without pages.
void read_rows(const Storage& from, Index slice, Span rows, Rows& to) {
    to.resize(static_cast<std::size_t>(rows.size * from.cols()));
    from.read(slice, rows, {0, from.cols()}, to.data());
}

std::shared_ptr<Storage> table_of(const Problem& p) {
    const PagePool pool = pool_of(p);
    const auto table = std::make_shared<Storage>(Dtype::i32, p.batch, pool.of_a_sequence(), 1);
    Rows entries(static_cast<std::size_t>(pool.of_a_sequence()));
    for (Index sequence = 0; sequence < p.batch; ++sequence) {
        for (Index n = 0; n < pool.of_a_sequence(); ++n)
            entries[static_cast<std::size_t>(n)] = static_cast<float>(pool.entry(sequence, n));
        table->write(sequence * pool.of_a_sequence(), entries);
    }
    return table;
}

/// The pool: `from` with every page where the page table puts it. Rows that no sequence uses are NaN.
std::shared_ptr<Storage> pool_with(const Storage& from, const Problem& p) {
    const PagePool pool = pool_of(p);
    const auto out = std::make_shared<Storage>(from.dtype(), p.kv_heads, pool.pages() * p.pages.size, from.cols());
    Rows rows;
    for (Index slice = 0; slice < p.kv_slices(); ++slice)
        for (Index n = slice < p.kv_heads ? 0 : pool.shared(); n < pool.of_a_sequence(); ++n) {
            const Span keys = keys_of(p, n);
            read_rows(from, slice, keys, rows);
            const Index page = pool.entry(slice / p.kv_heads, n);
            out->write(slice % p.kv_heads, {page * p.pages.size, keys.size}, {0, from.cols()}, rows.data());
        }
    return out;
}

/// Calls f(storage, name) for K and for V, where they are given.
template <class F>
void for_cached(const Inputs& inputs, F&& f) {
    for (const char* name : {"K", "V"})
        if (const auto found = inputs.find(std::string_view(name)); found != inputs.end()) f(*found->second, name);
}

/// Whether every sequence has the same values as the first sequence in the `shared` keys.
bool begins_alike(const Storage& s, const Problem& p, Span shared) {
    Rows first, other;
    for (Index slice = p.kv_heads; slice < p.kv_slices(); ++slice) {
        read_rows(s, slice % p.kv_heads, shared, first), read_rows(s, slice, shared, other);
        if (first != other) return false;
    }
    return true;
}

}  // namespace

void put_in_pages(TensorInfo& info, const TensorDecl& of, const std::vector<TensorDecl>& declared, TensorId first,
                  const Problem& p, bool with_data) {
    const auto is_table = [](const TensorDecl& t) { return std::string_view(t.name) == page_table; };
    if (is_table(of) && with_data) info.data = table_of(p);
    if (!of.in_pages) return;
    const auto table = std::find_if(declared.begin(), declared.end(), is_table) - declared.begin();
    info.pages = {p.pages.size, pool_of(p).pages(), p.kv_heads, static_cast<TensorId>(first + table), nullptr};
    if (!with_data) return;
    if (!info.data) info.data = std::make_shared<Storage>(info.dtype, info.slices, info.rows, info.cols);
    info.pages.pool = pool_with(*info.data, p);
}

Index rows_in_pool(const Problem& p) { return p.kv_heads * pool_of(p).pages() * p.pages.size; }

Span shared_keys(const Problem& p) { return {0, p.pages ? std::min(pool_of(p).shared() * p.pages.size, p.seq_k) : 0}; }

Inputs with_shared_prefix(Inputs inputs, const Problem& p) {
    const Span shared = shared_keys(p);
    if (shared.size == 0) return inputs;
    Rows rows;
    for_cached(Inputs(inputs), [&](const Storage& s, const char* name) {
        if (begins_alike(s, p, shared)) return;
        const auto copy = std::make_shared<Storage>(s.dtype(), s.slices(), s.rows(), s.cols());
        std::memcpy(copy->data(), s.data(), static_cast<std::size_t>(s.bytes()));
        for (Index slice = p.kv_heads; slice < p.kv_slices(); ++slice) {
            read_rows(s, slice % p.kv_heads, shared, rows);
            copy->write(slice, shared, {0, s.cols()}, rows.data());
        }
        inputs[name] = copy;
    });
    return inputs;
}

std::string unlike_prefix(const Inputs& inputs, const Problem& p) {
    std::string unlike;
    const Span shared = shared_keys(p);
    if (shared.size == 0) return unlike;
    for_cached(inputs, [&](const Storage& s, const char* name) {
        if (unlike.empty() && !begins_alike(s, p, shared)) unlike = name;
    });
    return unlike;
}

std::string about_pages(const Problem& p) {
    if (!p.pages) return "";
    const PagePool pool = pool_of(p);
    const bool in_order = p.pages.order == PageOrder::identity;
    std::string about = message(in_order ? "paging.in_order" : "paging.permuted", pool.pages(), p.pages.size);
    if (pool.shared() > 0) about = message("paging.shared", about, pool.shared());
    const Index free = pool.free_slots();
    return free > 0 ? message("paging.room", about, free) : about;
}

std::string untimed_pages(const Problem& p) { return p.pages ? message("paging.untimed") : ""; }

}  // namespace tilescope::lab
