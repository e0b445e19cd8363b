#include "show/run/contents.hpp"

#include <utility>

namespace tilescope::show {
namespace {

bool is_copy(const Event& e) { return e.kind() == Kind::map && e.operation->access == Access::write; }
/// Other work of the special-function unit does not count: capped logits are still logits.
bool exponentiates(const Event& e) { return takes_exponential(e.operation->effect); }
bool divides(const Event& e) { return e.operation->effect == Effect::divide_rows; }

}  // namespace

Contents::Contents(const Trace& trace, const std::string& weights)
    : trace_(&trace), weights_(weights), held_(trace.tiles().size()), labels_(static_cast<std::size_t>(trace.size())) {
    for (const RecordedTile& t : trace.tiles()) buffers_.insert({t.launch, t.name});
    for (Index k = 0; k < trace.size(); ++k)
        if (const Event& e = trace[k].event; works(e.kind()) && divides(e)) divided_.insert(e.out);
}

void Contents::step(const Reading& r) {
    const Event& e = r.step.event;
    Labels& labels = labels_[static_cast<std::size_t>(r.number)];
    for (std::size_t o = 0; o < e.reads.size(); ++o)
        if (e.reads[o].tile != no_tile) labels[2 + o] = held_[e.reads[o].tile].label;
    if (e.out != no_tile) labels[1] = held_[e.out].label;
    if (e.kind() == Kind::store)
        store(r.step), labels[2] = held_[e.a()].label;
    else if (e.kind() == Kind::release)
        labels[0] = labels[1];
    else if (e.out != no_tile)
        write(e, r.number);
}

Contents::Label Contents::label(const std::string& name) {
    const auto [at, is_new] = known_.try_emplace(name, static_cast<Label>(names_.size()));
    if (is_new) names_.push_back(name);
    return at->second;
}

/// The name of a former value: m becomes m_old. A name that ends in _old already stays.
Contents::Label Contents::old(Label now) {
    if (old_.contains(now)) return now;
    const Label was = label(names_[now] + "_old");
    old_.insert(was);
    return was;
}

/// Whether exp(x - a) is final: an earlier pass has saved `a` (LSE), and no operation divides the tile.
bool Contents::is_whole(const Event& e) const {
    if (e.a() == no_tile || divided_.contains(e.out) || held_[e.a()].written < 0) return false;
    const Event& from = (*trace_)[held_[e.a()].written].event;
    return from.kind() == Kind::load && trace_->tensors()[from.region.tensor].role == Role::input;
}

Contents::Label Contents::made_by(const Event& e) {
    const RecordedTile& tile = trace_->tiles()[e.out];
    const Held& was = held_[e.out];
    if (e.kind() == Kind::load) return label(trace_->tensors()[e.region.tensor].name);
    if (e.operation->operates == Operates::a_column) return label(tile.name);
    if (is_copy(e)) return e.a() == no_tile ? label(tile.name) : held_[e.a()].label;
    if (exponentiates(e)) {
        if (tile.meaning == Meaning::score) return label(weights_ + (is_whole(e) ? "" : "~"));
        return label(was.copy_of != no_tile ? "α" : "β");
    }
    if (divides(e) && names_[was.label] == weights_ + "~") return label(weights_);
    // A sum or factor that was divided is a factor from now on, named after both operands.
    if (divides(e) && tile.meaning == Meaning::statistic)
        return label(names_[was.label] + "/" + names_[held_[e.a()].label]);
    return e.kind() == Kind::map ? was.label : label(tile.name);
}

/// Renames a copy that an operation is about to change: to the old value's name (m_old) where the operation takes
/// exponentials, because that makes a factor; else to the buffer's name.
void Contents::name_copy(const Event& e, const std::string& buffer, Held& copy) {
    copy.label = e.operation->price.exps == 0 ? label(buffer) : old(copy.label);
    labels_[static_cast<std::size_t>(copy.written)][0] = copy.label;
}

void Contents::write(const Event& e, Index step) {
    Held& h = held_[e.out];
    if (h.copy_of != no_tile && e.kind() == Kind::map && e.operation->access == Access::update)
        name_copy(e, trace_->tiles()[e.out].name, h), labels_[static_cast<std::size_t>(step)][1] = h.label;
    const Label now = made_by(e);
    labels_[static_cast<std::size_t>(step)][0] = h.label = now;
    // A copy of this tile holds the old value from now on.
    if (const TileId copy = std::exchange(h.copy, no_tile); copy != no_tile && held_[copy].copy_of == e.out) {
        Held& c = held_[copy];
        c.label = old(c.label);
        labels_[static_cast<std::size_t>(c.written)][0] = c.label;
    }
    h.written = step, h.copy_of = no_tile;
    if (is_copy(e) && e.a() != no_tile) h.copy_of = e.a(), held_[e.a()].copy = e.out;
}

/// A tile stored to a tensor whose name no tile of the launch has (LSE) gets this name from its last write on.
void Contents::store(const Step& step) {
    const Event& e = step.event;
    const std::string& tensor = trace_->tensors()[e.region.tensor].name;
    Held& h = held_[e.a()];
    if (buffers_.contains({step.launch, tensor}) || h.written < 0) return;
    h.label = label(tensor);
    labels_[static_cast<std::size_t>(h.written)][0] = h.label;
}

}  // namespace tilescope::show
