#include "show/session.hpp"

#include <cmath>
#include <functional>

#include "lab/gpu_presets.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/problems.hpp"
#include "tests/support/seeds.hpp"
#include "tests/support/sessions.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::show;
using tilescope::testing::difference;
using tilescope::testing::same_bits;

namespace {

using Catch::Matchers::ContainsSubstring;

void check_refuses(const Setup& wrong, const std::string& word) {
    INFO(wrong.algorithm << ", " << word);
    WaitingSession s;
    s.ask(setup("flash_v2", small));
    REQUIRE(s.run() != nullptr);
    const std::uint64_t version = s.version();
    REQUIRE_NOTHROW(s.ask(wrong));
    CHECK_THAT(s.problem(), ContainsSubstring(word));
    CHECK(s.problem().find('\n') == std::string::npos);
    CHECK_FALSE(s.overflow());
    CHECK(s.version() != version);
    CHECK(s.setup() == wrong);
    check_nothing_runs(s);
    REQUIRE_NOTHROW(s.counted("standard"));
    s.ask(setup("flash_v2", small));
    CHECK(s.problem().empty());
    CHECK(s.run() != nullptr);
}

}  // namespace

TEST_CASE("a session that was asked for nothing shows nothing", "[session]") {
    WaitingSession s;
    check_nothing_runs(s);
    CHECK(s.problem().empty());
    CHECK_FALSE(s.overflow());
    CHECK(s.request() == nullptr);
    CHECK(s.counted("flash_v2") == nullptr);
    CHECK(s.algorithm().name == std::string("flash_v2"));
}

TEST_CASE("the window counts what the command line counts", "[session]") {
    for (const Algorithm& a : algorithms())
        for (const Flags& more :
             {Flags{}, Flags{{"gpu", "toy"}, {"dtype", "f32"}}, Flags{{"br", "auto"}, {"bc", "auto"}},
              Flags{{"seq-q", "13"}, {"sms", "3"}, {"hbm-bandwidth", "100"}, {"l2-bytes", "1M"}}}) {
            Setup asked = small_setup(a);
            for (const auto& [flag, value] : more) set_flag(asked.options, flag, value);
            INFO(a.name << (more.empty() ? "" : ", " + more[0].first));
            WaitingSession s;
            s.ask(asked);
            const Request r = resolve(asked.options, a);
            const Tiling tiling = choose_tiling(a, r.problem, r.wish, r.gpu);
            REQUIRE(s.problem() == "");
            REQUIRE(s.run() != nullptr);
            const Report expected = count({&a, r.problem, tiling, r.gpu});
            CHECK(difference(s.run()->counted().counters, expected.counters) == "");
            CHECK(s.run()->experiment().gpu.sms == r.gpu.sms);
            CHECK(s.run()->experiment().gpu.hbm_gbs == r.gpu.hbm_gbs);
            CHECK(s.run()->experiment().gpu.l2_bytes == r.gpu.l2_bytes);
            CHECK((s.run()->experiment().problem == r.problem));
            CHECK((s.tiling() == tiling));
            CHECK((s.request()->problem == r.problem));
            CHECK(&s.algorithm() == &a);
            CHECK(s.run()->has_values());
            CHECK(s.length() == s.run()->ticks());
        }
}

TEST_CASE("a recorded head computes what the command line computes", "[session]") {
    for (const Algorithm& a : algorithms()) {
        INFO(a.name);
        Setup asked = small_setup(a);
        asked.options.seed = 5;
        asked.options.distribution = "uniform";
        WaitingSession s(RecordingLimits{.events = 1200});
        s.ask(asked);
        REQUIRE(s.run() != nullptr);
        if (!s.run()->has_values()) continue;
        s.show(s.length());
        const Request r = resolve(asked.options, a);
        const Tiling tiling = choose_tiling(a, r.problem, r.wish, r.gpu);
        const Report whole = execute({&a, r.problem, tiling, r.gpu}, inputs_for(asked.options, r, a), 1);
        const std::vector<float> expected = contents(*whole.output());
        for (TensorId t = 0; t < s.run()->trace().tensors().size(); ++t) {
            if (s.run()->trace().tensors()[t].role != Role::output) continue;
            const std::string& name = s.run()->trace().tensors()[t].name;
            if (name != "O" && name != "Y") continue;
            const std::vector<float> got = s.run()->player().values(t);
            REQUIRE(got.size() <= expected.size());
            CHECK(same_bits(got, {expected.data(), got.size()}));
        }
    }
}

