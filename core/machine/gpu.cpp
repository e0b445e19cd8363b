#include "core/machine/gpu.hpp"

#include <algorithm>
#include <optional>
#include <typeinfo>

#include "core/machine/fold.hpp"
#include "core/machine/gpu_state.hpp"
#include "core/machine/parallel.hpp"
#include "core/machine/promise.hpp"
#include "core/machine/storage.hpp"
#include "core/text/message.hpp"

namespace tilescope {
using text::message;
namespace {

constexpr std::size_t most_axes = 3;

/// The grid's blocks by number, the first axis outermost.
class BlockGrid {
  public:
    explicit BlockGrid(std::span<const Axis> axes) : axes_(axes) {
        for (const Axis& a : axes) size_ *= a.tiles.count();
    }
    Index size() const { return size_; }
    void at(Index block, Span* out) const {
        for (std::size_t k = axes_.size(); k-- > 0;) {
            const Index n = axes_[k].tiles.count();
            out[k] = axes_[k].tiles[block % n];
            block /= n;
        }
    }
    bool promises() const {
        return std::any_of(axes_.begin(), axes_.end(), [](const Axis& a) { return a.promise != Promise::none; });
    }
    /// Tells `check` what a block cost. Two blocks are alike if they are alike on every axis; at most one axis is
    /// graded, and it may have parts.
    void tell(PromiseCheck& check, Index block, const Cost& cost) const {
        Index alike = 0, stride = 1, rest = block;
        std::array<Span, most_axes> at;
        this->at(block, at.data());
        const std::optional<Tiles> seen = seen_at(axes_, at.data());
        for (std::size_t k = axes_.size(); k-- > 0;) {
            const Index n = axes_[k].tiles.count(), i = rest % n;
            alike += stride * alike_in(axes_[k], i, seen);
            stride *= sets_of(axes_[k]);
            rest /= n;
        }
        check.tell(alike, block, cost, seen);
    }

