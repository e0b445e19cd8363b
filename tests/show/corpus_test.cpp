// States, scenes and links that former versions wrote (tests/corpus/make.py): all open, and count the same as then.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/machine/counters.hpp"
#include "show/state/link.hpp"
#include "show/state/scenes.hpp"
#include "tests/support/sessions.hpp"

using namespace tilescope;
using namespace tilescope::show;

namespace {

const std::filesystem::path corpora = TILESCOPE_CORPORA;

/// The counters of a state's first run; empty where nothing fits.
nlohmann::json counted(const State& state) {
    WaitingSession session;
    session.ask(state.setup);
    nlohmann::json out;
    if (const Run* run = session.run())
        for (const auto& [name, member] : Counters::fields) out[std::string(name)] = run->counted().counters.*member;
    return out;
}

}  // namespace

TEST_CASE("states, scenes and links of former versions open, and count what they did", "[corpus]") {
    int seen = 0;
    for (const auto& folder : std::filesystem::directory_iterator(corpora)) {
        std::ifstream file(folder.path() / "expected.json");
        if (!file) continue;
        const nlohmann::json expected = nlohmann::json::parse(file);
        for (const auto& [name, then] : expected["opened"].items()) {
            if (name.rfind("gpus/", 0) == 0) continue;
            INFO(folder.path().filename() << '/' << name);
            const std::string path = (folder.path() / name).string();
            const State state = name.rfind("scenes/", 0) == 0 ? scene_named(path).state : read_state(path);
            const nlohmann::json now = counted(state);
            CHECK(now.empty() == then.contains("refused"));
            for (const auto& [counter, value] : now.items())
                CHECK(std::pair(counter, value) ==
                      std::pair(counter, then["counters"].value(counter, nlohmann::json(0))));
            ++seen;
        }
        for (const auto& link : expected["links"]) {
            INFO(folder.path().filename() << ", link " << link);
            CHECK(changed({}, words_of_fragment(link[1])) ==
                  read_state((folder.path() / "states" / (link[0].get<std::string>() + ".json")).string()));
        }
    }
    CHECK(seen > 0);
}
