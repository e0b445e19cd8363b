#include "show/state/scenes.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include "core/text/numbers.hpp"
#include "lab/model/timing.hpp"
#include "lab/run/covers.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/sessions.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::show;

namespace {

std::string refused(const std::string& name) {
    return message_of<UsageError>([&] { scene_named(name); });
}

double us(std::vector<std::pair<std::string, std::string>> flags) {
    WaitingSession s = session_of("flash_v2", flags);
    REQUIRE(s.run()->counted().time);
    return s.run()->counted().time->us();
}

}  // namespace

TEST_CASE("twenty scenes come along, each with its point, a question and an answer", "[scenes]") {
    REQUIRE(scenes().size() == 20);
    std::set<std::string> names, titles;
    int number = 0;
    for (const Scene& s : scenes()) {
        INFO(s.name);
        CHECK(names.insert(s.name).second);
        CHECK(titles.insert(s.title).second);
        CHECK(!s.caption.empty());
        CHECK(s.caption.ends_with("."));
        CHECK(s.question.ends_with("?"));
        CHECK(s.answer.ends_with("."));
        // A minute is about 130 words.
        const auto words = std::count(s.notes.begin(), s.notes.end(), ' ') + 1;
        CHECK(s.notes.ends_with("."));
        CHECK(words >= 60);
        CHECK(words <= 170);
        CHECK(scene_named(s.name).state == s.state);
        CHECK(scene_number(s) == number++);
    }
    CHECK(scene_title(scenes()[4]) == "5 of 20 · FlashAttention-1 paints columns, FlashAttention-2 rows");
}

TEST_CASE("every scene shows what it is about", "[scenes]") {
    for (const Scene& scene : scenes()) {
        INFO(scene.name);
        WaitingSession s;
        Playback playback;
        View view;
        restore(scene.state, s, playback, view);
        s.finish();
        CHECK(s.problem().empty());
        if (scene.name == "does-not-fit") {
            CHECK(s.overflow());
            continue;
        }
        REQUIRE(s.run());
        playback.set_length(s.length());
        CHECK(scene.state.step <= s.length());
        CHECK((s.rival() != nullptr) == !scene.state.setup.rival.empty());
        // The saved state brings the scene back.
        CHECK(state_of(s, playback, view).setup == scene.state.setup);
    }
}

TEST_CASE("every scene plays from its start to its end while a hall watches", "[scenes]") {
    constexpr double least = 3, most = 45;  // seconds
    for (const Scene& scene : scenes()) {
        WaitingSession s;
        s.ask(scene.state.setup);
        INFO(scene.name << ": " << s.problem());
        if (s.overflow()) continue;  // the scene shows counts, and has nothing to play
        REQUIRE(s.run());
        Playback playback;
        View view;
        restore(scene.state, s, playback, view);
        playback.set_length(s.length());
        CHECK(scene.state.step >= playback.first());
        CHECK(scene.state.step <= playback.last());
        double moves = 0;
        for (Index k = playback.first(); k < playback.last(); ++k) moves += s.weight(k + 1);
        const double seconds = moves / scene.state.speed;
        INFO(moves << " moves take " << seconds << " s");
        CHECK(seconds >= least);
        CHECK(seconds <= most);
    }
}

TEST_CASE("notes are printed with all else that there is to say of a scene", "[scenes]") {
    std::ostringstream all, little;
    print_notes(all, {"mine", "Mine", "See this.", "Why?", "So.", "Say that.", {}});
    CHECK(all.str() == "Mine\n  See this.\n  Say that.\n  Question: Why?\n  Answer: So.\n");
    print_notes(little, {"mine", "Mine", "", "", "", "", {}});
    CHECK(little.str() == "Mine\n");
}