TEST_CASE("what is wrong is said in a line, and nothing runs", "[session]") {
    const auto with = [](const std::function<void(Options&)>& change, const char* algorithm = "flash_v2") {
        Setup s = setup(algorithm);
        change(s.options);
        return s;
    };
    check_refuses(with([](Options& o) { o.heads = 0; }), "--heads");
    check_refuses(with([](Options& o) { o.heads = -1; }), "--heads");
    check_refuses(with([](Options& o) { o.kv_heads = 3; }), "--kv-heads");
    check_refuses(with([](Options& o) { o.seq = 0; }), "--seq");
    check_refuses(with([](Options& o) { o.seq = Index{1} << 41; }), "--seq");
    check_refuses(with([](Options& o) { o.seq = Index{1} << 30; }), "--seq");
    check_refuses(with([](Options& o) { o.dim_v = 0; }), "--dim-v");
    check_refuses(with([](Options& o) { o.gpu = "no such gpu"; }), "--gpu");
    check_refuses(with([](Options& o) { o.gpu = "/no/such/file.json"; }), "--gpu");
    check_refuses(with([](Options& o) { o.dtype = "f8"; }), "--dtype");
    check_refuses(with([](Options& o) { o.softmax = "fast"; }), "--softmax");
    check_refuses(with([](Options& o) { o.scale = INFINITY; }), "--scale");
    check_refuses(with([](Options& o) { o.br = "large"; }), "--br");
    check_refuses(with([](Options& o) { o.bc = "0"; }), "--bc");
    check_refuses(with([](Options& o) { o.bc = "-4"; }), "--bc");
    check_refuses(with([](Options& o) { o.sms = 2'000'000; }), "--sms");
    check_refuses(with([](Options& o) { o.sram_kib = 0; }), "--sram");
    check_refuses(with([](Options& o) { o.hbm_bandwidth = -1; }), "--hbm-bandwidth");
    check_refuses(with([](Options& o) { o.distribution = "odd"; }), "--distribution");
    check_refuses(with([](Options& o) { o.q = "/no/such/q.npy"; }), "--k");
    check_refuses(with([](Options& o) { o.q = o.k = o.v = "/no/such/q.npy"; }), "--q");
    check_refuses(with([](Options& o) { o.x = "x.npy"; }), "--x");
    check_refuses(with([](Options& o) { o.causal = true; }, "softmax_safe"), "--causal");
    check_refuses(with([](Options& o) { o.dim = 32; }, "softmax_naive"), "--dim");
    check_refuses(setup("flash_v9"), "flash_v9");
    check_refuses(setup(""), "algorithm");
    check_refuses(setup("flash_v2", {}, "nobody"), "nobody");
    check_refuses(setup("flash_v2", {}, "softmax_safe"), "--race");
    check_refuses(setup("softmax_safe", {}, "standard"), "--race");
}

TEST_CASE("a machine without SMs breaks nothing", "[session]") {
    for (const Index sms : {0, -1}) {
        Setup asked = setup("flash_v2", small);
        asked.options.sms = sms;
        WaitingSession s;
        REQUIRE_NOTHROW(s.ask(asked));
        if (!s.run()) continue;
        s.show(s.length());
        CHECK(s.run()->player().position() == s.run()->trace().size());
    }
}

TEST_CASE("flags are set and taken back by their names", "[session]") {
    WaitingSession s;
    s.ask(setup("flash_v2", small_attention));
    s.set("heads", "6");
    CHECK(s.setup().options.heads == 6);
    CHECK(s.run()->experiment().problem.heads == 6);
    s.set("causal", "false");
    CHECK_FALSE(s.run()->experiment().problem.mask.is_causal());
    s.set("causal", "true");
    CHECK(s.run()->experiment().problem.mask.is_causal());
    s.set("causal", "");
    CHECK_FALSE(s.run()->experiment().problem.mask.is_causal());
    s.set("kv-heads", "");
    CHECK(s.run()->experiment().problem.kv_heads == 6);
    s.set("br", "");
    s.set("bc", "");
    const Problem& p = s.run()->experiment().problem;
    CHECK((s.tiling() == choose_tiling(s.algorithm(), p, {}, s.request()->gpu)));
    s.set("gpu", "toy");
    CHECK(s.run()->experiment().gpu.name == "toy");
    s.set("gpu", "");
    for (const auto& [flag, value] : small_attention) s.set(flag, "");
    CHECK((s.setup().options == Options()));
    CHECK(s.problem().empty());
}

