#include "core/machine/race.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "core/text/message.hpp"

namespace tilescope {
using text::message;
namespace {

std::string in_digits(Index n) { return std::to_string(n); }

bool overlap(Span a, Span b) { return a.begin < b.end() && b.begin < a.end(); }

/// The rectangles of one slice that reach the current row, ordered by their first column.
class Front {
  public:
    /// The rectangle of another party that overlaps `s`; nullptr: none.
    const Stored* meets(const Stored& s) const {
        const auto begin = by_column_.lower_bound(s.region.cols.begin - widest_);
        for (auto k = begin; k != by_column_.end() && k->first < s.region.cols.end(); ++k)
            if (k->second->party != s.party && overlap(k->second->region.cols, s.region.cols) &&
                overlap(k->second->region.rows, s.region.rows))
                return k->second;
        return nullptr;
    }
    void add(const Stored& s) {
        by_column_.emplace(s.region.cols.begin, &s);
        widest_ = std::max(widest_, s.region.cols.size);
    }
    /// Forgets rectangles that end at or before `row`. Does nothing until all that remain have ended.
    void leave_behind(Index row) {
        if (row < next_look_) return;
        std::erase_if(by_column_, [&](const auto& k) { return k.second->region.rows.end() <= row; });
        next_look_ = row + 1;
        for (const auto& [column, s] : by_column_) next_look_ = std::max(next_look_, s->region.rows.end());
    }

  private:
    std::multimap<Index, const Stored*> by_column_;
    Index widest_ = 0, next_look_ = 0;
};

}  // namespace

void Stores::begin_block(Index block, Index party) {
    block_ = block, party_ = party;
    seen_.clear();
}

void Stores::add(const Region& r, std::uint16_t line, bool adds, Here here) {
    if (!adds) note({"race.stores_to_sum", block_, line}, r.tensor);
    if (seen_.emplace(r.tensor, r.slice, r.rows.begin, r.rows.size, r.cols.begin, r.cols.size, adds).second)
        all_.push_back({r, block_, party_, line, adds, here});
}

void Stores::add_load(TensorId tensor, std::uint16_t line) { note({"race.loads_from_sum", block_, line}, tensor); }

void Stores::note(const Use& use, TensorId tensor) {
    const auto [at, is_new] = uses_.try_emplace(tensor, use);
    if (!is_new && use.block < at->second.block) at->second = use;
}

void Stores::take_from(Stores& other) {
    all_.insert(all_.end(), other.all_.begin(), other.all_.end());
    for (const auto& [tensor, use] : other.uses_) note(use, tensor);
    other.forget();
}

void Stores::check(Index launch, const char* kernel, const std::vector<const char*>& tensors) {
    const auto place = [](const Stored& s) {
        return std::tuple(s.region.tensor, s.region.slice, s.region.rows.begin, s.block);
    };
    std::sort(all_.begin(), all_.end(), [&](const Stored& a, const Stored& b) { return place(a) < place(b); });
    check_adding(launch, kernel, tensors);
    Front front;
    const Stored* before = nullptr;
    for (const Stored& s : all_) {
        if (s.adds) continue;
        if (!before || before->region.tensor != s.region.tensor || before->region.slice != s.region.slice) front = {};
        front.leave_behind(s.region.rows.begin);
        if (const Stored* other = front.meets(s))
            throw Race(
                message("race.both_store", kernel, in_digits(other->block), in_digits(other->line), in_digits(s.block),
                        in_digits(s.line),
                        message("race.elements", shown(s.region.rows), shown(s.region.cols), in_digits(s.region.slice)),
                        tensors[s.region.tensor], source_of(s.here)),
                {launch, other->block, other->line}, {launch, s.block, s.line});
        front.add(s);
        before = &s;
    }
}

/// Throws Race where a block loads from or stores to a tensor that any block adds to: sums are known only after the
/// launch.
void Stores::check_adding(Index launch, const char* kernel, const std::vector<const char*>& tensors) const {
    for (const Stored& s : all_) {
        const auto found = uses_.find(s.region.tensor);
        if (!s.adds || found == uses_.end()) continue;
        const Use& use = found->second;
        throw Race(message(use.mistake, kernel, in_digits(use.block), in_digits(use.line), tensors[s.region.tensor],
                           in_digits(s.block), in_digits(s.line), source_of(s.here)),
                   {launch, use.block, use.line}, {launch, s.block, s.line});
    }
}

}  // namespace tilescope
