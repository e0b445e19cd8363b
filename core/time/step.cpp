#include "core/time/step.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "core/time/lanes.hpp"

namespace tilescope {
namespace {

constexpr Index lanes_per_row = 16, rows_per_thread = 8;  // a thread's part of the result of a product on CUDA cores
constexpr double warps_of_resident = 4;                   // one on each sub-core
constexpr Index fragment = 16;                            // rows of an mma
constexpr double half_bytes = 2;                          // of an operand of tensor cores

/// Whether the rows of a product are the rows of its first operand, a row tile.
bool of_rows(const Deed& d) { return d.kind() == Kind::product && !d.transposed[0]; }

/// Cycles that an operation takes on every unit, all its warps together. A warp computes all the rows that it owns, or
/// none. So a block with fewer rows takes as long as a full one, on the sub-cores of the warps that have rows.
class Pricing {
  public:
    Pricing(std::span<const Deed> deeds, const Kernel& kernel, const Rates& rates, const Cut& cut)
        : kernel_(kernel), r_(rates), cut_(cut), at_once_(rows_at_once(deeds)) {}

    PerUnit of(const Deed& d) const {
        PerUnit c{};
        if (d.out.size() == 0) return c;  // the tile has no rows
        switch (d.kind()) {
            case Kind::load:
                if (d.out.in_sram()) at(c, Unit::sram) = d.out.bytes() / r_.sram;
                [[fallthrough]];
            case Kind::store:
                break;
            case Kind::product:
                product(c, d);
                break;
            case Kind::reduce:
                at(c, Unit::alu) = d.reads[0].size() / (is_maximum(d) ? r_.half : r_.fma);
                break;
            default:
                element_by_element(c, d);
        }
        for (const Unit u : {Unit::fma, Unit::exp, Unit::alu}) at(c, u) *= whole_warps(d) * whole_fragments(d);
        // However few rows a block has, each of its warps widens all of b that it reads.
        if (d.kind() == Kind::product && kernel_.style == Style::tensor_cores)
            at(c, Unit::alu) += reads_of(d).second * widening(d, 1);
        return c;
    }

    /// The share of the warps that own rows of an operation; the others work on their own rows meanwhile.
    double share_of(const Deed& d) const {
        if (kernel_.rows == 0 || kernel_.own_keys) return 1;
        return std::min(1.0, rows_of(d) * whole_warps(d) / static_cast<double>(kernel_.rows));
    }

  private:
    static double& at(PerUnit& c, Unit u) { return c[static_cast<std::size_t>(u)]; }
    static double rows_of(const Deed& d) { return static_cast<double>(d.out.tile.rows); }
    /// Ratio of the rows of a full thread block to those of this one, for the rows that the operation has.
    double whole_warps(const Deed& d) const {
        if (d.moves_data()) return 1;
        const auto over = [](Index all, double some) { return static_cast<double>(all) / some; };
        // Where warps own keys, measured kernels take as long as if scores had as many rows.
        if (kernel_.own_keys) return std::max(1.0, over(kernel_.rows, rows_of(d)));
        const bool of_row_tiles = at_once_ > 0 && !d.transposed[0];
        if (cut_.rows == 0 && !of_row_tiles) return std::max(1.0, over(cut_.full, rows_of(d)));
        const bool cut = cut_.rows > 0 && (cut_.at_once == cut_.rows || d.out.tile.rows == cut_.rows);
        return std::max(1.0, (cut ? over(cut_.full, static_cast<double>(cut_.rows)) : 1) *
                                 (of_row_tiles ? over(cut_.at_once, static_cast<double>(at_once_)) : 1));
    }
    /// Where warps on tensor cores own rows, each takes as long as the warp with most rows, in fragments of 16: 112
    /// rows cost four warps as much as 128.
    double whole_fragments(const Deed& d) const {
        const bool own_rows = kernel_.style == Style::tensor_cores && at_once_ > 0 && !d.moves_data() &&
                              !d.transposed[0] && !kernel_.own_keys && !kernel_.own_softmax && kernel_.tiled.warp == 0;
        const Index owned = fragment * kernel_.warps;
        if (!own_rows || kernel_.rows <= owned) return 1;
        return static_cast<double>(ceil_div(kernel_.rows, owned) * owned) / static_cast<double>(kernel_.rows);
    }
    double warps_of(const Deed& d) const { return static_cast<double>(kernel_.warps) * share_of(d); }
    static bool is_maximum(const Deed& d) { return takes_maximum(d.operation->effect); }

