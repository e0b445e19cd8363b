#include "show/words/sm_text.hpp"

#include <algorithm>
#include <set>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "show/words/steps.hpp"

namespace tilescope::show {
using namespace lab;
using text::message;

std::vector<Work> work_of_sms(const Run& run, bool over) {
    const Moment& m = run.moment();
    const Index sms = run.experiment().gpu.sms;
    std::vector<Work> work(static_cast<std::size_t>(sms), Work::none);
    if (over) return work;
    for (const SmState& s : m.sms)
        if (s.block) work[static_cast<std::size_t>(s.sm)] = Work::shown;
    if (m.launch < 0 || m.busy == 0) return work;
    std::set<Index> recorded;
    for (const Placement& p : run.schedule().placements_of(m.launch)) recorded.insert(p.sm);
    const Index blocks = run.counted().launches[static_cast<std::size_t>(m.launch)].thread_blocks;
    // Every other SM works like one of the recorded SMs, on another head.
    auto like = recorded.begin();
    for (Index sm = 0; sm < std::min(sms, blocks); ++sm) {
        if (recorded.contains(sm)) continue;
        if (blocks > sms || work[static_cast<std::size_t>(*like)] == Work::shown)
            work[static_cast<std::size_t>(sm)] = Work::elsewhere;
        if (++like == recorded.end()) like = recorded.begin();
    }
    return work;
}

Index busy_sms(const std::vector<Work>& work) {
    return static_cast<Index>(work.size()) - std::count(work.begin(), work.end(), Work::none);
}

bool has_ended(const Run& run) {
    const auto& sms = run.moment().sms;
    return run.tick() > 0 && run.tick() == run.ticks() &&
           std::none_of(sms.begin(), sms.end(), [&](const SmState& sm) { return run.operation(sm) != nullptr; });
}

std::vector<std::string> launch_lines(const Run& run, Index busy, bool over) {
    const Moment& m = run.moment();
    const std::string sms = std::to_string(run.experiment().gpu.sms);
    if (m.launch < 0) return {message("sm.before_first_launch", sms), message("sm.sms", sms)};
    const Report& r = run.counted();
    const Count n = r.launches[static_cast<std::size_t>(m.launch)].thread_blocks;
    const std::string blocks = message("sm.blocks", n), threads = message("sm.thread_blocks", n);
    const std::string number = std::to_string(m.launch + 1), all = std::to_string(r.launches.size());
    const bool one = r.launches.size() == 1;
    const std::string filled = over ? message("sm.finished") : message("sm.busy", std::to_string(busy), sms);
    const std::string launch = one ? m.kernel : message("sm.launch_of", m.kernel, number, all);
    const auto shown = std::count_if(m.sms.begin(), m.sms.end(), [](const SmState& s) { return s.block != nullptr; });
    const bool part = !over && shown > 0 && shown < busy;
    const auto line = [](const std::vector<std::string>& parts) { return text::join(parts, " · "); };
    return {line({launch, threads,
                  part ? message("sm.busy_and_shown", std::to_string(busy), sms, std::to_string(shown)) : filled}),
            line({launch, threads, filled}),
            line({one ? m.kernel : m.kernel + " " + number + "/" + all, blocks, filled}), line({blocks, filled}),
            filled};
}

std::string about_sm(const Run& run, Index sm, Work work) {
    const std::string number = std::to_string(sm);
    std::string does = message(work == Work::elsewhere ? "sm.has_block_not_shown" : "sm.is_idle", number);
    if (work == Work::shown) {
        const SmState& state = run.moment().sms[static_cast<std::size_t>(sm)];
        does = message("sm.has_block", number, std::to_string(state.block->block)) + "\n" + loop_position(run, state);
    }
    return text::join({does, "", message("sm.if_filled"), message("sm.if_half_filled"), message("sm.if_outlined"),
                       message("sm.click")},
                      "\n");
}

std::string sm_name(const SmState& sm) { return message("sm.name", std::to_string(sm.sm)); }

std::vector<std::string> sm_places(const Run& run, const SmState& sm) {
    const std::string loops = loop_position(run, sm), numbers = short_position(run, sm);
    if (loops.empty()) return {sm_block(sm)};
    return {loops + " · " + sm_block(sm), loops, numbers};
}

std::string sm_block(const SmState& sm) { return sm.block ? message("sm.block", sm.block->block) : message("sm.idle"); }

std::string sm_line(const SmState& sm) {
    return sm.block && sm.line > 0 ? message("sm.line", std::to_string(sm.line)) : "";
}

StepKind phase_of(const Run& run, const SmState& sm) {
    const Step* step = run.operation(sm);
    if (!step) return StepKind::none;
    if (step->moves_data()) return step->kind() == Kind::load ? StepKind::load : StepKind::store;
    return step->kind() == Kind::product ? StepKind::product : StepKind::rest;
}

std::string name_of(StepKind phase) {
    return message(phase == StepKind::load      ? "sm.loads"
                   : phase == StepKind::store   ? "sm.stores"
                   : phase == StepKind::product ? "sm.multiplies"
                   : phase == StepKind::rest    ? "sm.rest"
                                                : "sm.waits");
}

std::string space_title(Space space) { return message(space == Space::sram ? "sm.sram" : "sm.registers"); }

std::string space_used(Bytes used, Bytes capacity) {
    return message("sm.used_of", text::binary_bytes(used), text::binary_bytes(capacity));
}

std::vector<std::string> space_used_texts(Bytes used, Bytes capacity) {
    return {space_used(used, capacity), text::binary_bytes(used)};
}

std::string space_free(Bytes used, Bytes capacity) { return message("sm.free", text::binary_bytes(capacity - used)); }

Part part_of(const Step* step, TileId tile) {
    if (!step || tile == no_tile) return Part::none;
    const Event& e = step->event;
    if (tile == e.out) return Part::result;
    if (tile == e.a()) return Part::first;
    return tile == e.b() ? Part::second : Part::none;
}

std::string part_mark(const Step* step, Part part) {
    if (!step || step->moves_data()) return "";
    return part == Part::result ? "=" : part == Part::first ? "a" : part == Part::second ? "b" : "";
}

std::string tile_size(const RecordedTile& tile) { return text::grouped(tile.bytes()) + " B"; }

std::string tile_shape(const RecordedTile& t) { return std::to_string(t.rows) + " × " + std::to_string(t.cols); }

std::string about_tile(const Run& run, TileId tile, Index written, Part part) {
    const RecordedTile& t = run.trace().tiles()[tile];
    std::vector<std::string> lines = {
        message("sm.tile", t.name, tile_shape(t), name_of(t.dtype), tile_size(t), name_of(t.space)),
        message("sm.written_in", run.schedule().tick_of(written), run.trace()[written].event.operation->name)};
    if (part != Part::none)
        lines.push_back(message(part == Part::result  ? "sm.is_result"
                                : part == Part::first ? "sm.is_first_operand"
                                                      : "sm.is_second_operand"));
    return text::join(lines, "\n");
}

}  // namespace tilescope::show
