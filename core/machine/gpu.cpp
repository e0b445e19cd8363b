#include "core/machine/gpu.hpp"

#include <algorithm>
#include <optional>

#include "core/machine/parallel.hpp"

namespace tilescope {
namespace {

/// The grid's blocks by number, the first axis outermost.
class Grid {
  public:
    explicit Grid(std::span<const Axis> axes) : axes_(axes) {
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
    /// Blocks with the same class promised to cost the same: full and ragged tiles of uniform axes, single tiles of
    /// the others.
    Index promise_class(Index block) const {
        Index c = 0, stride = 1;
        for (std::size_t k = axes_.size(); k-- > 0;) {
            const auto& [tiles, uniform] = axes_[k];
            const Index n = tiles.count(), i = block % n;
            c += stride * (uniform ? (i < tiles.full() ? 0 : 1) : i);
            stride *= uniform ? 2 : n;
            block /= n;
        }
        return c;
    }
    bool promises() const {
        return std::any_of(axes_.begin(), axes_.end(), [](const Axis& a) { return a.uniform; });
    }
    Index promise_classes() const {
        Index n = 1;
        for (const Axis& a : axes_) n *= a.uniform ? 2 : a.tiles.count();
        return n;
    }

  private:
    std::span<const Axis> axes_;
    Index size_ = 1;
};

/// Remembers what the first block of each promise class cost and compares the others with it.
class GridPromises {
  public:
    GridPromises(const char* kernel, const Grid& grid)
        : kernel_(kernel), grid_(grid), first_(static_cast<std::size_t>(grid.promise_classes()), Kept{-1, {}, 0}) {}

    void check(Index block, const Counters& cost, std::uint64_t fingerprint) {
        const Lock lock(mutex_);
        Kept& kept = first_[static_cast<std::size_t>(grid_.promise_class(block))];
        if (kept.block < 0) kept = {block, cost, fingerprint};
        for (const auto& [name, member] : Counters::fields)
            if (kept.cost.*member != cost.*member)
                throw BrokenPromise(std::string("a uniform axis of ") + kernel_ + ": thread block " +
                                    std::to_string(block) + " costs " + std::to_string(cost.*member) + " " + name +
                                    " where block " + std::to_string(kept.block) + " costs " +
                                    std::to_string(kept.cost.*member));
        if (kept.fingerprint != fingerprint)
            throw BrokenPromise(std::string("a uniform axis of ") + kernel_ + ": thread block " +
                                std::to_string(block) +
                                " moves other tensors, or makes tiles of other sizes, than "
                                "block " +
                                std::to_string(kept.block));
    }

