// `tilescope validate [ALGO...]`: the CUDA kernels against their simulated programs and the double-precision reference.
#include <fstream>
#include <iostream>
#include <iterator>

#include "algorithms/contract/packed.hpp"
#include "cli/commands.hpp"
#include "cli/now.hpp"
#include "cli/output_files.hpp"
#include "cli/progress.hpp"
#include "cli/said.hpp"
#include "core/text/message.hpp"
#include "core/text/page.hpp"
#include "core/text/version.hpp"
#include "core/text/words.hpp"
#include "device/case_tables.hpp"
#include "device/ncu_run.hpp"
#include "device/shipped_rows.hpp"
#include "lab/flags/describe.hpp"
#include "lab/flags/ending.hpp"
#include "lab/flags/model.hpp"
#include "lab/flags/table.hpp"
#include "lab/flags/values.hpp"
#include "lab/system/atomic_file.hpp"

namespace tilescope::cli {
using namespace lab;
using namespace device;
using text::message;
namespace {

/// The words after the program's name, as they were typed.
std::vector<std::string> own_arguments() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> words;
    for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
    if (!words.empty()) words.erase(words.begin());
    return words;
}

Provenance provenance_of(const Device& device) {
    return {{"date", utc_now()},
            {"device", device.name},
            {"driver", device.driver},
            {"CUDA runtime", device.runtime},
            {"tilescope", text::version()},
            {"command", "tilescope " + shell_line(own_arguments())}};
}

ValidationSettings settings_of(const ValidateFlags& flags, const ValidateRequest& request) {
    ValidationSettings s;
    s.gpu = request.gpu;
    s.seed = flags.options.seed;
    s.distribution = request.distribution;
    s.inputs = request.inputs;
    s.repeats = flags.repeats;
    s.threads = static_cast<int>(flags.options.threads);
    s.control = &control();
    return s;
}

/// Runs one case. The message of an error names the case.
CaseResult run_case(Validator& validator, const KernelCase& c, const GpuSpec& gpu, std::size_t k, std::size_t n) {
    check_stop(&control());
    const Progress progress([&] {
        return message("progress.of", std::to_string(k + 1), std::to_string(n),
                       command_of(c).substr(sizeof "tilescope"));
    });
    try {
        return validator.run(c);
    } catch (const OutOfChipMemory& e) {
        throw DoesNotFit(explain(e, *c.algorithm, c.problem, c.tile(), gpu));
    } catch (const RunError& e) {
        throw RunError(message("validate.failed_in", e.what(), command_of(c)));
    }
}

/// Runs the cases of `results` again under ncu, and adds the counters.
void measure(std::vector<CaseResult>& results) {
    std::vector<std::string> arguments = own_arguments();
    arguments.emplace_back("--launch-only");
    std::atomic<Index> launches{0};
    const Progress progress([&] { return message("validate.ncu_launch", std::to_string(launches)); });
    add_counters(results, run_ncu(arguments, &control(), &launches));
}

/// Prints the measurements that ship: the rows that flags choose, or that there are none; without such flags a summary.
void print_shipped(const std::vector<MeasurementFile>& files, const ValidateFlags& flags) {
    if (files.empty() && asks(flags) && !shipped_measurements().empty())
        return text::print_wrapped(std::cout, '\n' + about_none(flags));
    if (files.empty()) {
        std::cout << '\n' << message("validate.none_ship") << '\n';
        return;
    }
    for (const auto& [place, rows] : by_place(files)) {
        text::print_wrapped(std::cout, '\n' + message("validate.shipped", place));
        (asks(flags) ? rows_table(rows, flags.counters) : summary_table(rows)).print(std::cout, "  ");
    }
    std::cout << '\n' << message("validate.differences") << '\n';
    if (asks(flags) && !flags.counters) std::cout << message("validate.counters_show") << '\n';
}

/// Where no kernel can run: prints what is missing, and what was measured elsewhere.
void print_missing(const ValidateFlags& flags, const DeviceSearch& search) {
    auto files = shipped_measurements();
    std::ranges::move(shipped_backward(), std::back_inserter(files));
    keep_asked(files, flags);
    if (flags.options.json) {
        std::cout << to_json(search, files).dump(2) << '\n';
        return;
    }
    text::print_wrapped(std::cout,
                        text::sentences({message("validate.nothing"), search.missing, text::as_sentence(search.fix)}));
    print_shipped(files, flags);
}

/// Prints errors and times of cases of the same problem.
void print_values(std::span<const CaseResult> group) {
    const CaseResult& first = group.front();
    std::cout << '\n' << describe(first.tested.problem, *first.tested.algorithm->computes) << '\n';
    std::cout << "  " << message("validate.errors") << '\n';
    errors_table(group).print(std::cout, "  ");
    if (std::ranges::any_of(group, [](const CaseResult& r) { return r.times.has_value(); })) {
        std::cout << "  " << message("validate.times") << '\n';
        times_table(group).print(std::cout, "  ");
    }
    for (const CaseResult& r : group) {
        if (r.note.empty()) continue;
        const char* id = r.status == Status::wrong ? "validate.note_of_wrong" : "validate.note";
        std::cout << "  "
                  << message(id, r.tested.algorithm->name, tiles_of(r.tested), name_of(r.status), r.note,
                             command_of(r.tested))
                  << '\n';
    }
}

/// Prints the simulated and the measured traffic and arithmetic of one case.
void print_counters(const CaseResult& r) {
    if (!r.measured) return;
    const KernelCase& k = r.tested;
    std::cout << '\n'
              << message("validate.case", k.algorithm->name, tiles_of(k), describe(k.problem, *k.algorithm->computes))
              << '\n';
    counters_table(r).print(std::cout, "    ");
    std::cout << on_chip_text(r);
}

/// Runs all cases. With `print`, prints their errors and times, a problem at a time.
std::vector<CaseResult> run_all(Validator& validator, const ValidateRequest& request, bool print) {
    const auto& cases = request.cases;
    std::vector<CaseResult> results;
    std::size_t printed = 0;
    for (std::size_t k = 0; k < cases.size(); ++k) {
        results.push_back(run_case(validator, cases[k], request.gpu, k, cases.size()));
        if (!print || (k + 1 < cases.size() && same_problem(cases[k + 1], cases[k]))) continue;
        print_values(std::span(results).subspan(printed));
        std::cout.flush();
        printed = results.size();
    }
    return results;
}

void conclude(const std::vector<CaseResult>& results, bool print) {
    const auto with = [&](Status s) { return std::ranges::count(results, s, &CaseResult::status); };
    if (print)
        std::cout << '\n'
                  << message("validate.cases", results.size(), with(Status::ok), with(Status::wrong),
                             with(Status::out_of_memory))
                  << '\n';
    if (with(Status::wrong) > 0) throw RunError(message("validate.wrong", with(Status::wrong), results.size()));
}

void write_csv(AtomicFile& file, const Device& device, const std::vector<CaseResult>& results) {
    write_measurements(file.stream(), provenance_of(device), results);
    file.commit();
}

void print_opening(const Device& device, const ValidateRequest& request) {
    std::cout << device_text(device) << '\n';
    for (const std::string& name : request.left_out) std::cout << message("validate.no_kernel", name) << '\n';
}

/// Adds what --counters measures to the results; returns why this failed, or "".
std::string try_to_measure(std::vector<CaseResult>& results) try {
    measure(results);
    return "";
} catch (const RunError& e) {
    return e.what();
}

void validate_on(const Device& device, const ValidateFlags& flags, const ValidateRequest& request) {
    if (flags.counters) require_ncu();
    const bool print = !flags.options.json;
    if (print) print_opening(device, request);
    std::optional<AtomicFile> csv;  // opened before the work: if it cannot be written, this fails at once
    if (!flags.csv.empty()) csv.emplace(flags.csv);
    const KernelCase& first = request.cases[0];
    OutputFiles outputs(flags.options, *first.algorithm->computes, unpacked(first.problem));
    Validator validator(settings_of(flags, request));
    std::vector<CaseResult> results = run_all(validator, request, print);
    if (!validator.outputs().empty()) outputs.write(validator.outputs(), request.file_rank);
    const std::string no_counters = flags.counters ? try_to_measure(results) : "";
    if (csv) write_csv(*csv, device, results);
    if (print)
        for (const CaseResult& r : results) print_counters(r);
    else
        std::cout << to_json(device, results).dump(2) << '\n';
    conclude(results, print);
    if (!no_counters.empty()) throw RunError(no_counters);
}

void launch_only(const ValidateFlags& flags, const ValidateRequest& request) {
    Validator validator(settings_of(flags, request));
    for (const KernelCase& c : request.cases) validator.launch(c);
}

void validate(const ValidateFlags& flags) {
    check_ending("--out", flags.options.out, {".npy"});
    check_ending("--csv", flags.csv, {".csv"});
    const DeviceSearch search = find_device();
    const ValidateRequest request = [&] {
        const Progress progress = Progress::blocks(message("progress.reading_inputs"));
        return resolve(flags, search.device, &control());
    }();
    remark(request.remark);
    for (const std::string& note : request.notes) remark(note);
    if (flags.launch_only && search.device)
        launch_only(flags, request);
    else if (flags.launch_only)
        throw RunError(message("validate.cannot_launch", search.missing));
    else if (search.device)
        validate_on(*search.device, flags, request);
    else
        print_missing(flags, search);
}

/// UsageError for flags of problems and tiles beside --survey, which has its own.
void refuse_beside_survey(const CLI::App& sub) {
    std::vector<std::string> own = {"--all-tiles", "--q",          "--k",      "--v",      "--do", "--x",
                                    "--bias-file", "--bias2-file", "--layout", "--bits16", "--out"};
    for (const Flag& flag : lab::flags())
        if (flag.of != FlagOf::machine) own.push_back(std::string("--") + flag.name);
    for (const std::string& flag : own)
        if (sub.get_option(flag)->count() > 0) throw UsageError(message("validate.survey_has_own", flag));
}

}  // namespace

