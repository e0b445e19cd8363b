// `--with forward`: a backward pass is told together with its forward pass.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "algorithms/contract/algorithm.hpp"

namespace tilescope::cli {

void add_with_option(CLI::App& app, std::string& with);
/// Whether it is asked for. UsageError where the algorithm is no backward pass.
bool asks_for_forward(const std::string& with, const Algorithm& algorithm);

}  // namespace tilescope::cli
