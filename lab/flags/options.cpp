#include "lab/flags/options.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <functional>
#include <limits>
#include <sstream>

#include "algorithms/contract/problem.hpp"
#include "core/text/words.hpp"
#include "lab/flags/in_flags.hpp"

namespace tilescope::lab {
namespace {

double to_number(const std::string& flag, const std::string& text) {
    try {
        std::size_t used = 0;
        const double value = std::stod(text, &used);
        if (used == text.size()) return value;
    } catch (const std::exception&) {
    }
    throw UsageError(flag + ' ' + text + ": must be a number; try " + flag + " 1.5");
}

bool to_bool(const std::string& flag, const std::string& text) {
    if (text == "true" || text == "1" || text == "yes") return true;
    if (text == "false" || text == "0" || text == "no") return false;
    throw UsageError(flag + ' ' + text + ": must be true or false; try " + flag + "=true");
}

struct Setter {
    const char* name;
    std::function<void(Options&, const std::string&)> set;
    std::function<void(Options&)> clear;
    std::function<std::string(const Options&)> get;  // empty where the flag says nothing new
};

std::string text_of(Index n) { return std::to_string(n); }
std::string text_of(const std::string& s) { return s; }
std::string text_of(bool b) { return b ? "true" : "false"; }
std::string text_of(double x) {
    std::ostringstream out;
    out.precision(std::numeric_limits<double>::max_digits10);
    out << x;
    return out.str();
}
template <class T>
std::string text_of(const std::optional<T>& value) {
    return value ? text_of(*value) : "";
}

/// A setter whose flag is taken back by giving its member its default.
template <class T>
Setter setter(const char* name, T Options::*member, std::function<T(const std::string&)> read) {
    return {name, [=](Options& o, const std::string& v) { o.*member = read(v); },
            [=](Options& o) { o.*member = Options().*member; },
            [=](const Options& o) { return o.*member == Options().*member ? std::string() : text_of(o.*member); }};
}

const std::vector<Setter>& setters() {
    const auto index = [](const char* name, std::optional<Index> Options::*member) {
        return setter<std::optional<Index>>(name, member, [name](const std::string& v) {
            const Index value = to_index(std::string("--") + name, v);
            in_flags([&] { check_size(name, value); });
            return value;
        });
    };
    const auto number = [](const char* name, std::optional<double> Options::*member) {
        return setter<std::optional<double>>(
            name, member, [flag = std::string("--") + name](const std::string& v) { return to_number(flag, v); });
    };
    const auto words = []<class T>(const char* name, T Options::*member) {
        return setter<T>(name, member, [](const std::string& v) { return T(v); });
    };
    static const std::vector<Setter> all = {
        index("batch", &Options::batch),
        index("heads", &Options::heads),
        index("kv-heads", &Options::kv_heads),
        index("seq", &Options::seq),
        index("seq-q", &Options::seq_q),
        index("seq-k", &Options::seq_k),
        index("dim", &Options::dim),
        index("dim-v", &Options::dim_v),
        index("sms", &Options::sms),
        number("scale", &Options::scale),
        number("sram", &Options::sram_kib),
        number("hbm-bandwidth", &Options::hbm_bandwidth),
        words("dtype", &Options::dtype),
        words("softmax", &Options::softmax),
        setter<bool>("causal", &Options::causal, [](const std::string& v) { return to_bool("--causal", v); }),
        words("br", &Options::br),
        words("bc", &Options::bc),
        words("gpu", &Options::gpu),
    };
    return all;
}

/// Parses a flag's text with `set_flag`, so that sweeps and flags accept and refuse the same.
void add_flag_option(CLI::App& app, Options& options, const char* name, const char* help, const char* type,
                     const char* fallback) {
    app.add_option_function<std::string>(
           std::string("--") + name, [&options, name](const std::string& v) { set_flag(options, name, v); }, help)
        ->type_name(type)
        ->default_str(fallback);
}

void add_random_options(CLI::App& app, Options& o) {
    app.add_option("--seed", o.seed, "Seed of the random inputs")->capture_default_str();
    app.add_option("--distribution", o.distribution, "Of the random inputs: normal, uniform or outliers")
        ->capture_default_str();
}

void add_input_files(CLI::App& app, Options& o) {
    app.add_option("--q", o.q, "Q from a NumPy file: [n,d], [heads,n,d] or [batch,heads,n,d]")->type_name("FILE.npy");
    app.add_option("--k", o.k, "K from a NumPy file")->type_name("FILE.npy");
    app.add_option("--v", o.v, "V from a NumPy file")->type_name("FILE.npy");
    app.add_option("--x", o.x, "X from a NumPy file (softmax kernels)")->type_name("FILE.npy");
}

}  // namespace

Index to_index(const std::string& flag, const std::string& text) {
    Index value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range)
        throw UsageError(flag + ' ' + text.substr(0, 40) + ": is too large; try " + flag + " 65536");
    if (error != std::errc() || end != text.data() + text.size())
        throw UsageError(flag + ' ' + text + ": must be a whole number; try " + flag + " 64");
    return value;
}

