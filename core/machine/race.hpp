// Finding thread blocks of a launch that store to the same elements, or that use a tensor to which others add.
#pragma once

#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "core/machine/here.hpp"
#include "core/machine/mistakes.hpp"
#include "core/machine/tensor.hpp"

namespace tilescope {

/// A rectangle that a thread block stored, or added to, at a pseudo-code line.
struct Stored {
    Region region;
    Index block, party;  ///< blocks that take turns are of one party
    std::uint16_t line;
    bool adds;
    Here here;
};

/// The stores and additions of some thread blocks of a launch, and the tensors that these blocks loaded from.
class Stores {
  public:
    void begin_block(Index block, Index party);
    /// A store or an addition of the current block. A repeated rectangle is kept once.
    void add(const Region& region, std::uint16_t line, bool adds, Here here);
    void add_load(TensorId tensor, std::uint16_t line);
    void take_from(Stores& other);
    /// Throws Race where blocks of two parties store to the same elements, or where a block adds to a tensor that any
    /// block loads from or stores to.
    void check(Index launch, const char* kernel, const std::vector<const char*>& tensors);
    const std::vector<Stored>& all() const { return all_; }
    void forget() { all_.clear(), uses_.clear(); }

  private:
    struct Use {
        const char* mistake;  ///< id of the message for when a block adds to the tensor
        Index block;
        std::uint16_t line;
    };
    void note(const Use& use, TensorId tensor);
    void check_adding(Index launch, const char* kernel, const std::vector<const char*>& tensors) const;

    std::vector<Stored> all_;
    std::map<TensorId, Use> uses_;  // by tensor: the first block that loads from it or stores to it
    Index block_ = 0, party_ = 0;
    std::set<std::tuple<TensorId, Index, Index, Index, Index, Index, bool>> seen_;  // of the current block
};

}  // namespace tilescope
