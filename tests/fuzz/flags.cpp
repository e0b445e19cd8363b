// Command lines, one word per line: what is accepted can be written as flags again, with the same meaning.
#include <CLI/CLI.hpp>
#include <sstream>
#include <utility>

#include "lab/flags/parse.hpp"
#include "lab/flags/request.hpp"
#include "lab/flags/supported.hpp"
#include "show/state/state.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace tilescope;
using namespace tilescope::show;

namespace {

/// Parses words as the window does.
bool parse(std::vector<std::string> words, State& state) {
    CLI::App app;
    add_state_options(app, state);
    try {
        return fuzz::accepted([&] { lab::parse(app, std::move(words)); });
    } catch (const CLI::Success&) {  // --help
        return false;
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::istringstream lines{std::string(fuzz::text_of(data, size))};
    std::vector<std::string> words;
    for (std::string word; std::getline(lines, word);) words.push_back(word);
    State state, again;
    if (!parse(words, state)) return 0;
    const std::vector<std::string> line = command_line(state);
    fuzz::require(parse(line, again) && command_line(again) == line, "flags say the same again");
    const Algorithm* algorithm = find_algorithm(state.setup.algorithm);
    const lab::Options& o = state.setup.options;
    if (algorithm && (o.q + o.k + o.v + o.x).empty())
        fuzz::accepted([&] { check_supported(*algorithm, resolve(o, *algorithm).problem, o); });
    return 0;
}
