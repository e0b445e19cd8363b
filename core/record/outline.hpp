// What the thread blocks of a program do, for a model of time: a listener, of folded runs.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/machine/event.hpp"

namespace tilescope {

/// An operation as a model of time needs it. Its names of tiles are valid as long as its Outline is.
struct Deed {
    struct Use {
        TileInfo tile = {"", 0, 0, Dtype::f32, Space::registers};
        TileId id = no_tile;

        bool in_sram() const { return id != no_tile && tile.space == Space::sram; }
        double size() const { return static_cast<double>(tile.rows * tile.cols); }
        double bytes() const { return static_cast<double>(tile.bytes()); }
    };

    const Operation* operation;
    Use out;                              ///< the tile written; of a store, the tile stored
    std::array<Use, 2> reads;             ///< a and b
    bool scaled = false;                  ///< a product with a factor other than 1
    std::array<bool, 2> transposed = {};  ///< of a product, a and b
    Counters cost = {};
    const char* lane = "";    ///< the lane that issues it
    Dtype math = Dtype::f32;  ///< of a product, the type in which its operands meet

    Kind kind() const { return operation->kind; }
    bool moves_data() const { return kind() == Kind::load || kind() == Kind::store; }
    /// Whether the operation needs the contents of the tile. A load into the tile does not.
    bool uses(TileId tile) const {
        return kind() != Kind::load &&
               (reads[0].id == tile || reads[1].id == tile || (out.id == tile && operation->access == Access::update));
    }
};

/// The operations of a thread block in one iteration of a loop, without those of inner loops; or all of its operations
/// outside loops. One iteration stands for all, and `total` says how many there are.
struct Passage {
    /// Whether the launch's graded axis decides how often a block goes through the passage: `each` times for every full
    /// tile, or for every ragged tile, that the block sees.
    enum class Per : std::uint8_t { block, full_tile, ragged_tile };

    std::vector<Deed> deeds;
    Index loop = -1;  ///< number of the loop it is a turn of, in the order in which they begin; -1: outside
    Index code = -1;  ///< number of that loop in the program's text, the same each time the loop begins
    Per per = Per::block;
    Count each = 1;   ///< times for each such tile: the product of the turns of the loops around
    Count total = 0;  ///< how often all of these blocks together go through the passage
};

/// Thread blocks of a launch that are alike, except for how many tiles they see.
struct BlockOutline {
    std::vector<Span> at;  ///< the place of one of them in the grid: one span for each axis
    Count blocks = 0;
    std::vector<Passage> passages;  ///< in the order of the program; the first is what is outside loops
};

struct LaunchOutline {
    const char* kernel;
    std::vector<Axis> axes;
    std::vector<BlockOutline> blocks;
    bool multiplies_f32 = false;  ///< some product has both operands in f32
    bool has_lanes = false;       ///< some operation is issued by a lane
};

class Outline : public Listener {
  public:
    void begin(const LaunchMark& mark) override;
    void begin(const BlockMark& mark) override;
    void begin(const LoopMark& mark) override;
    void turn(const TurnMark& mark) override;
    void end(const LoopMark& mark) override;
    using Listener::end;  // of launches and blocks too
    void on(const Event& event, TileData data) override;

    const std::vector<LaunchOutline>& launches() const { return launches_; }

  private:
    /// A loop that is under way.
    struct Open {
        Index number, code;
        Tiles tiles;
        bool by_axis;             ///< the launch's graded axis decides how many turns it has
        std::size_t passage = 0;  ///< index of the passage of its turn
        Index within = 0;         ///< loops that began in this turn
    };
    Index code_of_next_loop();
    BlockOutline& block() { return launches_.back().blocks.back(); }
    Passage& passage(Count times);

    std::vector<LaunchOutline> launches_;
    std::vector<Open> open_;
    std::deque<std::string> names_;                   // of tiles: copies, because the Gpu may be gone
    std::vector<TileInfo> tiles_;                     // of the block, by id
    Index loops_ = 0, loops_outside_ = 0;             // begun so far; of these, inside no other loop
    Index ended_ = -1;                                // the code of the loop that ended last
    std::size_t after_ = 0;                           // the passage of what some blocks do after it; 0: none
    std::map<std::pair<Index, Index>, Index> codes_;  // by the code of the loop around, and the number within its turn
};

}  // namespace tilescope