void add_problem_options(CLI::App& app, Options& o) {
    const auto add = [&](const char* name, const char* help, const char* type, const char* fallback) {
        add_flag_option(app, o, name, help, type, fallback);
    };
    add("batch", "Batch size", "N", "1");
    add("heads", "Query heads", "N", "8");
    add("kv-heads", "Heads of K and V (grouped-query attention)", "N", "--heads");
    add("seq", "Sequence length of queries and keys", "N", "1024");
    add("seq-q", "Queries (rows, for the softmax kernels)", "N", "--seq");
    add("seq-k", "Keys (columns, for the softmax kernels)", "N", "--seq");
    add("dim", "Head dimension of Q and K", "N", "64");
    add("dim-v", "Head dimension of V and O", "N", "--dim");
    add("dtype", "Storage type: f32, f16 or bf16", "TYPE", "f16");
    app.add_flag("--causal", o.causal, "Query r sees keys <= r + seq_k - seq_q");
    add("scale", "Factor on the logits", "X", "1/sqrt(dim)");
    add("softmax", "Softmax of `standard`: naive or safe", "KIND", "safe");
    add("br", "Tile rows, or auto", "N", "auto");
    add("bc", "Tile columns (keys), or auto", "N", "auto");
    add("gpu", "A preset's name or a JSON file", "NAME|FILE.json", "A100-40GB");
    add("sms", "Streaming multiprocessors", "N", "of --gpu");
    add("sram", "SRAM per SM in KiB", "KIB", "of --gpu");
    add("hbm-bandwidth", "HBM bandwidth in GB/s", "GB/S", "of --gpu");
}

void add_input_options(CLI::App& app, Options& o) {
    add_random_options(app, o);
    add_input_files(app, o);
}

void add_numeric_options(CLI::App& app, Options& o) {
    app.add_option("--mode", o.mode, "numeric (real numbers), count (no data) or auto: numeric when it takes seconds")
        ->capture_default_str();
    add_random_options(app, o);
    app.add_option("--threads", o.threads,
                   "Host threads of a numeric run; 0 for all cores. Results do not depend on it")
        ->capture_default_str();
}

void add_file_options(CLI::App& app, Options& o) {
    add_input_files(app, o);
    app.add_option("--out", o.out, "Write the output to a NumPy file")->type_name("FILE.npy");
}

void add_json_option(CLI::App& app, Options& o) { app.add_flag("--json", o.json, "Print JSON instead of text"); }

void add_algorithm_argument(CLI::App& app, std::string& name) {
    app.add_option("ALGO", name, "Algorithm (see `tilescope list`)")->required();
}

void set_flag(Options& options, const std::string& name, const std::string& value) {
    for (const Setter& s : setters())
        if (name == s.name) return s.set(options, value);
    throw UsageError("--vary " + name + "=" + value + ": no such key; keys are " + text::join(settable_flags(), ", "));
}

void clear_flag(Options& options, const std::string& name) {
    for (const Setter& s : setters())
        if (name == s.name) return s.clear(options);
}

std::vector<std::string> flags_of(const Options& o) {
    std::vector<std::string> words;
    const auto add = [&](const std::string& flag, const std::string& value) {
        if (!value.empty()) words.insert(words.end(), {"--" + flag, value});
    };
    for (const Setter& s : setters())
        if (std::string_view(s.name) != "causal") add(s.name, s.get(o));
    if (o.causal) words.push_back("--causal");
    const Options standard;
    if (o.seed != standard.seed) add("seed", std::to_string(o.seed));
    if (o.distribution != standard.distribution) add("distribution", o.distribution);
    add("q", o.q), add("k", o.k), add("v", o.v), add("x", o.x);
    return words;
}

std::vector<std::string> settable_flags() {
    std::vector<std::string> names;
    for (const Setter& s : setters()) names.push_back(s.name);
    return names;
}

}  // namespace tilescope::lab
