#include "show/stage/lanes_perfetto.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "show/stage/lanes_text.hpp"

namespace tilescope::show {
using text::message;
namespace {

class LaneTracks {
  public:
    LaneTracks(PerfettoTrace& out, const LaneView& view, double clock_mhz)
        : out_(out),
          view_(view),
          ns_per_cycle_(1e3 / clock_mhz),
          root_(out.track(message("lanes_trace.root"), PerfettoTrace::Track::none,
                          text::sentences({message("lanes_trace.about"), lane_finding(view)}))),
          cycles_(out.note_name(message("lanes_trace.cycles"))) {}

    void draw() {
        for (const LaneRow& row : view_.rows()) draw(row);
        for (const LaneView::Baton& baton : view_.batons()) draw(baton);
        for (const LaneSlot& slot : view_.slots()) draw(slot);
    }

  private:
    std::uint64_t ns(double cycle) const {
        return static_cast<std::uint64_t>(std::llround(std::clamp(cycle, 0.0, view_.cycles()) * ns_per_cycle_));
    }
    void slice(PerfettoTrace::Track track, double from, double to, const std::string& name) {
        if (ns(from) >= ns(to)) return;
        const PerfettoTrace::Note note{cycles_, message("lanes_trace.from_to", text::grouped(std::llround(from)),
                                                        text::grouped(std::llround(to)))};
        out_.begin(track, ns(from), name, {&note, 1});
        out_.end(track, ns(to));
    }
    std::string name_of(const LaneRow& row) const {
        switch (row.kind) {
            case LaneRow::Kind::bus:
                return message("lanes.bus");
            case LaneRow::Kind::tensor_cores:
                return message("lanes.tensor_cores");
            default:
                return view_.name_of(row.lane);
        }
    }
    std::string name_of(const LaneSegment& s) const {
        if (s.doing == LaneDoing::product) return message("lanes.of_group", view_.name_of(s.lane), lane_word(s));
        if (s.doing != LaneDoing::wait) return lane_word(s);
        const bool named = s.ended_by != no_segment && s.awaited != Awaited::turn;
        return message("lanes_figure.waits_for",
                       named ? lane_word(view_.segments()[s.ended_by]) : awaited_word(s.awaited));
    }
    void draw(const LaneRow& row) {
        const PerfettoTrace::Track track = out_.track(name_of(row), root_);
        for (const std::uint32_t k : row.segments) {
            const LaneSegment& s = view_.segments()[k];
            slice(track, s.from, s.doing == LaneDoing::load ? s.sent : s.to, name_of(s));
        }
    }
    void draw(const LaneView::Baton& baton) {
        const PerfettoTrace::Track track = out_.track(turn_word(view_, baton), root_);
        const std::vector<LaneView::Turn>& turns = baton.turns;
        for (std::size_t k = 0; k < turns.size(); ++k)
            slice(track, turns[k].at, k + 1 < turns.size() ? turns[k + 1].at : view_.cycles(),
                  view_.name_of(turns[k].lane));
    }
    void draw(const LaneSlot& slot) {
        const PerfettoTrace::Track track =
            out_.track(message("lane.slot", std::to_string(slot.slot), slot.ring), root_);
        for (const SlotStay& s : slot.stays) {
            const std::string tile = tile_word(s.what, s.number);
            slice(track, s.from, s.there, message("lanes.of_group", tile, slot_word(SlotState::loading)));
            slice(track, s.there, s.until, message("lanes.of_group", tile, slot_word(SlotState::full)));
        }
    }

    PerfettoTrace& out_;
    const LaneView& view_;
    const double ns_per_cycle_;
    const PerfettoTrace::Track root_;
    const PerfettoTrace::Name cycles_;
};

}  // namespace

void write_lanes(PerfettoTrace& out, const LaneView& view, double clock_mhz) {
    LaneTracks(out, view, clock_mhz).draw();
}

}  // namespace tilescope::show
