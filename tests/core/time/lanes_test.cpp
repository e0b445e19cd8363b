// Lanes compared with a schedule computed separately: steps of asynchronous products and a softmax on one SM.
#include "core/time/lanes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

#include "tests/support/catch.hpp"

using namespace tilescope;

namespace {

/// Two products per step with a softmax between them, by warpgroups of 64 rows that share a ring of tiles.
struct Pipeline {
    Index groups = 2, keys = 128, dim = 128;
    bool overlap = false;        ///< the next step's first product is issued with this step's second
    bool turns = false;          ///< groups pass the tensor cores on in turn
    bool meet = false;           ///< all groups meet before each product
    Index slots = 6, parts = 1;  ///< slots of the ring; slots that a tile takes
    double sigma = 1, beside = 2.8, dense = 1, steals = 0.7, bus = 60;
};

constexpr double rows = 64, threads = 128, flops = 4096, heard = 58, barrier = 30, shuffles = 60;

class Program {
  public:
    Program(const Pipeline& p, const std::vector<Index>& tiles) : p_(p), tiles_(tiles) {
        machine_ = {.bus = p.bus, .latency = 555};
        number_slots();
        produce();
        for (Index w = 0; w < p.groups; ++w) consume(w);
        machine_.name_of = [flags = flags_](Signal f) {
            for (const auto& [name, flag] : flags)
                if (flag == f) return name;
            return std::string();
        };
    }
    LanePlay play(bool phases = false) const { return play_lanes(lanes_, machine_, phases); }

  private:
    using Item = std::pair<char, Index>;

    Signal flag(const std::string& name) {
        return flags_.try_emplace(name, static_cast<Signal>(flags_.size())).first->second;
    }
    Signal flag(const std::string& name, Index n) { return flag(name + std::to_string(n)); }
    static std::string part(Item i, Index p) { return i.first + std::to_string(i.second) + '.' + std::to_string(p); }

    /// The tiles that go through the ring for a work item of n steps, in order.
    std::vector<Item> items(Index first, Index n) const {
        std::vector<Item> all;
        if (!p_.overlap) {
            for (Index j = first; j < first + n; ++j) all.insert(all.end(), {{'K', j}, {'V', j}});
            return all;
        }
        all.push_back({'K', first});
        for (Index j = first + 1; j < first + n; ++j) all.insert(all.end(), {{'K', j}, {'V', j - 1}});
        all.push_back({'V', first + n - 1});
        return all;
    }
    void number_slots() {
        Index c = 0, first = 0;
        for (const Index n : tiles_) {
            for (const Item& i : items(first, n))
                for (Index p = 0; p < p_.parts; ++p) number_of_[part(i, p)] = c++;
            first += n;
        }
    }
    void wait(LaneProgram& l, Signal f, Index count = 1) {
        l.acts.push_back({.kind = Act::Kind::wait, .what = "wait", .flag = f, .count = count});
    }
    void pass(LaneProgram& l, double cycles) { l.acts.push_back({.kind = Act::Kind::pass, .cycles = cycles}); }
    void set(LaneProgram& l, Signal f, double after = 0) {
        l.acts.push_back({.kind = Act::Kind::set, .cycles = after, .flag = f});
    }
    void load(LaneProgram& l, double bytes, Signal f) {
        l.acts.push_back({.kind = Act::Kind::load, .flag = f, .bytes = bytes});
    }

    void produce() {
        LaneProgram l{"producer", {}};
        Index c = 0, first = 0;
        for (std::size_t t = 0; t < tiles_.size(); ++t) {
            const auto tile = static_cast<Index>(t);
            for (const Item& i : items(first, tiles_[t])) {
                for (Index p = 0; p < p_.parts; ++p, ++c) {
                    if (c >= p_.slots) wait(l, flag("free slot of load ", c - p_.slots), p_.groups);
                    load(l, 2.0 * static_cast<double>(p_.keys * p_.dim) / static_cast<double>(p_.parts),
                         flag(part(i, p)));
                }
                if (i != items(first, tiles_[t])[0]) continue;
                if (t > 0) wait(l, flag("free Q", tile - 1), p_.groups);
                load(l, 2 * rows * static_cast<double>(p_.groups * p_.dim), flag("Q", tile));
            }
            first += tiles_[t];
        }
        lanes_.push_back(l);
    }