void add_validate(CLI::App& app) {
    static ValidateFlags flags;
    flags.options.gpu = "H200";
    CLI::App* sub = app.add_subcommand("validate", message("validate.command"));
    sub->add_option("ALGO", flags.algorithms, message("validate.algorithms"));
    add_problem_options(*sub, flags.options);
    sub->get_option("--dtype")->default_str("f32");
    sub->get_option("--gpu")->default_str("H200")->description(message("validate.gpu_flag"));
    add_numeric_options(*sub, flags.options);
    sub->remove_option(sub->get_option("--mode"));
    add_file_options(*sub, flags.options);
    sub->add_flag("--all-tiles", flags.all_tiles, message("validate.all_tiles_flag"));
    sub->add_option("--survey", flags.survey, message("validate.survey_flag"))->type_name("KIND");
    sub->add_option("--part", flags.part, message("validate.part_flag"))->type_name("K/N");
    add_whole_option(*sub, "--repeat", {1, 10000, 20}, message("validate.repeat_flag").c_str(), [](Index n) {
        flags.repeats = n;
    })->default_str(std::to_string(flags.repeats));
    sub->add_flag("--counters", flags.counters, message("validate.counters_flag"));
    sub->add_option("--csv", flags.csv, message("validate.csv_flag"))->type_name("FILE");
    add_json_option(*sub, flags.options);
    sub->add_flag("--launch-only", flags.launch_only)->group("");  // what --counters profiles
    sub->footer(examples({"validate.example", "validate.example_counters", "validate.example_tiles",
                          "validate.example_survey", "validate.example_files"}) +
                '\n' + paragraph(message("validate.footer")));
    sub->callback([sub] {
        if (!flags.survey.empty()) refuse_beside_survey(*sub);
        for (std::string& name : flags.algorithms) name = chosen_algorithm(name).name;
        check_model(flags.options);
        flags.options = with_model(flags.options);  // kernels and shipped cases are looked up by their sizes
        validate(flags);
    });
}

}  // namespace tilescope::cli