    void product(PerUnit& c, const Deed& d) const {
        const double flops = static_cast<double>(d.cost.matmul_flops);
        const double n = static_cast<double>(d.out.tile.cols), k = flops / 2 / d.out.size();
        if (kernel_.style == Style::tensor_cores) {
            const auto whole = [](double x, double unit) { return std::ceil(x / unit) * unit; };  // mma m16n8k16
            at(c, Unit::tensor) = 2 * whole(rows_of(d) * whole_warps(d) * whole_fragments(d), fragment) * whole(n, 8) *
                                  whole(k, 16) / (r_.tensor * kernel_.tiled.rate * (multiplies_float8(d) ? 2 : 1));
            const auto [of_a, of_b] = reads_of(d);
            if (d.reads[1].in_sram()) at(c, Unit::sram) += of_b * d.reads[1].bytes() / r_.sram;
            if (d.reads[0].in_sram()) at(c, Unit::sram) += of_a * d.reads[0].bytes() / r_.sram;
            // An operand in registers is rounded and stays there; sums over keys that warps own need all warps' parts.
            // An instruction makes two values of 16 bits, or one of 8.
            if (!d.reads[0].in_sram())
                at(c, Unit::alu) += (size_of(d.math) == 1 ? 1 : 0.5) * d.reads[0].size() / r_.half;
            at(c, Unit::alu) += of_a * widening(d, 0);
            if (!d.reads[0].in_sram() && sums_over_owned(d))
                at(c, Unit::sram) += (1 + of_a) * half_bytes * d.reads[0].size() / r_.sram;
        } else {
            at(c, Unit::fma) = flops / 2 / r_.fma;
            // Reads of 16 bytes: of b, n / 16 rows per lane, 4 wavefronts each; of a, 8 shared rows, 2 wavefronts each.
            at(c, Unit::sram) = warps_of(d) * k / 4 * (n / lanes_per_row * 4 + rows_per_thread * 2);
            // An operand in registers is put into shared memory first, because other lanes need it.
            if (!d.reads[0].in_sram()) at(c, Unit::sram) += 4 * d.reads[0].size() / r_.sram;
            if (d.scaled) at(c, Unit::alu) += d.out.size() / r_.fma;
        }
    }

    bool multiplies_float8(const Deed& d) const { return r_.float8 && size_of(d.math) == 1; }
    /// Cycles in which an operand of 8 bits becomes f16, two values an instruction, where products need that.
    double widening(const Deed& d, std::size_t operand) const {
        const Deed::Use& of = d.reads[operand];
        const bool narrow = size_of(of.tile.dtype) == 1 || (!of.in_sram() && size_of(d.math) == 1);
        return narrow && !multiplies_float8(d) ? 0.5 * of.size() / r_.half : 0;
    }

    bool sums_over_owned(const Deed& d) const { return kernel_.own_keys && !d.transposed[0] && !d.transposed[1]; }
    /// How often all warps of a block together read a product's operands. Warps that own rows share a, and each reads
    /// all of b. Where each warp has a square part of the result, warps side by side share its rows, and warps above
    /// each other its columns. Where warps own keys, they share b for scores, because keys are columns there. A sum
    /// over keys is cut into parts of 16 rows, and these into columns, until all warps have one.
    std::pair<double, double> reads_of(const Deed& d) const {
        const double warps = static_cast<double>(kernel_.warps);
        if (const Index side = kernel_.tiled.warp; side > 0) {
            const double along_rows = std::clamp(std::ceil(rows_of(d) / static_cast<double>(side)), 1.0, warps);
            return {along_rows, warps / along_rows};
        }
        if (kernel_.own_softmax) return {warps, 1};
        if (kernel_.own_keys && d.transposed[1]) return {warps, 1};
        if (!sums_over_owned(d)) return {1, warps_of(d)};
        const double parts = std::clamp(rows_of(d) / 16, 1.0, warps);
        return {warps / parts, parts};
    }

