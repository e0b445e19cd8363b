#include "lab/flags/options.hpp"

#include <CLI/CLI.hpp>

#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/flags/table.hpp"
#include "lab/flags/values.hpp"
#include "lab/gpu/asked.hpp"

namespace tilescope::lab {
using text::message;
namespace {

constexpr Index most_threads = 1024;

void add_random_options(CLI::App& app, Options& o) {
    app.add_option_function<std::string>(
           "--seed", [&o](const std::string& v) { o.seed = to_seed("--seed", v); }, message("option.seed"))
        ->type_name("N")
        ->default_str("0");
    app.add_option_function<std::string>(
           "--distribution", [&o](const std::string& v) { o.distribution = name_of(to_distribution(v)); },
           message("option.distribution"))
        ->type_name("KIND")
        ->default_str("normal");
    app.add_flag("--exact-inputs", o.exact_inputs, message("option.exact_inputs"));
}

void add_input_files(CLI::App& app, Options& o) {
    app.add_option("--q", o.q, message("option.q"))->type_name("FILE.npy");
    app.add_option("--k", o.k, message("option.k"))->type_name("FILE.npy");
    app.add_option("--v", o.v, message("option.v"))->type_name("FILE.npy");
    app.add_option("--do", o.d_o, message("option.do"))->type_name("FILE.npy");
    app.add_option("--x", o.x, message("option.x"))->type_name("FILE.npy");
    app.add_option("--bias-file", o.bias_file, message("option.bias_file"))->type_name("FILE.npy");
    app.add_option("--bias2-file", o.bias2_file, message("option.bias2_file"))->type_name("FILE.npy");
    app.add_option_function<std::string>(
           "--bits16", [&o](const std::string& v) { to_bits16(v), o.bits16 = v; }, message("option.bits16"))
        ->type_name("TYPE");
    app.add_option("--layout", o.layout, message("option.layout"))->default_str("bhsd");
}

}  // namespace

void add_problem_options(CLI::App& app, Options& o) {
    // Sweeps use flag.set, too, so that both accept and refuse the same values.
    for (const Flag& flag : flags()) {
        const std::string name = std::string("--") + flag.name;
        const auto set = [&o, &flag](const std::string& v) { flag.set(o, v); };
        if (flag.is_switch())
            app.add_flag_function(
                name, [set](std::int64_t given) { set(given > 0 ? "true" : "false"); }, message(flag.help));
        else
            app.add_option_function<std::string>(name, set, message(flag.help))
                ->type_name(flag.type)
                ->default_str(text::language().words(flag.fallback) ? message(flag.fallback) : flag.fallback);
    }
}

void add_input_options(CLI::App& app, Options& o) {
    add_random_options(app, o);
    add_input_files(app, o);
}

void add_numeric_options(CLI::App& app, Options& o) {
    app.add_option("--mode", o.mode, message("option.mode", std::to_string(patience)))->capture_default_str();
    add_random_options(app, o);
    add_whole_option(app, "--threads", {0, most_threads, 8}, message("option.threads"), [&o](Index n) {
        o.threads = n;
    })->default_str("0");
}

void add_file_options(CLI::App& app, Options& o) {
    add_input_files(app, o);
    app.add_option("--out", o.out, message("option.out"))->type_name("FILE.npy");
}

void add_json_option(CLI::App& app, Options& o) { app.add_flag("--json", o.json, message("option.json")); }

void add_algorithm_argument(CLI::App& app, std::string& name) {
    app.add_option("ALGO", name, message("option.algorithm"));  // required unless --like names a kernel
}

void set_flag(Options& options, const std::string& name, const std::string& value) {
    for (const Flag& flag : flags())
        if (name == flag.name) return flag.set(options, value);
    const std::string typed = text::shown(name + "=" + value), keys = text::join(settable_flags(), ", ");
    if (const std::string meant = instead_of(Asked::flag, name, value); !meant.empty())
        throw UsageError(message("option.key_is_elsewhere", typed, meant, keys));
    if (const auto near = text::nearest(name, settable_flags()))
        throw UsageError(message("option.misspelt_key", typed, *near, keys));
    throw UsageError(message("option.unknown_key", typed, keys));
}

void clear_flag(Options& options, const std::string& name) {
    for (const Flag& flag : flags())
        if (name == flag.name) return flag.clear(options);
}

std::vector<std::string> flags_of(const Options& o) {
    std::vector<std::string> words;
    const auto add = [&](const std::string& flag, const std::string& value) {
        if (!value.empty()) words.insert(words.end(), {"--" + flag, value});
    };
    for (const Flag& flag : flags())
        if (!flag.is_switch()) add(flag.name, flag.get(o));
    for (const Flag& flag : flags())
        if (const std::string value = flag.is_switch() ? flag.get(o) : ""; !value.empty())
            words.push_back(std::string("--") + flag.name + (value == "true" ? "" : "=" + value));
    const Options standard;
    if (o.seed != standard.seed) add("seed", std::to_string(o.seed));
    if (o.distribution != standard.distribution) add("distribution", o.distribution);
    if (o.exact_inputs) words.emplace_back("--exact-inputs");
    add("q", o.q), add("k", o.k), add("v", o.v), add("do", o.d_o), add("x", o.x);
    add("bias-file", o.bias_file), add("bias2-file", o.bias2_file);
    add("bits16", o.bits16), add("layout", o.layout.value_or(""));
    return words;
}

std::vector<std::string> settable_flags() {
    std::vector<std::string> names;
    for (const Flag& flag : flags()) names.emplace_back(flag.name);
    return names;
}

}  // namespace tilescope::lab