    void consume(Index w) {
        LaneProgram l{"WG" + std::to_string(w + 1), {}};
        const double elements = rows * static_cast<double>(p_.keys) / threads,
                     out = rows * static_cast<double>(p_.dim) / threads;
        const double cycles = 2 * rows * static_cast<double>(p_.keys * p_.dim) / flops;
        const Signal mine = flag("turn of WG", w + 1), next = flag("turn of WG", (w + 1) % p_.groups + 1);
        Index turns = 0, met = 0;
        if (p_.turns && w == 0) set(l, mine);
        const auto take = [&] {
            if (p_.turns) wait(l, mine, ++turns), pass(l, barrier);
            if (p_.meet) set(l, flag("all meet ", ++met)), wait(l, flag("all meet ", met), p_.groups), pass(l, barrier);
        };
        const auto give = [&] {
            if (p_.turns) set(l, next);
        };
        const auto result = [&](char x, Index j) {
            return flag(std::string(1, x) + " of WG" + std::to_string(w + 1) + ' ', j);
        };
        const auto product = [&](const char* what, Item operand, Signal done) {
            for (Index p = 0; p < p_.parts; ++p) {
                wait(l, flag(part(operand, p)));
                l.acts.push_back({.kind = Act::Kind::product,
                                  .what = what,
                                  .step = operand.second,
                                  .cycles = cycles / static_cast<double>(p_.parts),
                                  .flag = p == p_.parts - 1 ? done : flag("part"),
                                  .frees = flag("free slot of load ", number_of_.at(part(operand, p)))});
            }
        };
        const auto done = [&](Signal f) { wait(l, f), pass(l, heard); };
        const auto work = [&](const char* what, Index step, std::optional<Unit> unit, double c, double n,
                              bool dense = false) {
            const double g = p_.sigma;
            l.acts.push_back({.kind = Act::Kind::work,
                              .what = what,
                              .step = step,
                              .cycles = (unit ? g : 1) * c,
                              .unit = unit,
                              .beside = g * n * (dense ? p_.dense : p_.beside),
                              .steals = dense ? g * n * p_.steals : 0});
        };
        const auto softmax = [&](Index j) {
            work("max", j, Unit::alu, 2 * elements, elements), work("reduce", j, {}, shuffles, 0);
            work("exp", j, Unit::exp, 8 * elements, 3.5 * elements);
        };
        const auto rescale = [&](Index j) { work("rescale", j, Unit::fma, out, out, true); };
        Index j = 0;
        for (std::size_t t = 0; t < tiles_.size(); ++t) {
            const auto tile = static_cast<Index>(t);
            wait(l, flag("Q", tile)), pass(l, barrier);
            if (p_.overlap) {
                product("QK", {'K', j}, result('S', j)), done(result('S', j)), softmax(j);
                for (Index i = 1; i < tiles_[t]; ++i, ++j) {
                    wait(l, flag(part({'K', j + 1}, 0))), take();
                    product("QK", {'K', j + 1}, result('S', j + 1));
                    if (p_.dim > 128 && i > 1) rescale(j);
                    product("PV", {'V', j}, result('O', j)), give();
                    done(result('S', j + 1)), softmax(j + 1), done(result('O', j));
                    if (p_.dim <= 128) rescale(j);
                }
                set(l, flag("free Q", tile));
                product("PV", {'V', j}, result('O', j)), done(result('O', j)), ++j;
            } else {
                take();
                for (Index i = 0; i < tiles_[t]; ++i, ++j) {
                    product("QK", {'K', j}, result('S', j)), give(), done(result('S', j));
                    if (i == tiles_[t] - 1) set(l, flag("free Q", tile));
                    softmax(j);
                    if (i > 0) rescale(j);
                    wait(l, flag(part({'V', j}, 0))), take();
                    product("PV", {'V', j}, result('O', j)), done(result('O', j));
                }
                give();
            }
            work("divide", j, Unit::alu, 2 * out, 1.5 * out);
            pass(l, rows * static_cast<double>(p_.dim) * 2 / 128 + barrier);
            l.acts.push_back({.kind = Act::Kind::mark, .step = tile});
        }
        lanes_.push_back(l);
    }