    void element_by_element(PerUnit& c, const Deed& d) const {
        at(c, Unit::exp) = static_cast<double>(d.cost.exps) / r_.exp;
        at(c, Unit::alu) = static_cast<double>(d.cost.other_flops) / r_.fma +
                           static_cast<double>(d.operation->price.integers) * d.out.size() / r_.half;
        if (d.out.in_sram()) at(c, Unit::sram) = d.out.bytes() / r_.sram;
    }

    const Kernel& kernel_;
    const Rates& r_;
    const Cut& cut_;
    const Index at_once_;
};

/// When loads begin within an iteration, and when their data is waited for. Times are indices of operations (deeds).
class Loads {
  public:
    struct Load {
        std::size_t deed, needed;  ///< the load, and the first use of its tile
        bool to_sram;
        std::size_t issued;  ///< begins at the barrier after this deed or, `with_wait`, at the one before it
        bool with_wait = false;
    };

    Loads(std::span<const Deed> deeds, const Kernel& kernel)
        : deeds_(deeds), kernel_(kernel), barrier_after_(deeds.size()) {
        for (std::size_t k = 0; k < deeds.size(); ++k)
            if (deeds[k].kind() == Kind::load)
                if (const auto first = first_use(k)) loads_.push_back({k, *first, deeds[k].out.in_sram(), k});
        for (Load& l : loads_)
            if (l.to_sram) place_in_time(l);
        for (std::size_t k = 0; k < deeds.size(); ++k)
            if (fills_place(k)) free_place_before(k);
    }

    std::span<const Load> loads() const { return loads_; }
    bool barrier_after(std::size_t deed) const { return barrier_after_[deed]; }
    /// Whether this deed first waits for a load into shared memory.
    bool waits_before(std::size_t deed) const {
        return std::any_of(loads_.begin(), loads_.end(), [&](const Load& l) { return l.to_sram && l.needed == deed; });
    }

  private:
    std::optional<std::size_t> first_use(std::size_t load) const {
        for (std::size_t k = load + 1; k < deeds_.size(); ++k)
            if (deeds_[k].uses(deeds_[load].out.id)) return k;
        return std::nullopt;
    }
    /// Whether two tiles have the same place in shared memory.
    bool share(std::string_view a, std::string_view b) const {
        const auto in = [](const SharedPlace& p, std::string_view name) {
            return std::any_of(p.tiles.begin(), p.tiles.end(), [&](const char* t) { return t && name == t; });
        };
        return a == b || std::any_of(kernel_.places.begin(), kernel_.places.end(),
                                     [&](const SharedPlace& p) { return in(p, a) && in(p, b); });
    }
    bool occupies(std::size_t k, std::string_view name) const {
        for (const Deed::Use& u : {deeds_[k].reads[0], deeds_[k].reads[1]})
            if (deeds_[k].kind() != Kind::load && u.in_sram() && share(u.tile.name, name)) return true;
        return false;
    }
    /// The last deed before `before` that uses the place of a tile, going back into the previous iteration.
    std::optional<std::size_t> last_use(std::string_view name, std::size_t before) const {
        for (std::size_t n = 1; n <= deeds_.size(); ++n)
            if (const std::size_t k = (before + deeds_.size() - n) % deeds_.size(); occupies(k, name)) return k;
        return std::nullopt;
    }
    /// Begins a load at the first barrier between the last use of its place and its own first use, or adds one.
    void place_in_time(Load& l) {
        const auto free = last_use(deeds_[l.deed].out.tile.name, l.needed);
        if (!free) return;
        const std::size_t n = deeds_.size();
        for (std::size_t k = *free;;) {
            if (barrier_after_[k]) return issue(l, k, false);
            k = (k + 1) % n;
            if (k == l.needed) break;
            if (waits_before(k)) return issue(l, k, true);
        }
        barrier_after_[*free] = true;
        issue(l, *free, false);
    }
    void issue(Load& l, std::size_t deed, bool with_wait) { l.issued = deed, l.with_wait = with_wait; }
    /// A tile that is computed in shared memory, or put there for a product.
    bool fills_place(std::size_t k) const {
        return deeds_[k].kind() == Kind::map && deeds_[k].operation->access == Access::write && deeds_[k].out.in_sram();
    }
    void free_place_before(std::size_t k) {
        const auto free = last_use(deeds_[k].out.tile.name, k);
        if (!free || *free >= k) return;
        for (std::size_t j = *free; j < k; ++j)
            if (barrier_after_[j] || (j > *free && waits_before(j))) return;
        barrier_after_[*free] = true;
    }

