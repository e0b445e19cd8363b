#include "show/stage/machine_text.hpp"

#include <algorithm>
#include <map>

#include "core/text/numbers.hpp"
#include "core/time/rates.hpp"
#include "show/words/sm_text.hpp"

namespace tilescope::show {
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

std::string where_from(const Crossing& c, bool store, bool with_l2) {
    const std::string bytes = text::bytes(c.bytes);
    if (store) return ": " + bytes + (with_l2 ? ", which L2 keeps for now" : " to DRAM");
    if (!with_l2) return ": " + bytes + " from DRAM";
    if (c.missed == 0) return ": " + bytes + ", all of it found in L2";
    if (c.missed == c.bytes) return ": " + bytes + ", all of it from DRAM";
    return ": " + bytes + ", of which " + text::bytes(c.missed) + " come from DRAM and the rest is found in L2";
}

bool is_launch(const Run& run) {
    return run.tick() > 0 && run.trace()[run.schedule().steps_after(run.tick() - 1)].kind() == Kind::launch;
}

std::string about_end(const Run& run, const L2Shown& l2) {
    const Bytes kept = run.hbm(run.tick()) - run.hbm_read(run.tick()) - l2.dram_written();
    return (run.shortened().empty() ? "Done: " : "Done with what is shown: ") + text::bytes(run.hbm(run.tick())) +
           " crossed the SMs' boundary, " + text::bytes(l2.dram_read() + l2.dram_written()) + " that of DRAM" +
           (kept > 0 ? "; " + text::bytes(kept) + " that were stored stayed in L2 to the end of their launch." : ".");
}

/// "GB/s" and "TB/s".
std::string rate_text(double bytes_per_second) { return text::bytes(bytes_per_second) + "/s"; }

}  // namespace

Sentence machine_headline(const Run& run, const L2Shown& l2) {
    const std::string both = l2.exists() ? "L2 and SMs are empty." : "the SMs are empty.";
    if (run.tick() == 0) return {{"Nothing has run yet: the tensors lie in HBM, " + both}};
    if (is_launch(run))
        return {{"Kernel " + run.moment().kernel + " is launched" +
                 (l2.exists() ? ", with nothing in L2, as profilers count." : ".")}};
    if (has_ended(run)) return {{about_end(run, l2)}};
    const auto all = crossings(run, l2);
    if (all.empty()) {
        const auto& sms = run.moment().sms;
        const auto busy = std::count_if(sms.begin(), sms.end(), [&](const SmState& s) { return run.operation(s); });
        if (busy == 0) return {{"Nothing is moved or computed: tiles are made, or given back."}};
        return {{busy == 1 ? "One SM computes" : text::grouped(busy) + " SMs compute"},
                {"; nothing crosses " + std::string(busy == 1 ? "its" : "their") + " boundary."}};
    }
    Sentence said;
    for (const auto& [what, c] : all) {
        const bool one = c.sms.size() == 1;
        const std::string who =
            one ? "SM " + text::grouped(c.sms[0]) : text::grouped(static_cast<Count>(c.sms.size())) + " SMs";
        said.push_back({(said.empty() ? "" : "; ") + who + (what.first ? " store" : " load") + (one ? "s " : " ")});
        said.push_back(named(run, c));
        said.push_back({where_from(c, what.first, l2.exists())});
    }
    said.push_back({"."});
    return said;
}