TEST_CASE("setting a flag leaves the text of its value alone", "[session]") {
    for (const std::string& flag : settable_flags())
        for (const std::string value : {"16", "true", "a text that is too long to be kept in place"}) {
            Options o;
            const std::string given = value;
            try {
                set_flag(o, flag, given);
            } catch (const UsageError&) {
            }
            CHECK(given == value);
            WaitingSession s(RecordingLimits{.matmul_flops = 1, .events = 100});
            s.set(flag, given);
            CHECK(given == value);
        }
}

TEST_CASE("a flag that cannot be set leaves the setup, and what ran can be asked for again", "[session]") {
    const std::pair<const char*, const char*> wrong[] = {
        {"heads", "0"},   {"heads", "two"},    {"seq", "99999999999999999999"},
        {"scale", "big"}, {"causal", "maybe"}, {"colour", "red"}};
    for (const auto& [flag, value] : wrong) {
        INFO("--" << flag << ' ' << value);
        WaitingSession s;
        const Setup before = setup("flash_v2", small);
        s.ask(before);
        const std::uint64_t version = s.version();
        REQUIRE_NOTHROW(s.set(flag, value));
        CHECK_THAT(s.problem(), ContainsSubstring(flag));
        CHECK(s.setup() == before);
        CHECK(s.version() != version);
        check_nothing_runs(s);
        s.set("heads", "3");  // as it was
        CHECK(s.problem().empty());
        REQUIRE(s.run() != nullptr);
        CHECK(s.run()->experiment().problem.heads == 3);
    }
}

TEST_CASE("asking again for the same changes nothing", "[session]") {
    WaitingSession s;
    const Setup asked = setup("flash_v2", small, "standard");
    s.ask(asked);
    const std::uint64_t version = s.version();
    const Run *run = s.run(), *rival = s.rival();
    s.show(7);
    s.ask(asked);
    s.set("seq", "20");
    CHECK(s.version() == version);
    CHECK(s.run() == run);
    CHECK(s.rival() == rival);
    CHECK(s.run()->tick() > 0);

    Setup paced = asked;
    paced.pace = Pace::bytes;  // does not run anything again
    s.ask(paced);
    CHECK(s.version() != version);
    CHECK(s.run() == run);
    CHECK(s.rival() == rival);

    const std::uint64_t before = s.version();
    s.set("seq", "21");
    CHECK(s.version() != before);
    CHECK(s.run()->experiment().problem.seq_q == 21);

    // What was wrong stays wrong, and is not tried again.
    Setup wrong = asked;
    wrong.options.heads = 0;
    s.ask(wrong);
    const std::uint64_t after = s.version();
    s.ask(wrong);
    CHECK(s.version() == after);
    CHECK_FALSE(s.problem().empty());
}

TEST_CASE("a tiling that does not fit comes with one that does", "[session]") {
    std::size_t n = 0;
    for (const Algorithm& a : algorithms())
        for (const Flags& tiles :
             {Flags{{"br", "4096"}, {"bc", "4096"}}, Flags{{"br", "32"}, {"bc", "40960"}}, Flags{{"br", "50000"}}}) {
            if (!takes(++n, 0)) continue;
            Setup asked = setup(a.name, {{"seq", "8192"}, {"heads", "2"}});
            for (const auto& [flag, value] : tiles) set_flag(asked.options, flag, value);
            INFO(a.name << ", --" << tiles.back().first << ' ' << tiles.back().second);
            WaitingSession s(RecordingLimits{.events = 1000});
            REQUIRE_NOTHROW(s.ask(asked));
            const Request r = resolve(asked.options, a);
            const Tiling tiling = choose_tiling(a, r.problem, r.wish, r.gpu);
            if (fits(a, r.problem, tiling, r.gpu)) {
                CHECK(s.run() != nullptr);
                continue;
            }
            check_nothing_runs(s);
            CHECK(s.problem().empty());
            REQUIRE(s.overflow());
            CHECK(s.overflow()->algorithm == a.name);
            CHECK((s.overflow()->tiling == tiling));
            CHECK(s.overflow()->error.missing() > 0);
            REQUIRE(s.overflow()->fitting);
            const Tiling fit = *s.overflow()->fitting;
            const std::string flags = "--br " + std::to_string(fit.br) + " --bc " + std::to_string(fit.bc);
            CHECK_THAT(s.overflow()->explanation, ContainsSubstring("this fits: " + flags));
            Setup fitting = asked;
            fitting.options.br = std::to_string(fit.br);
            fitting.options.bc = std::to_string(fit.bc);
            s.ask(fitting);
            CHECK_FALSE(s.overflow());
            REQUIRE(s.run() != nullptr);
            CHECK((s.run()->experiment().tiling == fit));
            CHECK(s.length() > 0);
        }
}