TEST_CASE("numbers of the scenes' answers are the model's", "[scenes]") {
    const auto rounded = [](double x) { return std::to_string(std::lround(x)); };
    const Scene waves = scene_named("waves-and-tails");
    const auto queries = [](const char* n) {
        return us({{"heads", "1"},
                   {"seq-q", n},
                   {"seq-k", "2048"},
                   {"dim", "128"},
                   {"br", "128"},
                   {"bc", "128"},
                   {"sms", "8"}});
    };
    CHECK(contains(waves.answer, rounded(queries("2176")) + " µs"));
    CHECK(contains(waves.answer, rounded(queries("2048")) + " µs"));
    const Scene tiles = scene_named("sram-limits-tiles");
    const auto tile = [](const char* br, const char* bc) {
        const double t = us({{"heads", "64"}, {"seq", "4096"}, {"dim", "128"}, {"br", br}, {"bc", bc}});
        return "1," + std::to_string(std::lround(t) % 1000) + " µs";
    };
    CHECK(contains(tiles.answer, tile("256", "64")));
    CHECK(contains(tiles.answer, tile("128", "64")));
    const Scene decode = scene_named("one-token");
    WaitingSession split;
    split.ask(decode.state.setup);
    for (const Run* run : {split.run(), split.rival()})
        CHECK(contains(decode.answer, text::microseconds(run->counted().time->us())));
    Bytes partial = 0;
    for (const TensorReport& t : split.run()->counted().tensors)
        if (t.role == Role::scratch) partial += t.traffic.write;
    CHECK(contains(decode.answer, text::bytes(partial) + " out and back"));
    CHECK(split.run()->counted().time->launches[0].sms == 4 * split.rival()->counted().time->launches[0].sms);
    const auto tiles_left = [](const char* seq, bool window) {
        Problem p;
        p.seq_q = p.seq_k = std::atoll(seq);
        p.mask = window ? Mask::window(128, 0) : Mask::causal();
        const TileCovers c = covers_of(p, {64, 64});
        return std::to_string(c.partial + c.whole);
    };
    const Scene window = scene_named("sliding-window");
    CHECK(contains(window.answer, tiles_left("1024", true) + " to visit, not " + tiles_left("512", true)));
    CHECK(contains(window.answer, "be " + tiles_left("1024", false) + ", not " + tiles_left("512", false)));
    const Scene blocks = scene_named("block-sparse");
    WaitingSession sparse;
    sparse.ask(blocks.state.setup);
    WaitingSession dense = session_of("flash_v1", {{"heads", "1"}, {"seq", "512"}, {"br", "64"}, {"bc", "64"}});
    const auto moved = [](const WaitingSession& s) { return text::bytes(s.run()->counted().counters.hbm()); };
    CHECK(contains(blocks.answer, moved(sparse).substr(0, 4) + " of " + moved(dense)));
    const Scene backward = scene_named("recompute-or-store");
    WaitingSession stored;
    stored.ask(backward.state.setup);
    const Report &kept = stored.run()->counted(), &anew = stored.rival()->counted();
    const auto number = [](const std::string& with_unit) { return with_unit.substr(0, with_unit.find(' ')); };
    const auto flops = [](const Report& r) { return text::count(static_cast<double>(r.counters.matmul_flops)); };
    CHECK(contains(backward.answer, number(flops(anew)) + " instead of " + flops(kept) + "FLOP"));
    CHECK(contains(backward.answer, number(text::bytes(anew.hbm_extra)) + " of " + text::bytes(kept.hbm_extra)));
    CHECK(contains(backward.notes, text::bytes(kept.counters.hbm()) + " against " + text::bytes(anew.counters.hbm())));
    CHECK(contains(backward.notes,
                   number(text::microseconds(kept.time->us())) + " against " + text::microseconds(anew.time->us())));
    CHECK(4 * anew.counters.hbm() <= kept.counters.hbm());
    CHECK(contains(backward.answer, "more than half of the time"));
    const double saved = 1 - anew.time->us() / kept.time->us();
    CHECK(saved > 0.5);
    CHECK(saved < 0.6);
    const auto share_of_scores = [](const char* seq) {
        WaitingSession s = session_of("standard", {{"heads", "1"}, {"seq", seq}, {"br", "64"}, {"bc", "64"}});
        Bytes scores = 0;
        for (const TensorReport& t : s.run()->counted().tensors)
            if (t.meaning == Meaning::score) scores += t.traffic.read + t.traffic.write;
        return static_cast<double>(scores) / static_cast<double>(s.run()->counted().counters.hbm());
    };
    CHECK(share_of_scores("512") > 0.5);  // the words: "more than half, and never above 4/7"
    CHECK(share_of_scores("8192") > share_of_scores("512"));
    CHECK(share_of_scores("8192") < 4.0 / 7);
}