    std::span<const Deed> deeds_;
    const Kernel& kernel_;
    std::vector<bool> barrier_after_;
    std::vector<Load> loads_;
};

/// The iterations of a loop as one lane: its warps issue all operations in order, and only loads run beside them.
class Turns {
  public:
    Turns(std::span<const Deed> deeds, const Kernel& kernel, const Rates& rates, const MemoryShare& memory,
          const Cut& cut)
        : deeds_(deeds),
          kernel_(kernel),
          style_(constants_of(kernel.style)),
          loads_(deeds, kernel),
          residents_(std::max(1.0, static_cast<double>(kernel.warps) / warps_of_resident)),
          alone_(sub_cores(kernel)),
          working_(residents_ * working_share(kernel)),
          issued_(loads_.loads().size(), 0),
          together_(kernel.together),
          machine_{rates.bus, rates.latency + memory.reads_missed * (rates.dram_latency - rates.latency), false, {}} {
        const Pricing price(deeds, kernel, rates, cut);
        costs_.reserve(deeds.size());
        double from_l2 = 0, to_l2 = 0, from_dram = 0, missed = 0;
        for (const Deed& d : deeds) {
            costs_.push_back(price.of(d));
            shares_.push_back(d.kind() == Kind::reduce ? price.share_of(d) : 1);
            for (std::size_t u = 0; u < unit_count; ++u) busy_[u] += costs_.back()[u];
            const double read = static_cast<double>(d.cost.hbm_read), written = static_cast<double>(d.cost.hbm_sent());
            from_l2 += read, to_l2 += written;
            missed += read * memory.reads_missed + written * memory.writes_missed;
            from_dram +=
                read * memory.reads_missed / memory.dram_read + written * memory.writes_missed / memory.dram_write;
        }
        const double through_l2 = std::max(from_l2, to_l2);  // each direction has its own wires
        memory_ = memory.sharing * std::max(through_l2 / memory.l2, from_dram);
        bus_ = std::max(through_l2, missed) / rates.bus;
        busy_[static_cast<std::size_t>(Unit::l2)] = std::max(through_l2 / memory.l2, through_l2 / rates.bus);
        busy_[static_cast<std::size_t>(Unit::dram)] = std::max(from_dram, missed / rates.bus);
    }

    /// From the first load to the last store.
    StepTime once() {
        for (std::size_t k = 0; k < deeds_.size(); ++k)
            if (deeds_[k].kind() == Kind::load) begin_early(k);
        together_ = 1;
        turn();
        mark();
        const LaneMark end = play()[0];
        return step(end.at, end.waited);
    }

    StepTime steady() {
        constexpr int rounds = 4;
        for (Index k = 0; k < rounds * together_; ++k) {
            if (k % together_ == 0) {
                mark();
                ask();
            }
            turn();
        }
        mark();
        const std::vector<LaneMark> marks = play();
        const LaneMark &before = marks[rounds - 1], &end = marks[rounds];
        const auto turns = static_cast<double>(together_);
        return step((end.at - before.at) / turns, (end.waited - before.waited) / turns);
    }

