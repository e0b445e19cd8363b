// What the window can show, one situation of each kind.
#pragma once

#include <string>
#include <vector>

#include "tests/support/setups.hpp"

namespace tilescope::gui {

struct Situation {
    const char* name;
    show::Setup setup;
    bool slow = false;                 ///< takes long to make
    int tour = -1;                     ///< the stop of the tour that is open; -1: none
    const char* opens = nullptr;       ///< the control that is clicked to begin with; nullptr: none
    std::uint16_t breakpoint = 0;      ///< the pseudo-code line that has one; 0: none
    const char* compare = "standard";  ///< the algorithm in the second column of the counters
};

/// `recording` is a file that `tilescope trace` could have written.
inline std::vector<Situation> situations(const std::string& recording) {
    using show::setup, show::toy, show::half;
    const show::Flags toy_matrix = {{"gpu", "toy"}, {"seq", "16"}, {"heads", "1"}, {"br", "4"}, {"bc", "4"}};
    show::Setup recorded, wrong = setup("flash_v2", {{"kv-heads", "3"}});
    recorded.recording = recording;
    return {
        {.name = "blackboard", .setup = setup("flash_v2", toy), .breakpoint = 5},
        {.name = "half", .setup = setup("flash_v1", half), .compare = "flash_v2"},
        {.name = "causal", .setup = setup("standard", {{"seq", "250"}, {"causal", "true"}, {"br", "31"}})},
        {.name = "softmax", .setup = setup("softmax_online", toy_matrix)},
        {.name = "race", .setup = setup("flash_v1", half, "flash_v2")},
        {.name = "unequal race", .setup = setup("softmax_naive", toy_matrix, "softmax_safe")},
        {.name = "one column", .setup = setup("flash_v1", {{"seq", "287"}, {"dim", "1"}, {"dim-v", "1"}, {"bc", "1"}})},
        {.name = "many SMs", .setup = setup("flash_v2", {{"seq", "4096"}, {"sms", "1000000"}})},
        {.name = "large", .setup = setup("flash_v2", {{"seq", "16384"}, {"heads", "64"}}), .slow = true},
        {.name = "does not fit", .setup = setup("flash_v2", {{"br", "1024"}, {"bc", "1024"}, {"dim", "128"}})},
        {.name = "beyond HBM", .setup = setup("standard", {{"seq", "65536"}, {"dim", "128"}})},
        {.name = "wrong", .setup = wrong},
        {.name = "recorded", .setup = recorded},
        {.name = "tour", .setup = setup("flash_v2", toy), .tour = 0},
        {.name = "end of the tour", .setup = setup("flash_v2", toy), .tour = 4},
        {.name = "saving", .setup = setup("flash_v2", toy), .opens = "save"},
        {.name = "choosing", .setup = setup("flash_v2", toy), .opens = "algorithm"},
    };
}

}  // namespace tilescope::gui
