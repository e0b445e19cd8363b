// `--with forward`: a backward pass is shown together with its forward pass.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "algorithms/contract/algorithm.hpp"

namespace tilescope::cli {

void add_with_option(CLI::App& app, std::string& with);
/// Whether --with asks for it. UsageError where the algorithm is no backward pass.
bool asks_for_forward(const std::string& with, const Algorithm& algorithm);

}  // namespace tilescope::cli