TEST_CASE("tensors that do not fit in HBM are not played, and it is said why", "[session]") {
    WaitingSession session;
    session.ask(setup("standard", {{"seq", "65536"}, {"dim", "128"}}));
    check_nothing_runs(session);
    REQUIRE(session.request());
    const Experiment e = experiment_of(session.algorithm(), *session.request());
    CHECK(session.problem() == beyond_hbm(e));
    CHECK(session.problem().starts_with("standard's tensors take 138 GB, H100-SXM has 85.9 GB of HBM"));
    session.ask(setup("flash_v2", {{"seq", "512"}, {"dim", "128"}}, "standard"));
    CHECK(session.problem().empty());
    session.set("seq", "65536");  // now the rival does not
    CHECK(session.problem().starts_with("standard's tensors take"));
    check_nothing_runs(session);
}

TEST_CASE("where no tiling fits, none is proposed", "[session]") {
    WaitingSession s;
    s.ask(setup("flash_v2", {{"gpu", "toy"}, {"dim", "4096"}}));
    check_nothing_runs(s);
    REQUIRE(s.overflow());
    CHECK_FALSE(s.overflow()->fitting);
    CHECK_THAT(s.overflow()->explanation, ContainsSubstring("no tiling fits"));
    CHECK(s.problem().empty());
    CHECK(s.counted("flash_v2") == nullptr);
}

TEST_CASE("a rival that does not fit is said to be the one", "[session]") {
    // The one reads Q again and again from SRAM that the other has no use for.
    for (const Algorithm& a : algorithms())
        for (const Algorithm& b : algorithms()) {
            if (a.computes != &computation::attention || b.computes != &computation::attention) continue;
            const Setup asked = setup(a.name, {{"br", "192"}, {"bc", "192"}, {"heads", "1"}, {"seq", "192"}}, b.name);
            const Request r = resolve(asked.options, a);
            const bool first = fits(a, r.problem, r.wish.tiling, r.gpu),
                       second = fits(b, r.problem, r.wish.tiling, r.gpu);
            if (first == second) continue;
            INFO(a.name << " against " << b.name);
            WaitingSession s;
            s.ask(asked);
            check_nothing_runs(s);
            REQUIRE(s.overflow());
            CHECK(s.overflow()->algorithm == (first ? b : a).name);
        }
}

TEST_CASE("a race lines up two runs by steps, bytes and time", "[session][threads]") {
    const std::pair<const char*, const char*> pairs[] = {
        {"standard", "flash_v2"},        {"flash_v2", "standard"},           {"flash_v1", "flash_v2"},
        {"chunked", "memory_efficient"}, {"softmax_safe", "softmax_online"}, {"flash_v2", "flash_v2"}};
    for (const auto& [a, b] : pairs) {
        INFO(a << " against " << b);
        Setup asked = small_setup(*find_algorithm(a));
        asked.rival = b;
        WaitingSession s;
        s.ask(asked);
        REQUIRE(s.run() != nullptr);
        REQUIRE(s.rival() != nullptr);
        CHECK(s.rival()->algorithm().name == std::string(b));
        CHECK((s.run()->experiment().problem == s.rival()->experiment().problem));
        CHECK((s.run()->recorded() == s.rival()->recorded()));
        for (const Pace pace : {Pace::step, Pace::bytes, Pace::time}) {
            INFO("by " << name_of(pace));
            asked.pace = pace;
            s.ask(asked);
            CHECK(wrong_race(s, pace) == "");
            for (Index tick = 0; tick <= s.run()->ticks(); ++tick) {
                const Index p = s.position_of(tick);
                if (s.ticks_at(p).first != tick || (p > 0 && s.ticks_at(p - 1).first >= tick)) FAIL("tick " << tick);
            }
            CHECK(s.position_of(s.run()->ticks() + 1) == s.length());
            for (const Index p : {s.length(), Index{0}, s.length() / 2, s.length() / 3}) {
                s.show(p);
                CHECK(std::pair(s.run()->tick(), s.rival()->tick()) == s.ticks_at(p));
            }
        }
        if (a == std::string(b))
            for (Index p = 0; p <= s.length(); ++p) CHECK(s.ticks_at(p) == std::pair(p, p));
    }
}