  private:
    StepTime step(double cycles, double waited) const {
        const auto l2 = busy_.begin() + static_cast<std::ptrdiff_t>(Unit::l2);
        const auto sram = static_cast<std::size_t>(Unit::sram);
        PerUnit busy = busy_;  // warps that own no row leave their share of a unit to others
        for (auto u = busy.begin(); u != busy.begin() + static_cast<std::ptrdiff_t>(Unit::l2); ++u)
            *u *= working_ / residents_;
        // Warps that load for themselves have nothing else to do while they wait for their loads.
        const bool queues = style_.sram_queues && !kernel_.own_softmax;
        double most = 0;
        for (auto u = busy_.begin(); u != l2; ++u)
            if (!queues || u != busy_.begin() + sram) most = std::max(most, *u / residents_);
        return {.alone = cycles,
                .busiest = style_.eta * most,
                .queued = queues ? busy[sram] : 0,
                .busy = busy,
                .waiting = waited,
                .residents = working_,
                .memory = memory_,
                .bus = bus_};
    }
    /// On CUDA cores a warp uses its sub-core's units only: alone on an SM, a block of fewer than four warps leaves
    /// other sub-cores idle. The constants of tensor cores were set with all sub-cores at work.
    double sub_cores(const Kernel& kernel) const {
        const double fours = static_cast<double>(kernel.warps) / warps_of_resident;
        return kernel.style == Style::cuda_cores ? fours : residents_;
    }
    /// The share of a block's warps that own rows.
    static double working_share(const Kernel& kernel) {
        const double warps = static_cast<double>(kernel.warps);
        return kernel.own_softmax ? 1 : std::ceil(warps * kernel.owning) / warps;
    }
    void begin_early(std::size_t deed) {
        for (std::size_t i = 0; i < loads_.loads().size(); ++i)
            if (loads_.loads()[i].deed == deed && loads_.loads()[i].to_sram) begin_load(i);
    }
    void turn() {
        for (std::size_t k = 0; k < deeds_.size(); ++k) {
            if (loads_.waits_before(k)) {
                wait_for(k, true);
                idle(style_.barrier);
                begin_loads(k, true);
            }
            wait_for(k, false);
            begin(k);
            work(k);
            if (loads_.barrier_after(k)) {
                idle(style_.barrier);
                begin_loads(k, false);
            }
        }
    }
    std::vector<LaneMark> play() const { return play_lanes({&lane_, 1}, machine_).marks; }
    void mark() { lane_.acts.push_back({.kind = Act::Kind::mark}); }
    void idle(double cycles) { lane_.acts.push_back({.kind = Act::Kind::idle, .cycles = cycles}); }
    void wait_for(std::size_t deed, bool in_sram) {
        for (std::size_t i = 0; i < loads_.loads().size(); ++i)
            if (const auto& l = loads_.loads()[i]; l.needed == deed && l.to_sram == in_sram && issued_[i] > 0)
                lane_.acts.push_back({.kind = Act::Kind::wait, .flag = static_cast<Signal>(i), .count = issued_[i]});
    }
    double bytes(std::size_t deed) const { return static_cast<double>(deeds_[deed].cost.hbm_read); }
    void issue(std::size_t i, double bytes) {
        ++issued_[i];
        lane_.acts.push_back({.kind = Act::Kind::load, .flag = static_cast<Signal>(i), .bytes = bytes});
    }
    void begin_load(std::size_t i) {
        const std::size_t deed = loads_.loads()[i].deed;
        issue(i, bytes(deed));
        add(costs_[deed]);
    }
    void begin_loads(std::size_t deed, bool with_wait) {
        for (std::size_t i = 0; i < loads_.loads().size(); ++i)
            if (const auto& l = loads_.loads()[i]; l.to_sram && l.issued == deed && l.with_wait == with_wait)
                begin_load(i);
    }
    bool is_of_registers(std::size_t i, std::size_t deed) const {
        return !loads_.loads()[i].to_sram && loads_.loads()[i].deed == deed;
    }
    /// Issues the loads into registers of the next `together_` iterations, one after the other over one bus.
    void ask() {
        if (together_ == 1) return;
        double asked = 0;
        for (Index turn = 0; turn < together_; ++turn)
            for (std::size_t k = 0; k < deeds_.size(); ++k)
                for (std::size_t i = 0; i < loads_.loads().size(); ++i)
                    if (is_of_registers(i, k)) {
                        asked += bytes(k);
                        lane_.acts.push_back({.kind = Act::Kind::load, .flag = static_cast<Signal>(i), .bytes = asked});
                    }
    }
    /// Loads into registers begin at their place in the program or, if several iterations go together, began in ask().
    void begin(std::size_t deed) {
        for (std::size_t i = 0; i < loads_.loads().size(); ++i) {
            if (!is_of_registers(i, deed)) continue;
            if (together_ == 1)
                issue(i, bytes(deed));
            else
                ++issued_[i];
            add(costs_[deed]);
        }
    }
    void add(const PerUnit& cost) {
        double sum = 0;
        for (const double c : cost) sum += c;
        lane_.acts.push_back({.kind = Act::Kind::pass, .cycles = style_.sigma * sum / alone_});
    }
    /// Barriers of a tiled product: before the first piece and after each. Of other operations: one where warps need
    /// other warps' parts of their rows, or of a tile that they put into shared memory together.
    double barriers_within(const Deed& d) const {
        if (d.out.size() == 0) return 0;
        if (d.kind() == Kind::product) {
            const double sum = static_cast<double>(d.cost.matmul_flops) / 2 / d.out.size();
            return 1 + std::ceil(sum / static_cast<double>(kernel_.tiled.piece));
        }
        const bool of_rows = d.kind() == Kind::reduce && d.reads[0].tile.cols > 1;
        const bool of_tile = d.kind() == Kind::map && d.out.in_sram() && d.out.tile.cols > 1;
        return of_rows || of_tile ? 1 : 0;
    }
    void work(std::size_t k) {
        const Deed& d = deeds_[k];
        if (d.kind() == Kind::load) return;
        add(costs_[k]);
        if (kernel_.tiled.piece > 0) idle(barriers_within(d) * constants_of(Style::cuda_cores).barrier);
        if (d.kind() == Kind::reduce && d.reads[0].tile.cols > 1) idle(style_.reduce * shares_[k]);
        if (d.kind() == Kind::store && (k + 1 == deeds_.size() || deeds_[k + 1].kind() != Kind::store))
            idle(style_.store);
    }