  private:
    std::span<const Axis> axes_;
    Index size_ = 1;
};

/// The party of a block: the number of the first of the blocks that take turns with it (along ordered axes).
Index party_of(std::span<const Axis> axes, Index block) {
    Index party = 0, stride = 1;
    for (std::size_t k = axes.size(); k-- > 0;) {
        const Index n = axes[k].tiles.count();
        if (!axes[k].ordered) party += stride * (block % n);
        stride *= n, block /= n;
    }
    return party;
}

/// Tells the check of the grid's promise what a block cost.
void tell(const BlockGrid& grid, PromiseCheck& check, Index launch, Index block, const Cost& cost) {
    try {
        grid.tell(check, block, cost);
    } catch (BrokenPromise& mistake) {
        mistake.place = {launch, block, 0};
        throw;
    }
}

void check_parts(const Axis* before, const Tiles& parts) {
    if (!before || before->promise != Promise::graded) throw std::logic_error(message("launch.parts_of_nothing"));
    if (parts.tile_size() % before->seen->tile_size() != 0 || parts.extent() < before->seen->extent())
        throw std::logic_error(message("launch.parts_of_tiles"));
}

void check_axes(std::span<const Axis> axes) {
    if (axes.size() > most_axes) throw std::logic_error(message("launch.too_many_axes"));
    if (std::count_if(axes.begin(), axes.end(), [](const Axis& a) { return a.promise == Promise::graded; }) > 1)
        throw std::logic_error(message("launch.two_graded"));
    for (std::size_t k = 0; k < axes.size(); ++k)
        if (axes[k].promise == Promise::parts) check_parts(k > 0 ? &axes[k - 1] : nullptr, axes[k].tiles);
}

}  // namespace

struct Gpu::Launch {
    Index number;
    const char* kernel;
    std::span<const Axis> axes;
    const Body& body;
    Here here;
};

Gpu::Gpu(const GpuSpec& spec, Mode mode, int threads, Control* control)
    : state_(new State{.spec = spec,
                       .mode = mode,
                       .threads = threads > 0 ? threads : cores(),
                       .control = control,
                       .main = {ChipCapacity{spec.sram_per_block, spec.registers_per_sm}, mode.data}}) {}

Gpu::~Gpu() = default;

const GpuSpec& Gpu::spec() const { return state_->spec; }
Mode Gpu::mode() const { return state_->mode; }
const std::deque<TensorInfo>& Gpu::tensors() const { return state_->tensors; }
const std::vector<LaunchInfo>& Gpu::launches() const { return state_->launches; }
std::vector<std::string> Gpu::notes() const {
    std::vector<std::string> all = state_->notes;
    for (std::string& sentence : state_->main.saturated.sentences()) all.push_back(std::move(sentence));
    return all;
}
Bytes Gpu::capacity(Space s) const { return state_->main.chip.capacity().of(s); }
const Counters& Gpu::total() const { return state_->main.total; }
const Traffic& Gpu::traffic(TensorId t) const { return state_->main.traffic[t]; }

Hbm Gpu::add(TensorInfo tensor) {
    if (state_->tensors.size() >= no_tensor) throw std::logic_error(message("tensor.too_many"));
    if (const Storage* d = tensor.data.get(); d && (d->dtype() != tensor.dtype || d->slices() != tensor.slices ||
                                                    d->rows() != tensor.rows || d->cols() != tensor.cols))
        throw std::logic_error(message("tensor.other_data", tensor.name));
    if (const Pages& p = tensor.pages) {
        if (state_->page_size > 0 && state_->page_size != p.size)
            throw std::logic_error(
                message("tensor.other_pages", tensor.name, std::to_string(p.size), std::to_string(state_->page_size)));
        state_->page_size = p.size;
    }
    if (tensor.shared_by > 1) state_->shares.push_back(tensor.shared_by);
    if (state_->mode.data && !tensor.data)
        tensor.data = std::make_shared<Storage>(tensor.dtype, tensor.slices, tensor.rows, tensor.cols);
    state_->tensors.push_back(std::move(tensor));
    state_->main.traffic.emplace_back();
    return Hbm(static_cast<TensorId>(state_->tensors.size() - 1), state_->tensors.back());
}

void Gpu::listen(Listener& listener) {
    const Listener::Needs needs = listener.needs();
    if (needs.exact && state_->mode.fold) throw std::logic_error(message("listener.needs_all"));
    if (needs.data && !state_->mode.data) throw std::logic_error(message("listener.needs_contents"));
    state_->listeners.push_back(&listener);
}

void Gpu::note(std::string text) {
    if (std::find(state_->notes.begin(), state_->notes.end(), text) == state_->notes.end())
        state_->notes.push_back(std::move(text));
}

Here Gpu::last() const { return state_->main.here; }

Bytes Gpu::hbm_footprint() const {
    Bytes sum = 0;
    for (const TensorInfo& t : state_->tensors) sum += t.bytes();
    return sum;
}

/// Where neither the tile size nor the page size divides the other, tiles that look alike touch different numbers of
/// pages. Then nothing can be promised, and each tile is run. The same holds for rows that share an element.
Axis Gpu::believed(const Axis& axis) const {
    const auto divide = [](Index a, Index b) { return a % b == 0 || b % a == 0; };
    const Index own = axis.tiles.tile_size(), seen = axis.seen ? axis.seen->tile_size() : own;
    bool alike = state_->page_size == 0 || divide(state_->page_size, seen);
    for (const Index rows : state_->shares) alike = alike && divide(rows, own) && divide(rows, seen);
    // Parts are whole tiles of what a graded axis sees.
    return alike || axis.promise == Promise::parts ? axis : Axis{axis.tiles, Promise::none, {}, axis.ordered};
}

void Gpu::refuse_body() { throw std::logic_error(message("launch.other_spans")); }

void Gpu::run(const char* kernel, std::span<const Axis> asked, const Body& body, Here here) {
    check_axes(asked);
    std::vector<Axis> axes;
    for (const Axis& a : asked) axes.push_back(believed(a));
    for (std::size_t k = 0; k < axes.size(); ++k)
        if (axes[k].promise == Promise::parts && axes[k - 1].promise == Promise::none) axes[k] = each(axes[k].tiles);
    const Launch launch{static_cast<Index>(state_->launches.size()), kernel, axes, body, here};
    state_->launches.push_back({kernel});
    state_->main.total.launches += 1;
    state_->main.chip.forget_peaks();
    const Count blocks_before = state_->main.total.thread_blocks;
    LaunchMark mark{launch.number, kernel, axes, {}};
    mark.cost.launches = 1;
    for (Listener* l : state_->listeners) l->begin(mark);
    state_->mode.fold ? run_folded(launch) : run_exact(launch);
    state_->launches.back().thread_blocks = state_->main.total.thread_blocks - blocks_before;
    mark.cost = {};
    for (Listener* l : state_->listeners) l->end(mark);
}

void Gpu::run_folded(const Launch& launch) {
    const std::size_t n = launch.axes.size();
    std::array<std::vector<Representative>, most_axes> chosen;
    Index total = 1;
    for (std::size_t k = 0; k < n; ++k) {
        representatives(launch.axes, k, chosen[k]);
        total *= static_cast<Index>(chosen[k].size());
    }
    std::array<Span, most_axes> at;
    for (Index c = 0; c < total; ++c) {
        check_stop(state_->control);
        Index rest = c, block = 0, first = 0, stride = 1;
        Count weight = 1;
        Block::Grading grading;
        for (std::size_t k = n; k-- > 0;) {
            const Axis& axis = launch.axes[k];
            const auto options = static_cast<Index>(chosen[k].size());
            const Representative& r = chosen[k][static_cast<std::size_t>(rest % options)];
            rest /= options;
            weight *= r.members;
            if (axis.promise == Promise::parts) continue;  // the graded axis before chooses for both axes
            const Tiles* parts = parts_of(launch.axes, k);
            const Index inner = parts ? parts->count() : 1;
            at[k] = axis.tiles[r.position / inner];
            if (parts) at[k + 1] = (*parts)[r.position % inner];
            if (axis.promise == Promise::graded) grading = {r.members, r.full, r.ragged, 0};
            block += stride * r.position, first += stride * r.first;
            stride *= axis.tiles.count() * inner;
        }
        if (const auto seen = seen_at(launch.axes, at.data())) grading.own = seen->count();
        try {
            run_block(state_->main, launch, block, at.data(), grading, weight);
        } catch (Placed& mistake) {
            mistake.place.block = first;  // the first block with this mistake
            throw;
        }
    }
    merge(state_->main);
    // A folded run cannot tell which elements were stored. But a tensor without any store so far had no values.
    for (const auto& [tensor, here] : state_->main.early)
        if (state_->main.traffic[tensor].write == 0)
            throw Misuse(message("tensor.never_stored", state_->tensors[tensor].name), here);
}

/// The first block from `from` on that has to run.
Index Gpu::next_block(const Launch& launch, Index from) const {
    if (!state_->mode.only_wanted) return from;
    Index next = Listener::none_wanted;
    for (Listener* l : state_->listeners) next = std::min(next, l->next_wanted(launch.number, from));
    return std::max(next, from);
}

void Gpu::run_exact(const Launch& launch) {
    const BlockGrid grid(launch.axes);
    // Blocks that are left out have no cost that could be compared with the promise.
    const bool checks = !state_->mode.only_wanted && grid.promises();
    PromiseCheck promise(PromiseCheck::Members::thread_blocks, launch.kernel, launch.here);
    if (state_->control) {
        state_->control->blocks_done = 0;
        state_->control->blocks_total = grid.size();
    }
    const auto work = [&](Worker& w, Index block) {
        check_stop(state_->control);
        std::array<Span, most_axes> at;
        grid.at(block, at.data());
        const Cost before = Cost::so_far(w);
        run_block(w, launch, block, at.data(), {}, 1);
        if (checks) tell(grid, promise, launch.number, block, Cost::so_far(w) - before);
        if (state_->control) ++state_->control->blocks_done;
    };
    // Listeners hear of one thread block after the other, and blocks on an ordered axis take turns.
    const bool takes_turns =
        std::any_of(launch.axes.begin(), launch.axes.end(), [](const Axis& a) { return a.ordered; });
    const bool one_by_one = !state_->listeners.empty() || state_->mode.only_wanted || takes_turns;
    const Index threads = one_by_one ? 1 : std::min<Index>(state_->threads, grid.size());
    std::vector<std::unique_ptr<Worker>> workers(static_cast<std::size_t>(threads));
    if (threads <= 1) {
        for (Index block = 0; (block = next_block(launch, block)) < grid.size(); ++block) work(state_->main, block);
    } else {
        Mutex failing;
        in_order(grid.size(), state_->threads, [&](Index worker, Index block) {
            std::unique_ptr<Worker>& own = workers[static_cast<std::size_t>(worker)];  // made by its first block
            if (!own) {
                own = std::make_unique<Worker>(state_->main.chip.capacity(), state_->mode.data);
                own->traffic.resize(state_->tensors.size());
                own->addends = Addends(false);
                own->written = Written(&state_->main.settled);
            }
            try {
                work(*own, block);
            } catch (...) {
                const Lock lock(failing);
                state_->main.here = own->here;
                throw;
            }
            return own->addends.take();
        });
    }
    merge(state_->main);
    for (const auto& w : workers)
        if (w) merge(*w), state_->main.here = w->here;
    settle(launch);
}

/// All thread blocks have ended. Checks their stores for races; later launches can load what they stored.
void Gpu::settle(const Launch& launch) {
    std::vector<const char*> names;
    for (const TensorInfo& t : state_->tensors) names.push_back(t.name.c_str());
    Stores& stores = state_->main.stores;
    stores.check(launch.number, launch.kernel, names);
    for (const Stored& s : stores.all())
        if (!s.adds && state_->tensors[s.region.tensor].blank) state_->main.settled.add(s.region);
    stores.forget();
    state_->main.written.forget();
}

void Gpu::run_block(Worker& w, const Launch& launch, Index block, const Span* at, const Block::Grading& grading,
                    Count weight) {
    w.listeners.clear();
    w.unsaid = nullptr;
    for (Listener* l : state_->listeners)
        if (l->wants(launch.number, block)) w.listeners.push_back(l);
    if (state_->mode.only_wanted && w.listeners.empty()) return;

    w.chip.restart();
    w.lanes.clear();
    w.issuing = no_lane;
    const Index party = party_of(launch.axes, block);
    w.stores.begin_block(block, party);
    w.written.begin_block(party);
    w.total.thread_blocks += weight;
    Block b(*this, w, block, weight);
    b.grading_ = grading;
    BlockMark mark{launch.number, block, {at, launch.axes.size()}, weight, {}};
    mark.cost.thread_blocks = 1;
    w.tell([&](Listener& l) { l.begin(mark); });
    try {
        launch.body(b, at);
    } catch (Placed& mistake) {
        mistake.place = {launch.number, block, b.line_};
        mistake.here = w.here;
        throw;
    } catch (const std::logic_error& error) {
        // std::logic_error itself means an impossible operation; types derived from it are the program's own.
        if (typeid(error) != typeid(std::logic_error)) throw;
        throw Misuse(error.what(), w.here);
    }
    b.at_hand_.reset();
    mark.cost = {};
    w.tell([&](Listener& l) { l.end(mark); });
}

/// Adds what a worker did to the launch and the totals.
void Gpu::merge(Worker& w) {
    LaunchInfo& launch = state_->launches.back();
    launch.sram_peak = std::max(launch.sram_peak, w.chip.peak(Space::sram));
    launch.register_peak = std::max(launch.register_peak, w.chip.peak(Space::registers));
    if (&w == &state_->main) return;
    state_->main.total += w.total;
    state_->main.saturated.add(w.saturated);
    state_->main.stores.take_from(w.stores);
    for (std::size_t t = 0; t < w.traffic.size(); ++t) state_->main.traffic[t] += w.traffic[t];
}

Bytes Gpu::peak(Space s) const {
    Bytes most = 0;
    for (const LaunchInfo& l : state_->launches)
        most = std::max(most, s == Space::sram ? l.sram_peak : l.register_peak);
    return most;
}

}  // namespace tilescope