std::string machine_reason(const Run& run, const L2Shown& l2) {
    if (!l2.exists()) return "Without an L2 every byte that crosses the SMs' boundary crosses DRAM's, too.";
    const auto tensors = static_cast<double>(run.counted().hbm_footprint);
    const auto room = static_cast<double>(run.experiment().gpu.l2_bytes);
    const std::string all = "All tensors of the run, " + text::bytes(tensors) + ", are ";
    const std::string share = tensors < 0.01 * room ? "less than 1%" : text::percent(tensors / room);
    const std::string size = tensors <= room ? all + share + " of its size: what a launch has read once it finds there."
                                             : all + text::tenths(tensors / room) +
                                                   " times its size: what was not used for long has to leave.";
    const Bytes read = run.hbm_read(run.tick());
    const std::string empty =
        run.trace().launches().size() > 1
            ? "Each launch begins with an empty L2 here: what the one before stored comes from DRAM. "
            : "";
    if (read == 0) return "The L2 is empty. " + empty + size;
    return "L2 answered " + text::percent(1 - static_cast<double>(l2.dram_read()) / static_cast<double>(read)) +
           " of what was read so far. " + empty + size;
}

double l2_rate(const Run& run) {
    const GpuSpec& gpu = run.experiment().gpu;
    return rates_of(gpu).l2 * gpu.clock_mhz * 1e6;
}

double dram_rate(const Run& run) { return run.experiment().gpu.hbm_gbs * 1e9; }

std::vector<std::string> dram_pipe_text(const Run& run) { return {"DRAM " + rate_text(dram_rate(run))}; }

std::vector<std::string> l2_pipe_text(const Run& run) {
    const std::string all = "L2 " + rate_text(l2_rate(run));
    const double each = l2_rate(run) / static_cast<double>(run.experiment().gpu.sms);
    return {all + " · " + rate_text(each) + " for each of " + std::to_string(run.experiment().gpu.sms) + " SMs", all};
}

std::string about_pipes(const Run& run) {
    return "as wide as bandwidths, on one scale\n" + l2_pipe_text(run)[0] + "\n" + dram_pipe_text(run)[0] + " (" +
           run.experiment().gpu.title + ")";
}

std::vector<std::string> l2_titles(const Run& run, const L2Shown& l2) {
    const std::string size = "L2 " + text::binary_bytes(run.experiment().gpu.l2_bytes);
    const bool copies = run.experiment().gpu.l2_partitions.value_or(1) > 1;
    const std::string held = size + " · " + text::bytes(l2.held()) + " held";
    return {held + (copies ? ", copies included" : ""), held, size};
}

std::vector<std::string> l2_answer(const Run& run, const L2Shown& l2) {
    Bytes asked = 0, missed = 0;
    for (const auto& [what, c] : crossings(run, l2))
        if (!what.first) asked += c.bytes, missed += c.missed;
    if (asked == 0) return {"nothing is asked of it", ""};
    const std::string from = text::bytes(missed), of = text::bytes(asked);
    return {"this operation: " + of + " asked for, " + from + " from DRAM", of + ", " + from + " from DRAM", ""};
}

std::string about_l2(const Run& run) {
    const GpuSpec& gpu = run.experiment().gpu;
    return "L2 of " + gpu.title + ": " + text::binary_bytes(gpu.l2_bytes) +
           (gpu.l2_partitions.value_or(1) > 1 ? " in two partitions: half of every tile has its home in the other one "
                                                "and leaves a copy, so that data takes 1.5 "
                                                "times its size, and twice where SMs of both read it"
                                              : "") +
           "\nlit: held now; modelled, for what is shown alone, tick by tick\nEach launch begins with an empty one, as "
           "the DRAM traffic of the whole run is modelled and as profilers count it.";
}

std::string about_held(const Run& run, const L2Shown& l2, TensorId id) {
    const RecordedTensor& t = run.trace().tensors()[id];
    const Bytes element = size_of(t.dtype);
    double held = 0;
    for (std::size_t k = 0; k < t.regions.size(); ++k)
        held += l2.share_held(id, k) * static_cast<double>(t.regions[k].rows.size * t.regions[k].cols.size * element);
    return t.name + ": " + text::bytes(held) + " of " + text::bytes(t.size() * element) + " held, without copies";
}

std::string dram_text(Bytes bytes) { return text::bytes(bytes) + " DRAM traffic, modelled"; }

}  // namespace tilescope::show