TEST_CASE("both in a race record the same heads", "[session]") {
    int differed = 0;
    for (std::size_t n = 0; n < algorithms().size(); ++n)
        for (std::size_t m = 0; m < algorithms().size(); ++m) {
            const Algorithm &a = algorithms()[n], &b = algorithms()[m];
            if (a.computes != b.computes || !takes(n, m)) continue;
            Setup asked = setup(a.name, {{"seq", "24"}, {"heads", "8"}, {"br", "4"}, {"bc", "4"}}, b.name);
            if (a.computes == &computation::attention) set_flag(asked.options, "kv-heads", "4");
            for (const RecordingLimits& limits :
                 {RecordingLimits{.events = 2500}, RecordingLimits{.value_bytes = 80'000}}) {
                INFO(a.name << " against " << b.name);
                WaitingSession alone(limits), other(limits), both(limits);
                Setup first = asked, second = asked;
                first.rival = second.rival = "";
                second.algorithm = b.name;
                alone.ask(first);
                other.ask(second);
                both.ask(asked);
                REQUIRE((alone.run() && other.run() && both.run() && both.rival()));
                const Index x = alone.run()->recorded().batch_heads(), y = other.run()->recorded().batch_heads();
                CHECK(both.run()->recorded().batch_heads() == std::min(x, y));
                CHECK(both.rival()->recorded().batch_heads() == std::min(x, y));
                CHECK((both.run()->has_values() || !alone.run()->has_values()));
                differed += x != y;
            }
        }
    CHECK(differed > 10);
}

TEST_CASE("without a rival positions are ticks", "[session]") {
    WaitingSession s;
    s.ask(setup("flash_v2", small));
    CHECK(s.rival() == nullptr);
    CHECK(s.length() == s.run()->ticks());
    for (Index p = 0; p <= s.length(); ++p) {
        CHECK(s.ticks_at(p) == std::pair<Index, Index>(p, 0));
        CHECK(s.position_of(p) == p);
    }
    CHECK(s.position_of(s.length() + 1) == s.length());
    s.show(s.length() + 100);
    CHECK(s.run()->tick() == s.length());
    s.show(-100);
    CHECK(s.run()->tick() == 0);
}

TEST_CASE("other algorithms are counted on the same problem", "[session]") {
    for (const Algorithm& a : algorithms()) {
        Setup asked = small_setup(a);
        for (const char* tiles : {"as given", "auto"}) {
            if (tiles == std::string("auto")) asked.options.br = asked.options.bc = "auto";
            WaitingSession s;
            s.ask(asked);
            const Request r = resolve(asked.options, a);
            for (const Algorithm& b : algorithms()) {
                INFO(a.name << " and " << b.name << ", tiles " << tiles);
                const Report* counted = s.counted(b.name);
                CHECK((counted != nullptr) == (a.computes == b.computes));
                if (!counted) continue;
                const Tiling tiling = choose_tiling(b, r.problem, r.wish, r.gpu);
                CHECK(difference(counted->counters, count({&b, r.problem, tiling, r.gpu}).counters) == "");
                CHECK((counted->experiment.tiling == tiling));
                CHECK(s.counted(b.name) == counted);  // kept
            }
            CHECK(s.counted("nobody") == nullptr);
            CHECK(s.counted("") == nullptr);
        }
    }
}

TEST_CASE("counts of others go with the problem, and are absent where they do not fit", "[session][threads]") {
    WaitingSession s;
    s.ask(setup("flash_v2", small));
    const Count before = s.counted("standard")->counters.hbm_read;
    s.set("seq", "40");
    CHECK(s.counted("standard")->counters.hbm_read > before);
    for (const Algorithm& a : algorithms()) {
        if (a.computes != &computation::attention) continue;
        s.ask(setup("flash_v2", {{"br", "192"}, {"bc", "192"}, {"seq", "192"}}));
        REQUIRE(s.request() != nullptr);
        const bool fit = fits(a, s.request()->problem, {192, 192}, s.request()->gpu);
        CHECK((s.counted(a.name) != nullptr) == fit);
    }
}

TEST_CASE("users' own matrices are shown, of the heads that are recorded", "[session]") {
    const Folder folder;
    Options o;
    const auto write = [&](const char* name, Index heads, Index rows, Index cols, unsigned seed) {
        Storage s(Dtype::f32, heads, rows, cols);
        s.write(0, tilescope::testing::random_floats(s.size(), seed));
        std::ofstream file(folder / name, std::ios::binary);
        write_tensor(file, s, 1, 3);
        return folder / name;
    };
    o.q = write("q.npy", 6, 14, 5, 1);
    o.k = write("k.npy", 3, 17, 5, 2);
    o.v = write("v.npy", 3, 17, 4, 3);
    o.br = "4", o.bc = "6";
    for (const Algorithm& a : algorithms()) {
        if (a.computes != &computation::attention) continue;
        for (const Index heads : {6, 4, 2, 1}) {
            INFO(a.name << ", heads " << heads);
            Setup asked;
            asked.algorithm = a.name;
            asked.options = o;
            const Request r = resolve(o, a);
            const Experiment e{&a, r.problem, {4, 6}, r.gpu};
            const Report whole = execute(e, r.inputs, 1);
            const Count flops = whole.counters.matmul_flops + 8 * whole.counters.exps;
            WaitingSession s(RecordingLimits{.matmul_flops = ceil_div(flops, 6) * heads});
            s.ask(asked);
            REQUIRE(s.problem() == "");
            REQUIRE(s.run() != nullptr);
            REQUIRE(s.run()->recorded().batch_heads() == heads);
            REQUIRE(s.run()->has_values());
            s.show(s.length());
            for (TensorId t = 0; t < s.run()->trace().tensors().size(); ++t) {
                const RecordedTensor& tensor = s.run()->trace().tensors()[t];
                const std::vector<float>& now = s.run()->player().values(t);
                if (tensor.name == "O") {
                    const std::vector<float> all = contents(*whole.output());
                    CHECK(same_bits(now, {all.data(), now.size()}));
                }
                if (tensor.role != Role::input) continue;
                const std::vector<float> all = contents(*r.inputs.at(tensor.name));
                CHECK(same_bits(now, {all.data(), now.size()}));
            }
            CHECK(s.run()->stored_error().rms < 1e-5);
        }
    }
}

TEST_CASE("paces have names", "[session]") {
    for (const Pace p : {Pace::step, Pace::bytes, Pace::time}) CHECK(pace_from(name_of(p)) == p);
    CHECK_FALSE(pace_from("quick"));
    CHECK_FALSE(pace_from(""));
}

TEST_CASE("what cannot be played whole does not race", "[session]") {
    WaitingSession s = session_of("standard", {{"seq", "16384"}, {"heads", "8"}});
    CHECK_FALSE(s.run()->has_whole_heads());
    Setup asked = s.setup();
    asked.rival = "flash_v2";
    s.ask(asked);
    CHECK(s.problem() ==
          "--race flash_v2: a head of standard is too large to be played whole, and parts would race unequally; try a "
          "shorter --seq, or leave it out and read Counters, which are of whole runs");
    CHECK(s.run() == nullptr);
    s.set("seq", "512");
    CHECK(s.problem().empty());
    REQUIRE(s.rival());
    CHECK(s.rival()->has_whole_heads());
}

TEST_CASE("at the pace of time moves take as long as modelled, at others all the same", "[session]") {
    for (const char* rival : {"", "flash_v1"}) {
        WaitingSession in_time = session_of("flash_v2", toy, rival, Pace::time),
                       in_steps = session_of("flash_v2", toy, rival);
        double all = 0, longest = 0;
        Index which = 0;
        for (Index p = 1; p <= in_time.length(); ++p) {
            const double w = in_time.weight(p);
            REQUIRE(w >= 0);
            all += w;
            if (w > longest) longest = w, which = p;
        }
        CHECK(std::abs(all - static_cast<double>(in_time.length())) < 1e-6 * all);
        // Before anything runs, kernels are launched, which takes longer than any step of a toy.
        CHECK(which == 1);
        CHECK(std::abs(longest / all -
                       in_time.run()->gantt().launches()[0].begin * 1e-6 /
                           std::max(in_time.run()->seconds(in_time.run()->ticks()),
                                    in_time.rival() ? in_time.rival()->seconds_for_all(in_time.rival()->ticks()) : 0)) <
              1e-6);
        for (Index p = 1; p <= in_steps.length(); ++p) CHECK(in_steps.weight(p) == 1);
    }
}
