#include "show/run/session.hpp"

#include <cmath>
#include <functional>

#include "lab/gpu/gpu_presets.hpp"
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
        s.set("heads", "3");  // the heads of the setup before
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
    paced.pace = Pace::bytes;  // no run is made again
    s.ask(paced);
    CHECK(s.version() != version);
    CHECK(s.run() == run);
    CHECK(s.rival() == rival);

    const std::uint64_t before = s.version();
    s.set("seq", "21");
    CHECK(s.version() != before);
    CHECK(s.run()->experiment().problem.seq_q == 21);

    // An error stays, and the setup is not tried again.
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
    session.set("seq", "65536");  // now the rival does not fit
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