    std::span<const Deed> deeds_;
    const Kernel& kernel_;
    const StyleConstants& style_;
    Loads loads_;
    double residents_, alone_, working_;  // fours of warps: all, those at work when alone, and those that own rows
    std::vector<PerUnit> costs_;
    std::vector<double> shares_;  // of each deed: share_of() at a reduction, else 1
    PerUnit busy_{};
    std::vector<Index> issued_;  // how often each load was issued
    Index together_;             // iterations
    LaneMachine machine_;        // latency: the average over hits and misses in L2
    LaneProgram lane_;
    double memory_ = 0, bus_ = 0;  // see StepTime
};

}  // namespace

Index rows_at_once(std::span<const Deed> deeds) {
    Index most = 0;
    for (const Deed& first : deeds) {
        if (!of_rows(first)) continue;
        Index rows = 0;
        std::vector<TileId> counted;
        for (const Deed& d : deeds) {
            const bool meets =
                of_rows(d) && d.reads[1].id == first.reads[1].id && d.transposed[1] == first.transposed[1];
            if (!meets || std::find(counted.begin(), counted.end(), d.reads[0].id) != counted.end()) continue;
            counted.push_back(d.reads[0].id), rows += d.out.tile.rows;
        }
        most = std::max(most, rows);
    }
    return most;
}

StepTime step_of(std::span<const Deed> deeds, const Kernel& kernel, const Rates& rates, const MemoryShare& memory,
                 const Cut& cut) {
    return deeds.empty() ? StepTime{} : Turns(deeds, kernel, rates, memory, cut).steady();
}

StepTime once(std::span<const Deed> deeds, const Kernel& kernel, const Rates& rates, const MemoryShare& memory,
              const Cut& cut) {
    return deeds.empty() ? StepTime{} : Turns(deeds, kernel, rates, memory, cut).once();
}

}  // namespace tilescope