    Pipeline p_;
    std::vector<Index> tiles_;
    std::map<std::string, Index> number_of_;  // the index of an item among those that go through the ring
    std::map<std::string, Signal> flags_;
    std::vector<LaneProgram> lanes_;
    LaneMachine machine_;
};

/// The time at which all lanes have finished a tile.
double through(const LanePlay& play, Index tile) {
    double last = 0;
    for (const LaneMark& m : play.marks)
        if (m.step == tile) last = std::max(last, m.at);
    return last;
}

/// Cycles per step, from tiles of 8 and of 16 steps.
double period(const Pipeline& p) {
    const auto tile = [&](Index steps) {
        const LanePlay play = Program(p, std::vector<Index>(5, steps)).play();
        return (through(play, 4) - through(play, 2)) / 2;
    };
    return (tile(16) - tile(8)) / 8;
}

}  // namespace

TEST_CASE("lanes: a step of two products and a softmax, to the cycle", "[lanes]") {
    const auto bare = [](const Pipeline& p) { return std::lround(period(p)); };
    CHECK(bare({.groups = 1}) == 1904);
    CHECK(bare({.meet = true}) == 3127);
    CHECK(bare({}) == 2871);
    CHECK(bare({.turns = true}) == 2471);
    CHECK(bare({.overlap = true, .turns = true}) == 2425);
    // A compiled softmax and a slower bus. The columns: one group, which takes two steps; groups that meet, are free,
    // take turns, overlap, do both, and do both where tensor cores and CUDA cores do not slow each other down.
    struct Row {
        Index dim;
        std::array<long, 7> cycles;
    };
    for (const Row& row :
         {Row{64, {2854, 2334, 2194, 1935, 1927, 1945, 1252}}, Row{128, {4369, 3250, 2998, 2547, 2541, 2549, 2185}},
          Row{256, {8738, 5138, 4692, 4379, 4369, 4954, 4856}}}) {
        INFO("d = " << row.dim);
        const auto compiled = [&](Pipeline p) {
            p.dim = row.dim, p.sigma = 1.1, p.bus = 30;
            return std::lround(static_cast<double>(p.groups == 1 ? 2 : 1) * period(p));
        };
        const bool halves = row.dim == 256;
        Pipeline both{.overlap = true, .turns = true, .slots = row.dim == 64 ? 7 : 6};
        if (halves) both.slots = 5, both.parts = 2;
        Pipeline not_slowed = both;
        not_slowed.beside = not_slowed.dense = not_slowed.steals = 0;
        CHECK(std::array{compiled({.groups = 1}), compiled({.meet = true}), compiled({}), compiled({.turns = true}),
                         compiled({.overlap = true}), compiled(both), compiled(not_slowed)} == row.cycles);
        if (halves) CHECK(compiled({.overlap = true, .turns = true}) == 4369);
    }
}

