// The flags that the subcommands and the window share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/machine/units.hpp"

namespace CLI {
class App;
}

namespace tilescope::lab {

/// Flags as given; what is absent takes its default from other flags or from the problem's own defaults.
struct Options {
    std::optional<Index> batch, heads, kv_heads, seq, seq_q, seq_k, dim, dim_v;
    std::optional<std::string> dtype, softmax;
    bool causal = false;
    std::optional<double> scale;
    std::uint64_t seed = 0;
    std::string distribution = "normal";

    std::string br = "auto", bc = "auto";
    std::string gpu = "A100-40GB";
    std::optional<Index> sms;
    std::optional<double> sram_kib, hbm_bandwidth;

    std::string mode = "auto";
    Index threads = 0;
    bool json = false;

    std::string q, k, v, x, out;  // NumPy files

    friend bool operator==(const Options&, const Options&) = default;
};

/// Adds the flags of the workload, the mapping and the machine.
void add_problem_options(CLI::App& app, Options& options);
/// Adds --seed, --distribution, and NumPy files for inputs: --q, --k, --v and --x.
void add_input_options(CLI::App& app, Options& options);
/// Adds --mode, --seed, --distribution and --threads.
void add_numeric_options(CLI::App& app, Options& options);
/// Adds --q, --k, --v, --x and --out.
void add_file_options(CLI::App& app, Options& options);
/// Adds --json.
void add_json_option(CLI::App& app, Options& options);
/// Adds the ALGO argument.
void add_algorithm_argument(CLI::App& app, std::string& name);

/// Sets the flag of that name (without dashes), as if it had been given. UsageError for names that cannot be varied.
void set_flag(Options& options, const std::string& name, const std::string& value);
/// Takes back what set_flag set: the flag as if it had not been given.
void clear_flag(Options& options, const std::string& name);
/// The flags, with their values, that make such options of standard ones.
std::vector<std::string> flags_of(const Options& options);
/// The names that set_flag accepts.
std::vector<std::string> settable_flags();
/// `text` as a number, or UsageError naming the flag.
Index to_index(const std::string& flag, const std::string& text);

}  // namespace tilescope::lab
