// The L2 as what is recorded goes through it, in the order of the ticks: what it holds, what it answers, and what it
// has to fetch. Modelled. Each launch begins with an empty one, as the whole run's DRAM traffic has it.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "core/time/cache.hpp"
#include "show/run.hpp"
#include "show/told.hpp"

namespace tilescope::show {

class L2Shown {
  public:
    /// Of a run that has to outlive it, at tick 0.
    explicit L2Shown(const Run& run);

    /// Whether the GPU has one: else all that is read comes from DRAM.
    bool exists() const { return run_.experiment().gpu.l2_bytes > 0; }
    /// Goes to what it is after the first `tick` ticks.
    void seek(Index tick);

    /// What it holds now, copies in a second partition included.
    Bytes held() const;
    /// The share of a part of a tensor that it can answer: an index into RecordedTensor::regions.
    double share_held(TensorId tensor, std::size_t region) const;
    /// What a load of the tick shown had to wait for DRAM with.
    Bytes missed(Index step) const;

    // So far.

    Bytes dram_read(TensorId tensor) const { return now_.read[tensor]; }
    Bytes dram_read() const;
    Bytes dram_written() const { return now_.written; }

  private:
    struct State {
        Index tick = 0;
        std::vector<Cache> caches;  // one a chiplet
        std::vector<Bytes> read;    // from DRAM, by tensor
        Bytes written = 0;          // to DRAM
    };
    void advance();
    void carry_out(Index step);
    void empty();

    const Run& run_;
    Index keyframe_every_;
    std::vector<std::size_t> first_;  // tile of each tensor: its regions follow each other
    State now_;
    std::vector<State> keyframes_;
    std::map<Index, Bytes> missed_;  // by step of the tick shown
};

/// Those of runs that are looked at, made when they are asked for.
class L2sShown {
  public:
    /// At the tick that the run shows. `version` changes with what the session shows.
    const L2Shown& of(const Run& run, std::uint64_t version);

  private:
    Told<L2Shown, const Run*> told_;
};

}  // namespace tilescope::show
