// A session that is asked for anything: setups, positions, and counts of other algorithms.
#include "show/run/session.hpp"

#include <algorithm>

#include "tests/fuzz/fuzz.hpp"
#include "tests/support/choices.hpp"
#include "tests/support/setups.hpp"

using namespace tilescope;
using namespace tilescope::show;

namespace {

std::string text(Choices& choices) {
    static const std::vector<std::string> known = {"",     "auto", "f32",  "f16", "bf16", "naive", "safe",
                                                   "true", "toy",  "h100", "-1",  "nan",  "1e-310"};
    if (choices.one_in(3)) return choices.of(known);
    return std::to_string(choices.below(choices.of<std::uint64_t>({8, 100, 2000, std::uint64_t{1} << 42})));
}

void change(Choices& choices, Session& session) {
    Setup s = session.setup();
    switch (choices.below(4)) {
        case 0:
            s.algorithm = choices.of(algorithms()).name;
            return session.ask(s);
        case 1:
            s.rival = choices.one_in(2) ? "" : choices.of(algorithms()).name;
            s.pace = choices.of({Pace::step, Pace::bytes, Pace::time});
            return session.ask(s);
        default:
            const std::string flag = choices.of(lab::settable_flags());
            session.set(flag, text(choices));
    }
}

void look(Choices& choices, Session& session) {
    const Index length = session.length();
    const Index position = static_cast<Index>(choices.below(static_cast<std::uint64_t>(length) + 3)) - 1;
    session.show(position);
    const Index shown = std::clamp<Index>(position, 0, length);
    const auto [tick, other] = session.ticks_at(shown);
    fuzz::require(session.position_of(tick) <= shown, "a tick is reached no later than it is shown");
    session.counted(choices.of(algorithms()).name);
    if (!session.run()) return fuzz::require(length == 0, "without a run there is no time");
    fuzz::require(session.run()->tick() == tick, "the run is at the position");
    fuzz::require(!session.rival() || session.rival()->tick() == other, "the rival is at the position");
    for (const SmState& sm : session.run()->moment().sms) {
        fuzz::require(sm.sram_used >= 0 && sm.registers_used >= 0, "memory in use");
        session.run()->error_so_far(sm);
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Choices choices(std::span(data, size));
    Session session({.matmul_flops = 10'000'000, .value_bytes = Bytes{1} << 24, .events = 20'000});
    session.ask(setup("flash_v2", toy));
    for (int k = 0; k < 20 && !choices.over(); ++k) {
        change(choices, session);
        is_cheap(session.setup()) ? session.finish() : session.cancel();
        if (!session.problem().empty()) fuzz::check_message(session.problem());
        look(choices, session);
    }
    return 0;
}