  private:
    struct Kept {
        Index block;
        Counters cost;
        std::uint64_t fingerprint;
    };
    const char* kernel_;
    const Grid& grid_;
    Mutex mutex_;
    std::vector<Kept> first_;
};

}  // namespace

const char* name_of(Role role) {
    constexpr const char* names[] = {"input", "output", "scratch"};
    return names[static_cast<int>(role)];
}

Gpu::Gpu(const GpuSpec& spec, Mode mode, int threads, Control* control)
    : spec_(spec),
      mode_(mode),
      threads_(threads > 0 ? threads : cores()),
      control_(control),
      main_({spec.sram_per_block, spec.registers_per_sm}, mode.data) {}

Hbm Gpu::add(TensorInfo tensor) {
    if (tensors_.size() >= no_tensor) throw std::logic_error("too many tensors");
    if (const Storage* d = tensor.data.get(); d && (d->dtype() != tensor.dtype || d->slices() != tensor.slices ||
                                                    d->rows() != tensor.rows || d->cols() != tensor.cols))
        throw std::logic_error("tensor " + tensor.name + ": the data given has another type or shape");
    if (mode_.data && !tensor.data)
        tensor.data = std::make_shared<Storage>(tensor.dtype, tensor.slices, tensor.rows, tensor.cols);
    tensors_.push_back(std::move(tensor));
    main_.traffic.emplace_back();
    return Hbm(static_cast<TensorId>(tensors_.size() - 1), tensors_.back());
}

void Gpu::note(std::string text) {
    if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) notes_.push_back(std::move(text));
}

Bytes Gpu::hbm_footprint() const {
    Bytes sum = 0;
    for (const TensorInfo& t : tensors_) sum += t.bytes();
    return sum;
}

void Gpu::run(const char* kernel, std::span<const Axis> axes, const Body& body) {
    const Index launch = static_cast<Index>(launches_.size());
    launches_.push_back({kernel});
    main_.total.launches += 1;
    main_.chip.forget_peaks();
    const Count blocks_before = main_.total.thread_blocks;
    Counters cost;
    cost.launches = 1;
    for (Listener* l : listeners_) l->on({.op = Op::launch, .what = kernel, .block = launch, .cost = cost}, {});
    if (mode_.fold)
        run_folded(axes, body);
    else
        run_exact(kernel, axes, body);
    launches_.back().thread_blocks = main_.total.thread_blocks - blocks_before;
}

void Gpu::run_folded(std::span<const Axis> axes, const Body& body) {
    struct Alternative {
        Index position;
        Count weight;
    };
    // Per axis, either all of its tiles or one full tile for all full ones and the ragged one.
    const auto alternatives = [](const Axis& a) {
        const Index n = a.tiles.count(), full = a.tiles.full();
        return !a.uniform ? n : (full > 0 ? 1 : 0) + (a.tiles.ragged() ? 1 : 0);
    };
    const auto alternative = [](const Axis& a, Index i) -> Alternative {
        const Index full = a.tiles.full();
        if (!a.uniform) return {i, 1};
        return i == 0 && full > 0 ? Alternative{0, full} : Alternative{full, 1};
    };
    Index total = 1;
    for (const Axis& a : axes) total *= alternatives(a);
    std::array<Span, 3> at;
    for (Index n = 0; n < total; ++n) {
        check_stop();
        Index rest = n, block = 0, stride = 1;
        Count weight = 1;
        for (std::size_t k = axes.size(); k-- > 0;) {
            const Index options = alternatives(axes[k]);
            const Alternative chosen = alternative(axes[k], rest % options);
            rest /= options;
            at[k] = axes[k].tiles[chosen.position];
            weight *= chosen.weight;
            block += stride * chosen.position;
            stride *= axes[k].tiles.count();
        }
        run_block(main_, block, weight, at.data(), body);
    }
    merge(main_);
}

void Gpu::run_exact(const char* kernel, std::span<const Axis> axes, const Body& body) {
    const Grid grid(axes);
    std::optional<GridPromises> promises;
    if (!mode_.only_wanted && grid.promises()) promises.emplace(kernel, grid);
    if (control_) {
        control_->blocks_done = 0;
        control_->blocks_total = grid.size();
    }
    const auto work = [&](Worker& w, Index block) {
        check_stop();
        std::array<Span, 3> at;
        grid.at(block, at.data());
        const Counters before = w.total;
        const std::uint64_t fingerprint = w.fingerprint;
        run_block(w, block, 1, at.data(), body);
        if (promises) promises->check(block, w.total - before, w.fingerprint - fingerprint);
        if (control_) ++control_->blocks_done;
    };
    const Index threads = listeners_.empty() ? std::min<Index>(threads_, grid.size()) : 1;
    if (threads == 1) {
        for (Index block = 0; block < grid.size(); ++block) work(main_, block);
        return merge(main_);
    }
    std::deque<Worker> workers;
    for (Index t = 0; t < threads; ++t)
        workers.emplace_back(main_.chip.capacity(), mode_.data).traffic.resize(tensors_.size());
    at_once(grid.size(), threads_,
            [&](Index worker, Index block) { work(workers[static_cast<std::size_t>(worker)], block); });
    for (Worker& w : workers) merge(w);
}

void Gpu::run_block(Worker& w, Index block, Count weight, const Span* at, const Body& body) {
    w.listeners.clear();
    for (Listener* l : listeners_)
        if (l->wants(static_cast<Index>(launches_.size()) - 1, block)) w.listeners.push_back(l);
    if (mode_.only_wanted && w.listeners.empty()) return;

    w.chip.restart();
    w.total.thread_blocks += weight;
    Block b(*this, w, block, weight);
    Counters cost;
    cost.thread_blocks = 1;
    const auto tell = [&](Op op, const Counters& c) {
        for (Listener* l : w.listeners)
            l->on({.op = op, .what = name_of(op), .block = block, .cost = c, .times = weight}, {});
    };
    if (!w.listeners.empty()) tell(Op::block_begin, cost);
    body(b, at);
    if (!w.listeners.empty()) tell(Op::block_end, {});
}

void Gpu::merge(Worker& w) {
    LaunchInfo& launch = launches_.back();
    launch.sram_peak = std::max(launch.sram_peak, w.chip.peak(Space::sram));
    launch.register_peak = std::max(launch.register_peak, w.chip.peak(Space::registers));
    if (&w == &main_) return;
    main_.total += w.total;
    for (std::size_t t = 0; t < w.traffic.size(); ++t) main_.traffic[t] += w.traffic[t];
}

Bytes Gpu::peak(Space s) const {
    Bytes most = 0;
    for (const LaunchInfo& l : launches_) most = std::max(most, s == Space::sram ? l.sram_peak : l.register_peak);
    return most;
}

}  // namespace tilescope
