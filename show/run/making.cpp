#include "show/run/making.hpp"

#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/flags/algorithm_named.hpp"
#include "lab/flags/small_run.hpp"
#include "show/run/make_run.hpp"

namespace tilescope::show {
using namespace lab;
using text::message;
namespace {

/// The meanings of the program's tiles by name, from a run on an SM that has room for all of them.
std::map<std::string, Meaning> meanings_of_tiles(const Experiment& e) {
    struct Meanings : Listener {
        std::map<std::string, Meaning> by_name;
        void on(const Event& event, TileData) override {
            if (event.tile && event.meaning != Meaning::other) by_name[event.tile->name] = event.meaning;
        }
    } found;
    Gpu gpu(with_room(e.gpu), count_mode, 1);
    gpu.listen(found);
    run_program(gpu, *e.algorithm, e.problem, e.tiling, {});
    return found.by_name;
}

/// How many heads of queries can be recorded. Packed heads count one by one.
Index query_heads(const Counted& counted, const RecordingLimits& limits) {
    return heads_to_record(counted, limits) * counted.experiment().problem.packed;
}

}  // namespace

const char* name_of(Pace p) {
    constexpr const char* names[] = {"step", "bytes", "time"};
    return names[static_cast<int>(p)];
}

std::optional<Pace> pace_from(std::string_view name) {
    for (const Pace p : {Pace::step, Pace::bytes, Pace::time})
        if (name == name_of(p)) return p;
    return std::nullopt;
}

Making::Making(Setup setup, const RecordingLimits& limits) : setup_(std::move(setup)), limits_(limits) {}

Index Making::work(Control& control) {
    try {
        if (!setup_.recording.empty()) {
            open_recording();
            return 0;
        }
        if (!made_.request) {
            count_all(control);
            return 2 * static_cast<Index>(counted_.size());
        }
        return record(control);
    } catch (const OutOfChipMemory&) {
        // counted() has put it into made_.overflow.
    } catch (const Interrupted&) {
        throw;
    } catch (const std::runtime_error& e) {
        made_.problem = e.what();
    }
    made_.run.reset();
    made_.rival.reset();
    return 0;
}

/// Chooses the tiles and counts the run.
Counted Making::counted(const Algorithm& algorithm, Control& control) {
    const Request& r = *made_.request;
    const Experiment e = experiment_of(algorithm, r, &control);
    const Tiling tiling = e.tiling;
    if (!made_.tiling) made_.tiling = tiling;
    try {
        Counted counted = count_for_show(e, &control);
        made_.spill = spill_of(e, Setup().algorithm);
        check_hbm(e);
        return counted;
    } catch (const OutOfChipMemory& error) {
        made_.overflow = Overflow{algorithm.name,
                                  error,
                                  tiling,
                                  nearest_fit(algorithm, e.problem, tiling, r.gpu),
                                  explain(error, algorithm, e.problem, tiling, r.gpu, r.wish.tiling),
                                  meanings_of_tiles(e),
                                  r.wish.tiling};
        throw;
    }
}

void Making::count_all(Control& control) {
    const Algorithm& first = algorithm_named(setup_.algorithm);
    made_.request = resolve(setup_.options, first);
    counted_.push_back(counted(first, control));
    heads_ = query_heads(counted_[0], limits_);
    if (setup_.rival.empty()) return;
    const Algorithm& second = algorithm_named(setup_.rival);
    if (second.computes != first.computes)
        throw UsageError(message("making.computes_other", text::shown(setup_.rival), setup_.algorithm));
    counted_.push_back(counted(second, control));
    // Both record the same heads: as many as the limits allow to the larger of the two runs, and at least a pack.
    const Index packs = std::max(counted_[0].experiment().problem.packed, counted_[1].experiment().problem.packed);
    heads_ = std::max(packs, std::min(heads_, query_heads(counted_[1], limits_)));
}

/// Works on the next unit of the recordings: first of the run's, then of its rival's.
Index Making::record(Control& control) {
    std::unique_ptr<Run>& run = made_.run ? made_.rival : made_.run;
    Counted& counted = counted_[made_.run ? 1 : 0];
    const auto others = static_cast<Index>(counted_.size()) - (made_.run ? 2 : 1);
    if (!recording_) {
        const Algorithm& algorithm = *counted.experiment().algorithm;
        recording_ = std::make_unique<Recorder>(counted, heads_ / counted.experiment().problem.packed,
                                                inputs_for_part(setup_.options, *made_.request, algorithm), limits_);
    }
    if (recording_->left() > 0) {
        recording_->work(&control);
        return (1 + others) * (recording_->left() + 1);
    }
    run = std::make_unique<Run>(std::move(counted), std::move(*recording_));
    recording_.reset();
    if (!setup_.rival.empty() && !run->has_whole_heads())
        throw UsageError(message("making.no_whole_head", text::shown(setup_.rival), run->algorithm().name));
    return others;
}

}  // namespace tilescope::show