TEST_CASE("lanes: what goes on when, of groups that take turns", "[lanes]") {
    const LanePlay play = Program({.turns = true}, {14}).play(true);
    const auto phase = [&](std::uint32_t lane, const std::string& what, Index step) {
        for (const LanePhase& p : play.phases)
            if (p.lane == lane && p.what == what && p.step == step) return p;
        return LanePhase{};
    };
    const double start = phase(1, "QK", 7).from;  // lane 0 is the producer
    const auto at = [&](std::uint32_t lane, const char* what, Index step) {
        const LanePhase p = phase(lane, what, step);
        return std::array{std::lround(p.from - start), std::lround(p.to - start)};
    };
    using Cycles = std::array<long, 2>;
    CHECK(at(1, "QK", 7) == Cycles{0, 512});
    CHECK(at(1, "max", 7) == Cycles{570, 814});
    CHECK(at(1, "reduce", 7) == Cycles{814, 874});
    CHECK(at(1, "exp", 7) == Cycles{874, 1807});
    CHECK(at(1, "rescale", 7) == Cycles{1807, 1871});
    // The other group's second product, and its next first one, run during that softmax.
    CHECK(at(2, "PV", 6)[0] == 615);
    CHECK(at(2, "QK", 7)[1] == 1697);
    CHECK(play.busy.tensor <= play.end);
    CHECK(play.busy.both <= std::min(play.busy.tensor, play.busy.cuda));
}

TEST_CASE("lanes: where units serve in order, a period is the longest way round", "[lanes]") {
    // A producer fills a ring of two slots; two consumers take turns at the tensor cores.
    constexpr double load = 100, latency = 300, product = 250, work = 400, slots = 2;
    constexpr Index steps = 40;
    LaneMachine machine{.bus = 1, .latency = latency};
    const auto full = [](Index n) { return static_cast<Signal>(n); };
    const auto free = [](Index n) { return static_cast<Signal>(steps + n); };
    const auto turn = [](Index w) { return static_cast<Signal>(2 * steps + w); };
    const auto done = [](Index w) { return static_cast<Signal>(2 * steps + 2 + w); };
    const auto period_of = [&](double cycles_of_work) {
        std::vector<LaneProgram> lanes{{"producer", {}}};
        for (Index n = 0; n < steps; ++n) {
            if (n >= 2) lanes[0].acts.push_back({.kind = Act::Kind::wait, .flag = free(n - 2), .count = 2});
            lanes[0].acts.push_back({.kind = Act::Kind::load, .flag = full(n), .bytes = load});
        }
        for (Index w = 0; w < 2; ++w) {
            LaneProgram l{"WG" + std::to_string(w + 1), {}};
            if (w == 0) l.acts.push_back({.kind = Act::Kind::set, .flag = turn(0)});
            for (Index n = 0; n < steps; ++n) {
                l.acts.push_back({.kind = Act::Kind::wait, .flag = full(n)});
                l.acts.push_back({.kind = Act::Kind::wait, .flag = turn(w), .count = n + 1});
                l.acts.push_back({.kind = Act::Kind::product, .cycles = product, .flag = done(w), .frees = free(n)});
                l.acts.push_back({.kind = Act::Kind::set, .flag = turn(1 - w)});
                l.acts.push_back({.kind = Act::Kind::wait, .flag = done(w), .count = n + 1});
                l.acts.push_back({.kind = Act::Kind::pass, .cycles = cycles_of_work});
                l.acts.push_back({.kind = Act::Kind::mark, .step = n});
            }
            lanes.push_back(l);
        }
        const LanePlay play = play_lanes(lanes, machine);
        return (through(play, steps - 1) - through(play, steps - 21)) / 20;
    };
    // By hand: the tensor cores do both products; a group does its product and its work; a slot is filled, is on its
    // way, and is read by both groups.
    const double tensor = 2 * product, ring = (load + latency + 2 * product) / slots;
    CHECK(std::abs(period_of(work) - (std::max({tensor, product + work, ring}))) < 1e-6);
    CHECK(std::abs(period_of(100) - (std::max({tensor, product + 100, ring}))) < 1e-6);
    CHECK(std::abs(period_of(900) - (product + 900)) < 1e-6);
}

