// The flags that the subcommands and the window share.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/machine/units.hpp"

namespace CLI {
class App;
}

namespace tilescope::lab {

/// With --mode auto, a run is numeric if it takes at most so many seconds.
constexpr int patience = 10;

/// Flags as given. A flag that is absent has its default from other flags or from the problem.
struct Options {
    std::string model, phase;  // the model gives values that no other flag gives; empty: no model, prefill
    std::optional<Index> batch, heads, kv_heads, seq, seq_q, seq_k, dim, dim_v;
    std::optional<Index> page_size, shared_prefix;
    std::string page_order = "identity";
    std::optional<std::string> dtype, q_dtype, kv_dtype, scales, accumulator, scores, weights, softmax;
    std::string passes;  // empty: those of the algorithm `standard`
    std::optional<bool> causal, rotate;
    std::string causal_corner = "bottom-right", hidden_rows = "zero";
    std::optional<Index> window_left, window_right;
    std::string documents, block_mask, mask_block;  // empty: no documents, no block mask, blocks of 128 x 128
    std::optional<double> scale;
    std::string bias = "none";  // the axes of the biases, the tensors that are added to the logits
    std::optional<Index> bias_group;
    std::optional<bool> alibi;
    std::optional<Index> p_scale;
    std::optional<double> soft_cap, stale_max, dropout;
    std::optional<std::uint64_t> dropout_seed;
    std::string dropout_mask = "regenerated";
    std::uint64_t seed = 0;
    std::string distribution = "normal";
    bool exact_inputs = false;  // errors are against the values before they were rounded to 16 bits, too

    std::string br = "auto", bc = "auto", splits = "auto", pack = "auto", tiles = "kernel", objective = "time";
    std::map<std::string, std::string> roles;  // knobs that are no sizes, by name
    std::string order = "kernel";
    std::optional<Index> blocks_per_sm;
    std::string gpu = "H100";
    bool l2 = true;
    std::optional<Index> sms, l2_bytes;
    std::optional<double> sram_kib, hbm_bandwidth;

    std::string mode = "auto";
    Index threads = 0;
    bool json = false;

    std::string q, k, v, x, d_o, out, out_lse;  // NumPy files
    std::string bias_file, bias2_file;          // NumPy files of the biases
    std::optional<std::string> layout;          // the order of dimensions in NumPy files
    std::string bits16;                         // what u2 and i2 elements of NumPy files mean

    friend bool operator==(const Options&, const Options&) = default;
};

/// Adds the flags of the workload, the mapping and the machine.
void add_problem_options(CLI::App& app, Options& options);
/// Adds --seed, --distribution, and the flags of NumPy files for inputs: --q, --k, --v, --do, --x, --bias-file,
/// --bias2-file, --bits16 and --layout.
void add_input_options(CLI::App& app, Options& options);
/// Adds --mode, --seed, --distribution and --threads.
void add_numeric_options(CLI::App& app, Options& options);
/// Adds the flags of NumPy files that add_input_options() adds, and --out.
void add_file_options(CLI::App& app, Options& options);
/// Adds --json.
void add_json_option(CLI::App& app, Options& options);
/// Adds the ALGO argument.
void add_algorithm_argument(CLI::App& app, std::string& name);

/// Sets the flag `name` (without dashes), as if it had been given. UsageError for a name not in settable_flags().
void set_flag(Options& options, const std::string& name, const std::string& value);
/// Undoes set_flag(): afterwards the flag is as if it had not been given.
void clear_flag(Options& options, const std::string& name);
/// The flags, with their values, that turn default options into these.
std::vector<std::string> flags_of(const Options& options);
/// The names that set_flag accepts.
std::vector<std::string> settable_flags();

}  // namespace tilescope::lab
