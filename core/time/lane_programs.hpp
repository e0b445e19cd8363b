// What the lanes of a thread block do, as acts on their common clock (core/time/lanes.hpp). Made from the events of a
// run: which lane waits for which follows from the tiles that they use.
#pragma once

#include <string>
#include <vector>

#include "core/time/lane_record.hpp"
#include "core/time/laned_kernel.hpp"
#include "core/time/lanes.hpp"

namespace tilescope {

/// Constants of kernels whose products and loads are asynchronous (wgmma, TMA), in cycles of one SM: those of an H100
/// and an H200, measured with microbenchmarks (docs/measured/h200/forward). A GPU may have its own.
struct LaneConstants {
    double tensor = 4096;            ///< FLOPs of wgmma in f16 per cycle; twice as many in 8 bits (float8.csv: 8,183)
    double notices = 58;             ///< from the end of a product until the warpgroup that waits for it goes on
    double barrier = 30;             ///< a named barrier, one way
    double shuffles = 60;            ///< the two that a row's maximum or sum takes
    double beside = 2.8;             ///< extra cycles per cycle of instructions while tensor cores are at work
    double beside_dense = 1;         ///< the same for a pass of full-rate instructions alone,
    double steals = 0.7;             ///< and the cycles that such a pass takes from the tensor cores, per cycle
    double bus = 86;                 ///< bytes per cycle from L2 to one SM while all ask, eight or more for the same
    double port = 107;               ///< bytes per cycle that an SM takes in at most
    double credit = 65536;           ///< bytes that an idle SM gets at the port's rate
    double bus_of_4 = 63;            ///< the same where four or more ask for the same,
    double lonely_bus = 30;          ///< and where each asks for tiles of its own
    double latency = 478;            ///< of a bulk copy of data that L2 has
    double dram_latency = 390;       ///< further latency of data that L2 lacks
    double dram = 13.1;              ///< bytes per cycle from DRAM to one SM while all ask
    double slot_notices = 59;        ///< from the end of a slot's last use until the lane that fills it goes on
    double store = 50;               ///< bytes per cycle of one SM's stores
    double transposes = 36;          ///< bytes of a tile of 8-bit numbers per cycle that a warpgroup transposes
    double beside_transposes = 1.2;  ///< extra cycles per cycle of that while tensor cores are at work
};

/// The bus of a kernel: what L2 lacks comes later, and no faster than from DRAM.
LaneMachine machine_of(const LaneConstants& constants, const LanedKernel& kernel);

/// What a flag says, for messages.
struct LaneFlag {
    enum class Says : std::uint8_t { made, product, freed, turn, meeting, stored };
    Says says;
    const char* name;         ///< of a tile, or of a ring
    Index number = 0;         ///< of a slot
    Index step = -1;          ///< -1: outside of loops
    Index tile = 0;           ///< of a persistent thread block
    std::size_t program = 0;  ///< whose product, turn or meeting
};

/// A listener to one thread block of the first launch. Per lane:
/// - a load goes to the bus and a product to the tensor cores, and the lane goes on. A lane that computes and fills
///   rings itself has its loads issued by a program of their own, as far ahead as slots allow; its warpgroups meet
///   once in a step, where others take their turn, because a slot is filled again only when all are done with it;
/// - a lane that uses a tile waits for it. A product need not wait for the sum that it adds to: products are done in
///   order;
/// - a slot of a ring is filled again when every lane that used its tile is done with it; registers that a product
///   reads are given back when it is done;
/// - consecutive operations on the elements of one tile are one pass over it. Exponentials hide the other
///   instructions. A copy into a narrower type belongs to the pass before. A row's maximum or sum is known after the
///   pass: an operation that needs it begins another pass;
/// - lanes with `turns` use the tensor cores in turn. A turn begins before a product within a loop. It ends after the
///   last product that comes before the lane needs the result of a product of this turn. With two batons, a step's
///   first product has a turn of its own, and each other product one of the second baton; a turn ends with its product.
/// Operations on one number a row, and their loads and stores, take no time, except the shuffles of a maximum or sum. A
/// lane of n x 4 warps is played as n warpgroups, each with its part of the rows.
///
/// The block computes `tiles` tiles, one after the other, each with the events of the first. A lane goes on with the
/// next tile as soon as it can: rings and turns go on where they are. Of the tiles that do not lie in rings, the next
/// ones are loaded after the first tile of a ring, once their place is free.
class LanePrograms : public Listener {
  public:
    LanePrograms(const Rates& rates, const LaneConstants& constants, const LanedKernel& kernel = {}, Index tiles = 1,
                 Index block = 0);
    LanePrograms(const LanePrograms&) = delete;  // machine() refers to this object
    LanePrograms& operator=(const LanePrograms&) = delete;

    Needs needs() const override { return {.exact = true}; }
    bool wants(Index launch, Index block) override { return launch == 0 && block == block_; }
    Index next_wanted(Index launch, Index from) override {
        return launch == 0 && from <= block_ ? block_ : none_wanted;
    }
    void begin(const LoopMark&) override { record_.begin_loop(); }
    void turn(const TurnMark& mark) override { record_.turn(mark.index); }
    void end(const LoopMark&) override { record_.end_loop(); }
    void end(const BlockMark& mark) override;
    using Listener::begin;
    using Listener::end;
    void on(const Event& event, TileData) override { record_.on(event); }

    /// One for each warpgroup; lanes stand in the order of their first operations, first those of the first thread
    /// block on the SM. Each program marks when it begins a turn of the innermost loop, and when it ends a tile.
    const std::vector<LaneProgram>& programs() const { return programs_; }
    const LaneMachine& machine() const { return machine_; }
    const LanedKernel& kernel() const { return kernel_; }

  private:
    std::string name_of(Signal flag) const;

    const Rates rates_;
    const LaneConstants c_;
    const LanedKernel kernel_;
    const Index tiles_, block_;
    LaneRecord record_;
    std::vector<LaneProgram> programs_;
    std::vector<LaneFlag> flags_;  // of one thread block
    LaneMachine machine_;
};

}  // namespace tilescope