TEST_CASE("a scene may be a file, and one that is none says what it lacks", "[scenes]") {
    const Folder folder;
    const std::string path = folder / "mine.json";
    write_bytes(path, R"({"title": "Mine", "tilescope-gui": ["flash_v1", "--seq", "64"]})");
    const Scene mine = scene_named(path);
    CHECK(mine.title == "Mine");
    CHECK(scene_title(mine) == "Mine");
    CHECK(scene_number(mine) == -1);
    CHECK(mine.state.setup.algorithm == "flash_v1");
    CHECK(refused("colums-and-rows") ==
          "--scene colums-and-rows: there is no such scene; try --scene columns-and-rows, or --scenes for all of them");
    write_bytes(path, R"({"tilescope-gui": ["flash_v1"]})");
    CHECK(contains(refused(path), "has no title or no state"));
    write_bytes(path, R"({"title": "Mine", "tilescope-gui": ["flash_v1", "--seq", "x"]})");
    CHECK(contains(refused(path), "--seq x"));
    write_bytes(path, R"({"title": "Mine", "answr": "No.", "tilescope-gui": ["flash_v1"]})");
    CHECK(contains(refused(path), "has answr, which is nothing of a scene"));
    write_bytes(path, R"({"title": "Mine", "answer": 5, "tilescope-gui": ["flash_v1"]})");
    CHECK(contains(refused(path), "something in it is not text"));
    write_bytes(path, R"({"title": )");
    CHECK(contains(refused(path), "is not JSON"));
    CHECK(contains(refused(folder / "none.json"), "docs/gui.md shows what a scene looks like"));
}

TEST_CASE("a scene that was changed says so, and its words are of what was before", "[scenes]") {
    const Scene race = scene_named("race-by-time");
    Setup now = race.state.setup;
    CHECK(changes_of(race, now).empty());
    CHECK(worded_for(race, now).caption == race.caption);
    now.options.causal = false;  // no change
    CHECK(changes_of(race, now).empty());
    now.options.heads = 128;
    const Scene more = worded_for(race, now);
    CHECK(more.title == "changed: heads 128 · " + race.title);
    CHECK(scene_title(more) == "11 of 20 · changed: heads 128 · " + race.title);
    CHECK(more.caption == "Before that: " + race.caption);
    CHECK(more.question == "Before that: " + race.question);
    CHECK(more.answer == "Before that: " + race.answer);
    now.rival.clear(), now.options.br = "32", now.options.causal = true;
    CHECK(changes_of(race, now) ==
          std::vector<std::string>{"br 32", "causal", "heads 128", "without pace", "without race"});
    CHECK(contains(worded_for(race, now).title, "changed: br 32, causal, 3 flags more · "));
    const Scene causal = scene_named("causal-tiles");
    now = causal.state.setup;
    now.options.causal.reset(), now.algorithm = "flash_v1";
    CHECK(changes_of(causal, now) == std::vector<std::string>{"flash_v1", "without causal"});
    now.recording = "mine.json";
    CHECK(changes_of(causal, now) == std::vector<std::string>{"mine.json"});
    // Names of files are shown in printable form, whatever bytes they have.
    now.recording = "\xe9.json";
    CHECK(changes_of(causal, now) == std::vector<std::string>{R"('\xe9.json')"});
    now.recording.clear(), now.options.block_mask = "\xe9.npy";
    CHECK(contains(worded_for(causal, now).title, R"(block-mask '\xe9.npy')"));
}

TEST_CASE("what is saved of a scene has its words, and what has none says nothing", "[scenes]") {
    const Folder folder;
    const std::string path = folder / "saved.json";
    const Scene scene = scene_named("columns-and-rows");
    State state = scene.state;
    state.step = 100;
    save_shown(state, &scene, path);
    const Saved same = read_saved(path);
    REQUIRE(same.scene);
    CHECK(same.state.step == 100);
    CHECK(same.scene->title == scene.title);
    CHECK(same.scene->caption == scene.caption);
    CHECK(same.scene->question == scene.question);
    CHECK(same.scene->answer == scene.answer);
    CHECK(same.scene->notes == scene.notes);
    CHECK(changes_of(*same.scene, same.state.setup).empty());
    // An opened file is a scene of its own, and none of the lecture.
    CHECK(scene_number(*same.scene) == -1);
    CHECK(scene_named(path).title == scene.title);
    state.setup.options.heads = 3;
    save_shown(state, &scene, path);
    const Saved changed = read_saved(path);
    REQUIRE(changed.scene);
    CHECK(changed.scene->title == "changed: heads 3 · " + scene.title);
    CHECK(changed.scene->caption == "Before that: " + scene.caption);
    CHECK(changes_of(*changed.scene, changed.state.setup).empty());
    save_shown(state, nullptr, path);
    CHECK_FALSE(read_saved(path).scene);
    CHECK(read_saved(path).state.setup == state.setup);
    write_bytes(path, R"({"title": 5, "tilescope-gui": ["flash_v1"]})");
    CHECK(contains(message_of<UsageError>([&] { read_saved(path); }), "something in it is not text"));
}
