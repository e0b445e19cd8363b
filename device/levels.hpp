// Hardware counters of a kernel beside the model's numbers of the same shape and tiles, level by level.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/text/message.hpp"
#include "core/text/table.hpp"
#include "core/text/words.hpp"
#include "device/causes.hpp"
#include "device/ncu.hpp"
#include "device/time_causes.hpp"
#include "lab/report/report_json.hpp"
#include "lab/system/text_file.hpp"

namespace tilescope::device {

/// What is compared.
enum class Compared : std::uint8_t {
    sm_read,
    sm_written,
    sm_reduced,
    dram_read,
    dram_written,
    dram_both,
    exponentials,
    matrix_flops,
    time
};
/// Its name in JSON: "SM traffic, read".
const char* name_of(Compared what);
/// The unit of its numbers, as in JSON: bytes, operations or microseconds.
const char* unit_of(Compared what);

/// What one counter and the model say.
struct Level {
    Compared what;
    const char* metric;  ///< Nsight Compute's
    double factor;       ///< measured = factor x metric of a run
    bool counted;        ///< the model counts this number; else it models it
    double model, measured;
    std::vector<Cause> causes;           ///< of the difference, where formulas are known
    std::vector<TimeCause> time_causes;  ///< of the difference in time, where counters tell

    double beyond() const { return measured - model; }
    /// The part of the difference that no cause explains.
    double left() const;
    /// In percent of the model's number; nullopt where that is 0.
    std::optional<double> percent(double amount) const;
};

/// A level of the model that has no counter in the file.
struct Missing {
    Compared what;
    const char* metric;
    std::string why;  ///< "not in the file", "n/a in the file", "of 1 of 3 launches alone"
};
struct Levels {
    std::vector<Level> there;
    std::vector<Missing> missing;
    std::vector<std::string> notes;  ///< reasons to doubt that the file is of this run, and what else it holds
};

/// What can be compared of this run, and what cannot. Throws UsageError where nothing can.
Levels levels_of(const lab::Report& report, std::span<const NcuLaunch> launches, Index runs);

lab::Json to_json(const Level& level);

/// The launches of kernels with `only` in their name that Nsight Compute wrote to a file. Throws UsageError where there
/// are none; its text follows the file's name: see of_file().
std::vector<NcuLaunch> read_launches(const std::string& path, const std::string& only);
/// The name of each kernel once, in the order of the launches.
std::vector<std::string> kernels_of(const std::vector<NcuLaunch>& launches);

/// A file of counters beside a run: what `tilescope reconcile` says of it.
struct Reconciled {
    lab::Report report;
    std::vector<NcuLaunch> launches;
    Levels levels;
    std::string file, only;  ///< as they were given
    Index runs;              ///< how many runs the launches are of
};

/// "flash.csv: 2 launches of ...", and what is odd about their number.
std::string about_launches(const Reconciled& r);
/// A row for each level; below it the causes that add something, and what they leave unexplained.
text::Table levels_table(const std::vector<Level>& levels);
/// What stands below the table, a paragraph each; empty ones where there is nothing to say.
std::vector<std::string> remarks_on(const Reconciled& r);

lab::Json to_json(const Reconciled& r);

/// Calls f(); its errors about the file begin with the name of the file.
template <class F>
auto of_file(const std::string& path, F&& f) {
    try {
        return f();
    } catch (const lab::Unreadable& e) {
        throw UsageError(text::message("levels.unreadable", text::shown(path), e.why));
    } catch (const UsageError& e) {
        throw UsageError(text::message("levels.of_file", text::shown(path), e.what()));
    }
}

}  // namespace tilescope::device
