// What `tilescope measured` chooses from: the measurements that ship, each with what the model says of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/machine/mode.hpp"
#include "core/text/table.hpp"
#include "lab/flags/options.hpp"
#include "lab/report/report_json.hpp"

namespace tilescope::device {

struct MeasuredFlags {
    lab::Options options;
    std::vector<std::string> algorithms;
    std::string kernel;          ///< "", "tilescope" or "pytorch"
    std::optional<bool> causal;  ///< absent: both
};

/// One case on one machine. What was not measured, or is not modelled, is absent.
struct MeasuredCase {
    std::string gpu;  ///< the preset of the machine
    std::string device, date;
    bool library = false;        ///< PyTorch's FlashAttention-2, not the kernel here
    lab::Experiment experiment;  ///< its tiles are 0 where the library chose them, until it is modelled
    std::string roles;           ///< other_roles() of a kernel here
    std::optional<double> us, read, write, dram_read;                                    ///< measured
    std::optional<double> modelled_us, counted_read, counted_write, modelled_dram_read;  ///< by add_model()
    double call_us = 0;       ///< time of a library call beyond its kernel; subtracted from `us`
    bool tells_call = false;  ///< whether the cost of a library call is derived from this case

    Problem problem() const;  ///< as users have it, packed or not
    /// Modelled over measured numbers.
    std::optional<double> time_ratio() const, sm_ratio() const, dram_ratio() const;
    /// "tilescope" or "pytorch".
    const char* kernel() const { return library ? "pytorch" : "tilescope"; }
};

using MeasuredCases = std::vector<MeasuredCase>;

/// Whether the case is one of attention, whose heads have a dimension.
bool has_head_dims(const MeasuredCase& c);

/// Every case that ships and was measured, by machine.
MeasuredCases shipped_cases();

/// Whether any flag restricts the cases.
bool asks(const MeasuredFlags& flags);
/// The cases that the flags ask for. Throws UsageError for a wrong value of a flag, and RunError, which lists what
/// there is, where no case matches.
MeasuredCases asked_cases(const MeasuredCases& all, const MeasuredFlags& flags);

/// Models the chosen cases in parallel. Subtracts from the library's times what a call costs beyond its kernel: for
/// each machine the median of measured minus modelled time, over its cases in `all` with tells_call. `control`
/// follows the progress. Throws Interrupted.
void add_model(MeasuredCases& chosen, const MeasuredCases& all, Control* control);

/// A row for each kernel and type on a machine: the model's numbers over the measured ones.
text::Table summary_table(const MeasuredCases& cases);
/// A row for each case, with columns of traffic where any traffic was measured.
text::Table cases_table(const MeasuredCases& cases);
/// The cases of each place, and in a sentence what was measured there.
std::vector<std::pair<std::string, MeasuredCases>> by_place(MeasuredCases cases);

/// The summary and every case, with the columns of docs/outputs.md.
lab::Json to_json(const MeasuredCases& cases);
/// A line with the names of columns, and one for each case.
std::string as_csv(const MeasuredCases& cases);

}  // namespace tilescope::device
