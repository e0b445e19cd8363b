// `tilescope`: the command line.
#include "cli/commands.hpp"
#include "cli/said.hpp"
#include "lab/flags/build_info.hpp"
#include "lab/flags/load.hpp"
#include "lab/flags/program.hpp"

namespace tilescope::cli {
namespace {

void add_everything(CLI::App& app) {
    app.require_subcommand(1);
    app.set_version_flag("--version", lab::version_line("tilescope"));
    app.get_formatter()->column_width(36);
    add_list(app);
    add_run(app);
    add_compare(app);
    add_explain(app);
    add_sweep(app);
    add_advise(app);
    add_plot(app);
    add_timeline(app);
    add_step(app);
    add_trace(app);
    add_replay(app);
    add_gpus(app);
    add_models(app);
    add_validate(app);
    add_calibrate(app);
    add_measured(app);
    add_reconcile(app);
    add_doctor(app);
    for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; })) lab::add_load_option(*sub);
    app.footer(examples({"main.example_compare", "main.example_explain", "main.example_run", "main.example_sweep",
                         "main.example_own"}) +
               '\n' + lab::exit_codes());
}

}  // namespace
}  // namespace tilescope::cli

int main(int argc, char** argv) {
    return tilescope::lab::carry_out("tilescope", "main.purpose", tilescope::cli::add_everything, argc, argv);
}
