#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>

#include "algorithms/contract/pseudo_code.hpp"
#include "cli/lanes.hpp"
#include "cli/step.hpp"
#include "core/text/message.hpp"
#include "core/text/page.hpp"
#include "core/text/table.hpp"
#include "core/text/words.hpp"
#include "lab/flags/describe.hpp"
#include "lab/model/mapping.hpp"
#include "show/run/loop_nest.hpp"
#include "show/stage/blackboard.hpp"
#include "show/stage/lane_chart.hpp"
#include "show/stage/lanes_text.hpp"
#include "show/stage/machine_text.hpp"
#include "show/words/code_text.hpp"
#include "show/words/formula.hpp"
#include "show/words/hbm_text.hpp"
#include "show/words/narration.hpp"
#include "show/words/sm_text.hpp"
#include "show/words/tables.hpp"
#include "show/words/time_text.hpp"
#include "show/words/value_text.hpp"

namespace tilescope::cli {
using namespace lab;
using text::message;
namespace {

using namespace show;

constexpr Index few = 4;    // rows and columns shown of a tile, where many steps are printed
constexpr Index many = 12;  // the same, where one step is printed

const SmState& in_focus(const Run& run, Index sm) { return run.moment().sms[static_cast<std::size_t>(sm)]; }

void print_wrapped(const std::string& text, const std::string& indent) {
    for (const std::string& line : text::wrapped(text, page_width - indent.size())) std::cout << indent << line << '\n';
}

/// Prints the numbers of a tile in columns.
void print_tile(const RecordedTile& tile, TileData values, Index most, const std::string& indent) {
    const auto cells = value_cells(tile, values, most, most);
    std::vector<std::size_t> widest;
    for (const auto& row : cells)
        for (std::size_t c = 0; c < row.size(); ++c) {
            widest.resize(std::max(widest.size(), c + 1));
            widest[c] = std::max(widest[c], text::width(row[c]));
        }
    for (const auto& row : cells) {
        std::cout << indent;
        for (std::size_t c = 0; c < row.size(); ++c)
            std::cout << (c ? "  " : "") << std::string(widest[c] - text::width(row[c]), ' ') << row[c];
        std::cout << '\n';
    }
}

/// Prints the numbers of a tile. A tile of a single column is printed as a row.
void print_contents(const RecordedTile& tile, TileData values, Index most, const std::string& indent) {
    if (tile.cols > 1) return print_tile(tile, values, most, indent);
    RecordedTile lying = tile;
    std::swap(lying.rows, lying.cols);
    print_tile(lying, values, std::max<Index>(8, most), indent);
}

/// A tile's title, with the range of its values: "S (4 × 4): from −1.81 to 2.8".
std::string title_of(const RecordedTile& tile, TileData values) {
    return values.empty() ? message("step.tile", tile.name, tile_shape(tile))
                          : message("step.tile_with_range", tile.name, tile_shape(tile), range_text(values));
}

/// Prints the pseudo-code with the cost of each line so far.
void print_code(const Run& run, const SmState& sm) {
    constexpr std::size_t costs = 30;  // the width of the columns right of the code
    text::Table table(text::titles({"column.line", "column.pseudo_code", "column.sm_traffic", "step.flops"}), 2);
    for (const CodeLine& c : code_for(run.algorithm(), run.experiment().problem)) {
        const std::string code = c.code;
        const std::string indent(code.find_first_not_of(' '), ' ');
        const LineCost cost = line_cost(run, c.number);
        const auto lines = text::wrapped(code.substr(indent.size()), page_width - costs - indent.size());
        for (std::size_t k = 0; k < lines.size(); ++k)
            if (k == 0)
                table.add({(sm.block && sm.line == c.number ? "> " : "  ") + std::to_string(c.number),
                           indent + lines[k], cost.hbm, cost.flops});
            else
                table.add({"", indent + "  " + lines[k]});
    }
    std::cout << '\n';
    table.print(std::cout);
}

void print_chip(const Run& run, const SmState& sm) {
    const GpuSpec& gpu = run.experiment().gpu;
    const Step* operation = run.operation(sm);
    for (const auto& [space, used, capacity] :
         {std::tuple(Space::sram, sm.sram_used, gpu.sram_per_block),
          std::tuple(Space::registers, sm.registers_used, gpu.registers_per_sm)}) {
        std::cout << '\n'
                  << message("step.space", space_title(space), space_used(used, capacity), space_free(used, capacity))
                  << '\n';
        for (const TileState& live : sm.tiles) {
            const RecordedTile& tile = run.trace().tiles()[live.tile];
            if (tile.space != space) continue;
            const TileData values = run.player().values(live);
            const std::string mark = part_mark(operation, part_of(operation, live.tile));
            std::cout << "  "
                      << message("step.tile_on_chip", title_of(tile, values), name_of(tile.dtype), tile_size(tile),
                                 std::to_string(run.schedule().tick_of(live.written)))
                      << (mark.empty() ? "" : "  [" + mark + "]") << '\n';
            if (!values.empty()) print_contents(tile, values, many, "    ");
        }
    }
}

/// Prints what the written tile held before, and how far the output is from the reference.
void print_change(const Run& run, const SmState& sm) {
    const TileState* written = tile_written(run, sm);
    if (written && !run.operation(sm)->moves_data()) {
        const RecordedTile& tile = run.trace().tiles()[written->tile];
        if (const TileData before = run.values_before(*written); !before.empty()) {
            std::cout << '\n' << message("step.before", title_of(tile, before)) << '\n';
            print_contents(tile, before, many, "    ");
        }
    }
    if (!run.has_values()) return;
    const auto errors = run.error_so_far(sm);
    std::cout << '\n'
              << message("remark.of", error_title(run),
                         errors.empty() ? why_no_error(run) : error_text(errors.back().rms))
              << '\n'
              << stored_text(run, run.stored_error()) << '\n';
}

void print_hbm(const Run& run) {
    L2Shown l2(run);
    l2.seek(run.tick());
    std::cout << '\n' << hbm_titles(run).front() << '\n';
    if (l2.exists()) std::cout << l2_titles(run, l2).front() << '\n';
    for (const std::string& said : {plain(machine_headline(run, l2)), machine_reason(run, l2)})
        for (const std::string& line : text::wrapped(said, 118)) std::cout << "  " << line << '\n';
    const auto header = tensor_header();
    text::Table table({header[0].text, header[1].text, header[2].text, header[3].text, header[4].text, header[5].text});
    const auto add = [&](const TensorRow& r) {
        table.add({r.name.text, r.size.text, r.read.text, r.written.text, r.all_reads.text, r.all_writes.text});
    };
    for (const TensorRow& r : tensor_rows(run)) add(r);
    add(tensor_total(run));
    table.print(std::cout, "  ");
}

void print_run_counters(const Run& run) {
    std::cout << '\n';
    text::Table table(text::titles({"step.counter", "tables.so_far", "tables.whole_run"}));
    for (const CounterRow& r : counter_rows(run, run.algorithm().name, &run.counted()))
        table.add({r.name, r.so_far.text, r.whole.text});
    table.print(std::cout, "  ");
}

void print_other_sms(const Run& run, Index sm) {
    constexpr std::size_t most = 8;
    std::vector<const SmState*> others;
    for (const SmState& s : run.moment().sms)
        if (s.sm != sm && s.block) others.push_back(&s);
    if (others.empty()) return;
    std::cout << '\n';
    for (std::size_t k = 0; k < std::min(most, others.size()); ++k)
        std::cout << sm_name(*others[k]) << " · " << sm_block(*others[k]) << " · " << sm_line(*others[k]) << " · "
                  << formula(run, *others[k]) << '\n';
    if (others.size() > most) std::cout << message("step.more_sms", std::to_string(others.size() - most)) << '\n';
}

/// Prints who carries out the operation, and what all lanes do when it begins.
void print_lanes(const LaneMoment& m) {
    print_wrapped(
        text::sentences({carried_out_text(m), message("step.lanes_at", text::grouped(std::llround(m.cycle)))}), "  ");
    for (const std::string& s : lane_sentences(*m.view, m.cycle)) print_wrapped(s, "    ");
}

Json lanes_json(const LaneMoment& m) {
    const LaneView& view = *m.view;
    Json j = {{"cycle", m.cycle}, {"own_time", m.own}};
    j["operation"] = *m.segments, j["segments"] = Json::array(), j["slots"] = Json::array(), j["turns"] = Json::array();
    std::vector<std::uint32_t> told = *m.segments;
    for (std::uint32_t k = 0; k < view.segments().size(); ++k)
        if (const LaneSegment& s = view.segments()[k]; s.at(m.cycle)) {
            told.push_back(k);
            if (s.doing == LaneDoing::wait && s.ended_by != no_segment) told.push_back(s.ended_by);
        }
    std::sort(told.begin(), told.end());
    told.erase(std::unique(told.begin(), told.end()), told.end());
    for (const std::uint32_t k : told) j["segments"].push_back(segment_json(view, k));
    for (const LaneSlot& slot : view.slots()) {
        Json s = slot_json(view, slot, m.cycle);
        if (const SlotStay* stay = slot.stay_at(m.cycle)) s["what"] = stay->what, s["number"] = stay->number;
        j["slots"].push_back(std::move(s));
    }
    for (const LaneView::Baton& baton : view.batons())
        if (const LaneView::Turn* turn = baton.at(m.cycle)) j["turns"].push_back(turn_json(view, baton, *turn));
    j["sentences"] = lane_sentences(view, m.cycle);
    return j;
}

Json number_json(float x) {
    if (std::isfinite(x)) return x;
    return std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf";
}

Json tiles_json(const Run& run, const SmState& sm) {
    Json all = Json::array();
    for (const TileState& live : sm.tiles) {
        const RecordedTile& t = run.trace().tiles()[live.tile];
        Json j = {{"name", t.name},
                  {"rows", t.rows},
                  {"cols", t.cols},
                  {"dtype", name_of(t.dtype)},
                  {"space", t.space == Space::sram ? "sram" : "registers"},
                  {"bytes", t.bytes()},
                  {"written_in_step", run.schedule().tick_of(live.written)}};
        if (const TileData values = run.player().values(live); !values.empty()) {
            j["values"] = Json::array();
            for (const float x : values) j["values"].push_back(number_json(x));
        }
        all.push_back(std::move(j));
    }
    return all;
}

}  // namespace

void print_heading(const Run& run, const Request& request, const StepsWanted& wanted, Index first, Index last) {
    const Experiment& e = run.experiment();
    text::print_wrapped(std::cout, message("step.heading", e.algorithm->name, describe(request, *e.algorithm->computes),
                                           tiles_text(e), e.gpu.name));
    const std::string sm = std::to_string(wanted.sm);
    std::cout << (first == last ? message("step.one_of", sm, first, run.ticks())
                                : message("step.some_of", sm, first, last, run.ticks()))
              << '\n';
    print_wrapped(run.shortened(), "");
}

void print_step(const Run& run, LaneWalk& lanes, Index sm) {
    const SmState& focus = in_focus(run, sm);
    const StepText s = step_text(run, focus);
    const std::string step = message("step.operation", std::to_string(s.step));
    std::cout << step << (s.where.empty() ? "" : " · " + s.where) << '\n';
    if (!s.code.empty()) std::cout << "  " << s.code << '\n';
    if (!s.formula.empty()) std::cout << "  " << s.formula << '\n';
    print_wrapped(s.happening, "  ");
    const TileState* written = tile_written(run, focus);
    if (const TileData values = written ? run.player().values(*written) : TileData(); !values.empty()) {
        const RecordedTile& tile = run.trace().tiles()[written->tile];
        std::cout << "  " << title_of(tile, values) << '\n';
        print_contents(tile, values, few, "    ");
    }
    std::cout << "  " << traffic_so_far(run) << '\n';
    const std::optional<LaneMoment> m = lanes.at(focus);
    if (m && m->own) print_lanes(*m);
    if (m && !m->own) print_wrapped(carried_out_text(*m), "  ");
}

void print_steps_table(Run& run, Index sm, const std::vector<Index>& steps) {
    const Blackboard board = blackboard(run, sm, steps, page_width);
    text::Table table(board.header, board.header.size());
    for (const auto& row : board.rows) table.add(row);
    std::cout << '\n';
    table.print(std::cout);
    if (!run.has_values()) return;
    const std::string left_out = text::join(board.left_out, ", ");
    std::cout << '\n'
              << (left_out.empty() ? message("step.first_rows") : message("step.first_rows_but", left_out)) << '\n';
}

void print_everything(const Run& run, LaneWalk& lanes, Index sm) {
    const SmState& focus = in_focus(run, sm);
    const StepText s = step_text(run, focus);
    std::cout << tick_text(run, s.step) << " · " << message("time.modelled", duration(run.seconds(s.step))) << " · "
              << launch_lines(run, busy_sms(work_of_sms(run, false)), false).front() << "\n\n"
              << sm_name(focus) << (s.where.empty() ? "" : " · " + s.where) << '\n';
    if (!s.formula.empty()) std::cout << "  " << s.formula << '\n';
    print_wrapped(s.happening, "  ");
    print_wrapped(s.why, "  ");
    if (const std::optional<LaneMoment> m = lanes.at(focus)) {
        std::cout << '\n' << lane_chart(*m->view, static_cast<int>(text::line_width), m->cycle);
        print_wrapped(lane_legend({m->view, 1}), "");
        print_lanes(*m);
    }
    print_code(run, focus);
    if (focus.block) print_chip(run, focus);
    if (focus.block) print_change(run, focus);
    print_hbm(run);
    print_run_counters(run);
    print_other_sms(run, sm);
    std::cout << '\n';
    for (const std::string& line : loop_nest(run)) print_wrapped(line, "  ");
}

Json step_json(const Run& run, LaneWalk& lanes, Index sm) {
    const SmState& focus = in_focus(run, sm);
    const StepText s = step_text(run, focus);
    Json j = {{"step", s.step}, {"modelled_seconds", run.seconds(s.step)}, {"launch", run.moment().launch}};
    if (focus.block) j["block"] = focus.block->block;
    if (s.line > 0) j["line"] = s.line;
    j["position"] = loop_position(run, focus);
    j["code"] = s.code;
    j["formula"] = s.formula;
    j["what"] = s.happening;
    j["why"] = s.why;
    j["sram_used"] = focus.sram_used;
    j["registers_used"] = focus.registers_used;
    j["counters"] = to_json(run.player().state().total);
    j["tiles"] = tiles_json(run, focus);
    if (const std::optional<LaneMoment> m = lanes.at(focus)) j["lanes"] = lanes_json(*m);
    return j;
}

}  // namespace tilescope::cli
