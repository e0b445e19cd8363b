#include "show/stage/machine_text.hpp"

#include <algorithm>
#include <map>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "core/time/rates.hpp"
#include "show/words/sm_text.hpp"

namespace tilescope::show {
using text::message;
namespace {

/// What SMs do with one tensor in the tick shown.
struct Crossing {
    std::vector<Index> sms;
    Bytes bytes = 0, missed = 0;
    const Step* step = nullptr;  ///< of one of these SMs
    bool one_tile = true;        ///< all SMs move the same tile
};

/// By tensor: first the loads, then the stores.
std::map<std::pair<bool, TensorId>, Crossing> crossings(const Run& run, const L2Shown& l2) {
    std::map<std::pair<bool, TensorId>, Crossing> all;
    for (const SmState& sm : run.moment().sms) {
        const Step* step = run.operation(sm);
        if (!step || !step->moves_data()) continue;
        Crossing& c = all[{step->kind() == Kind::store, step->event.region.tensor}];
        c.one_tile = c.one_tile && (!c.step || c.step->event.region == step->event.region);
        c.sms.push_back(sm.sm), c.step = step;
        c.bytes += step->event.cost.hbm(), c.missed += l2.missed(sm.steps.back());
    }
    return all;
}

/// "V₆", or "V" where the SMs move several tiles.
Phrase named(const Run& run, const Crossing& c) {
    const Event& e = c.step->event;
    const RecordedTensor& t = run.trace().tensors()[e.region.tensor];
    const Index rows = run.trace().tiles()[c.step->tile()].rows;
    if (!c.one_tile || rows == 0 || e.region.rows.begin % rows != 0) return {t.name, t.meaning};
    return {tile_name(t.name, e.region.rows.begin / rows), t.meaning};
}

/// "SM 3 loads V₆: 4.1 kB, all of it found in L2".
Sentence crossing_text(const Run& run, const Crossing& c, bool store, bool with_l2) {
    const std::size_t n = c.sms.size();
    const std::string who = n == 1 ? message("sm.name", c.sms[0]) : message("sm.sms", n), bytes = text::bytes(c.bytes);
    const Phrase what = named(run, c);
    if (!store && with_l2 && c.missed > 0 && c.missed < c.bytes)
        return sentence("machine.loads", who, n, what, bytes, text::bytes(c.missed));
    const char* const id = store           ? (with_l2 ? "machine.stores" : "machine.stores_to_dram")
                           : !with_l2      ? "machine.loads_from_dram"
                           : c.missed == 0 ? "machine.loads_all_from_l2"
                                           : "machine.loads_all_from_dram";
    return sentence(id, who, n, what, bytes);
}

bool is_launch(const Run& run) {
    return run.tick() > 0 && run.trace()[run.schedule().steps_after(run.tick() - 1)].kind() == Kind::launch;
}

std::string about_end(const Run& run, const L2Shown& l2) {
    const Bytes kept = run.hbm(run.tick()) - run.hbm_read(run.tick()) - l2.dram_written();
    const std::string sm = text::bytes(run.hbm(run.tick())), dram = text::bytes(l2.dram_read() + l2.dram_written());
    const bool all = run.shortened().empty();
    if (kept <= 0) return message(all ? "machine.done" : "machine.done_with_shown", sm, dram);
    return message(all ? "machine.done_and_kept" : "machine.done_with_shown_and_kept", sm, dram, text::bytes(kept));
}

/// "GB/s" and "TB/s".
std::string rate_text(double bytes_per_second) { return text::bytes(bytes_per_second) + "/s"; }

}  // namespace

Sentence machine_headline(const Run& run, const L2Shown& l2) {
    if (run.tick() == 0) return sentence(l2.exists() ? "machine.before" : "machine.before_without_l2");
    if (is_launch(run))
        return sentence(l2.exists() ? "machine.launches" : "machine.launches_without_l2", run.moment().kernel);
    if (has_ended(run)) return {{about_end(run, l2)}};
    const auto all = crossings(run, l2);
    if (all.empty()) {
        const auto& sms = run.moment().sms;
        const auto busy = std::count_if(sms.begin(), sms.end(), [&](const SmState& s) { return run.operation(s); });
        if (busy == 0) return sentence("machine.nothing");
        return busy == 1 ? sentence("machine.one_computes") : sentence("machine.compute", busy);
    }
    Sentence said;
    for (const auto& [what, c] : all) {
        const Sentence one = crossing_text(run, c, what.first, l2.exists());
        said = said.empty() ? one : sentence("machine.clauses", said, one);
    }
    return sentence("machine.sentence", said);
}

std::string machine_reason(const Run& run, const L2Shown& l2) {
    if (!l2.exists()) return message("machine.without_l2");
    const auto tensors = static_cast<double>(run.counted().hbm_footprint);
    const auto room = static_cast<double>(run.experiment().gpu.l2_bytes);
    const Bytes read = run.hbm_read(run.tick());
    std::vector<std::string> said = {
        read == 0 ? message("machine.l2_is_empty")
                  : message("machine.l2_answered",
                            text::percent(1 - static_cast<double>(l2.dram_read()) / static_cast<double>(read)))};
    if (run.trace().launches().size() > 1) said.push_back(message("machine.launches_begin_empty"));
    if (tensors > room)
        said.push_back(message("machine.tensors_exceed_l2", text::bytes(tensors), text::tenths(tensors / room)));
    else if (tensors < 0.01 * room)
        said.push_back(message("machine.tensors_are_little", text::bytes(tensors)));
    else
        said.push_back(message("machine.tensors_fit_l2", text::bytes(tensors), text::percent(tensors / room)));
    return text::sentences(said);
}

double l2_rate(const Run& run) {
    const GpuSpec& gpu = run.experiment().gpu;
    return rates_of(gpu).l2 * gpu.clock_mhz * 1e6;
}

double dram_rate(const Run& run) { return run.experiment().gpu.hbm_gbs * 1e9; }

std::vector<std::string> dram_pipe_text(const Run& run) {
    return {message("machine.dram_rate", rate_text(dram_rate(run)))};
}

std::vector<std::string> l2_pipe_text(const Run& run) {
    const std::string all = rate_text(l2_rate(run)), sms = std::to_string(run.experiment().gpu.sms);
    const double each = l2_rate(run) / static_cast<double>(run.experiment().gpu.sms);
    return {message("machine.l2_rate_for_each", all, rate_text(each), sms), message("machine.l2", all)};
}

std::string about_pipes(const Run& run) {
    return text::join({message("machine.about_pipes"), l2_pipe_text(run)[0],
                       message("machine.dram_of_gpu", dram_pipe_text(run)[0], run.experiment().gpu.title)},
                      "\n");
}

std::vector<std::string> l2_titles(const Run& run, const L2Shown& l2) {
    const std::string size = text::binary_bytes(run.experiment().gpu.l2_bytes), held = text::bytes(l2.held());
    const bool copies = run.experiment().gpu.l2_partitions.value_or(1) > 1;
    return {message(copies ? "machine.l2_holds_with_copies" : "machine.l2_holds", size, held),
            message("machine.l2_holds", size, held), message("machine.l2", size)};
}

std::vector<std::string> l2_answer(const Run& run, const L2Shown& l2) {
    Bytes asked = 0, missed = 0;
    for (const auto& [what, c] : crossings(run, l2))
        if (!what.first) asked += c.bytes, missed += c.missed;
    if (asked == 0) return {message("machine.nothing_asked"), ""};
    const std::string from = text::bytes(missed), of = text::bytes(asked);
    return {message("machine.asked", of, from), message("machine.asked_briefly", of, from), ""};
}

std::string about_l2(const Run& run) {
    const GpuSpec& gpu = run.experiment().gpu;
    const bool divided = gpu.l2_partitions.value_or(1) > 1;
    return text::join({message(divided ? "machine.about_divided_l2" : "machine.about_l2", gpu.title,
                               text::binary_bytes(gpu.l2_bytes)),
                       message("machine.about_lit"), message("machine.about_empty_l2")},
                      "\n");
}

std::string about_held(const Run& run, const L2Shown& l2, TensorId id) {
    const RecordedTensor& t = run.trace().tensors()[id];
    const Bytes element = size_of(t.dtype);
    double held = 0;
    for (std::size_t k = 0; k < t.regions.size(); ++k)
        held += l2.share_held(id, k) * static_cast<double>(t.regions[k].rows.size * t.regions[k].cols.size * element);
    return message("machine.held", t.name, text::bytes(held), text::bytes(t.size() * element));
}

std::string dram_text(Bytes bytes) { return message("machine.dram_traffic", text::bytes(bytes)); }

}  // namespace tilescope::show