TEST_CASE("lanes: shorter where there is more of anything", "[lanes]") {
    for (const bool overlap : {false, true})
        for (const Index dim : {64, 128, 256}) {
            // Two steady states, of 4,379 and 4,409 cycles: when groups start decides which it is.
            if (dim == 256 && !overlap) continue;
            const Pipeline p{.dim = dim, .overlap = overlap, .turns = true, .sigma = 1.1, .bus = 30};
            INFO("d = " << dim << (overlap ? ", overlapped" : ""));
            const auto with = [&](auto&& change) {
                Pipeline other = p;
                change(other);
                return period(other);
            };
            const double here = period(p), nearly = 1e-6 * here;
            CHECK(with([](Pipeline& o) { o.beside = 2; }) <= here + nearly);
            CHECK(with([](Pipeline& o) { o.slots = 8; }) <= here + nearly);
            CHECK(with([](Pipeline& o) { o.bus = 60; }) <= here + nearly);
            const double products = 2.0 * 2 * 2 * rows * static_cast<double>(p.keys * dim) / flops;
            CHECK(here >= products - nearly);
            CHECK(here >= 2.0 * 2 * static_cast<double>(p.keys * dim) / p.bus - nearly);
        }
}

TEST_CASE("lanes: all orders end, and a ring that cannot go on says who waits for whom", "[lanes]") {
    // The group with the turn waits for the next K, whose slot the other group frees only when it has the turn. A tile
    // of two parts needs room for both.
    const auto stuck = [](const Pipeline& p, Index steps) {
        return p.slots < p.parts || (p.turns && p.groups > 1 && steps > 1 && p.slots < 2 * p.parts);
    };
    for (const Index groups : {1, 2, 3})
        for (const Index parts : {1, 2})
            for (Index slots = 1; slots <= 2 * parts + 1; ++slots)
                for (const Index steps : {1, 2, 3})
                    for (const bool overlap : {false, true})
                        for (const bool turns : {false, true}) {
                            const Pipeline p{
                                .groups = groups, .overlap = overlap, .turns = turns, .slots = slots, .parts = parts};
                            INFO(groups << " groups, " << slots << " slots, " << parts << " parts, " << steps
                                        << " steps" << (turns ? ", turns" : "") << (overlap ? ", overlap" : ""));
                            const Program program(p, {steps, steps});
                            const auto ends = [&] {
                                try {
                                    return program.play().end > 0;
                                } catch (const Stuck&) {
                                    return false;
                                }
                            };
                            CHECK(ends() != stuck(p, steps));
                        }
    std::string said;
    try {
        Program({.turns = true, .slots = 1}, {3}).play();
    } catch (const Stuck& stop) {
        said = stop.what();
    }
    CHECK(said ==
          "producer waits for free slot of load 1, which WG2 gives; WG2 waits for turn of WG2, which WG1 gives; "
          "WG1 waits for K1.0, which producer gives");
    // A flag that nobody gives.
    const std::vector<LaneProgram> lonely{{"WG1", {{.kind = Act::Kind::wait, .flag = 0}}}};
    CHECK_THROWS_WITH(play_lanes(lonely, {.bus = 1, .name_of = [](Signal) { return "the turn"; }}),
                      "WG1 waits for the turn, which nobody gives");
}

TEST_CASE("lanes: what takes no time, and what takes no number", "[lanes]") {
    const std::vector<LaneProgram> free{
        {"WG1", {{.kind = Act::Kind::work, .flag = 0, .unit = Unit::exp}, {.kind = Act::Kind::product, .flag = 1}}},
        {"WG2",
         {{.kind = Act::Kind::wait, .flag = 0},
          {.kind = Act::Kind::wait, .flag = 1},
          {.kind = Act::Kind::pass},
          {.kind = Act::Kind::mark}}}};
    CHECK(play_lanes(free, {}).marks.at(0).at == 0);
    for (const double cycles : {std::nan(""), HUGE_VAL, -1.0})
        for (const Act::Kind kind : {Act::Kind::work, Act::Kind::pass, Act::Kind::idle, Act::Kind::product}) {
            const std::vector<LaneProgram> endless{{"WG1", {{.kind = kind, .what = "exp", .cycles = cycles}}}};
            CHECK_THROWS_WITH(play_lanes(endless, {}), "WG1: exp takes no number of cycles or bytes");
        }
}
