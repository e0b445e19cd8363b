#include "show/run/strides.hpp"

#include <optional>

namespace tilescope::show {
namespace {

/// What a tick of an SM is part of.
struct TickPart {
    Index launch = -1, block = -1, turn = -1;
    bool begins = false;  ///< an operation, or a visit of a line, begins; these have no number

    friend bool operator==(const TickPart&, const TickPart&) = default;
};

class TickParts {
  public:
    TickParts(const Run& run, Stride stride, Index sm)
        : run_(run), trace_(run.trace()), stride_(stride), sm_(sm), holds_turns_(trace_.turns().size()) {
        for (const RecordedTurn& t : trace_.turns())
            if (t.around >= 0) holds_turns_[static_cast<std::size_t>(t.around)] = true;
    }

    /// The part of the run that this tick belongs to; nullopt where the SM does nothing in the tick.
    std::optional<TickPart> of(Index tick) const {
        std::optional<TickPart> part;
        for (Index k = run_.schedule().steps_after(tick - 1); k < run_.schedule().steps_after(tick); ++k) {
            const Step& s = trace_[k];
            if (stride_ == Stride::launch) return TickPart{.launch = s.launch};
            if (!run_.on_sm(s, sm_)) continue;
            if (!part) part.emplace();
            part->launch = s.launch;
            part->block = s.kind() == Kind::launch ? -1 : s.event.block;
            part->turn = stride_ == Stride::tile ? s.turn : stride_ == Stride::row ? around_tiles(s.turn) : -1;
            part->begins |= stride_ == Stride::operation || (stride_ == Stride::line && s.enters_line);
        }
        return part;
    }
    /// Whether a new part begins with `p`, which follows `before`.
    static bool begins(const TickPart& p, const TickPart& before) {
        return p.begins || TickPart{p.launch, p.block, p.turn} != TickPart{before.launch, before.block, before.turn};
    }

  private:
    /// The iteration around the innermost loop, which goes over tiles; -1: that loop is in no other.
    Index around_tiles(Index turn) const {
        if (turn < 0 || holds_turns_[static_cast<std::size_t>(turn)]) return turn;
        return trace_.turns()[static_cast<std::size_t>(turn)].around;
    }

    const Run& run_;
    const Trace& trace_;
    const Stride stride_;
    const Index sm_;
    std::vector<bool> holds_turns_;
};

}  // namespace

Index stride_on(const Run& run, Stride stride, Index sm, Index tick) {
    const TickParts parts(run, stride, sm);
    std::optional<TickPart> under_way;
    Index last = run.ticks();
    for (Index t = tick + 1; t <= run.ticks(); ++t) {
        const std::optional<TickPart> part = parts.of(t);
        if (!part) continue;
        if (under_way && TickParts::begins(*part, *under_way)) return last;
        under_way = part, last = t;
    }
    return last;
}

Index stride_back(const Run& run, Stride stride, Index sm, Index tick) {
    const TickParts parts(run, stride, sm);
    std::optional<TickPart> after;
    for (Index t = tick; t > 0; --t) {
        const std::optional<TickPart> part = parts.of(t);
        if (!part) continue;
        // Without `after`, the SM was idle from here to `tick`: its last part ended here.
        if (t < tick && (!after || TickParts::begins(*after, *part))) return t;
        after = part;
    }
    return 0;
}

}  // namespace tilescope::show
