#include "show/state/link.hpp"

#include <string>
#include <vector>

#include "tests/support/catch.hpp"

using namespace tilescope;
using namespace tilescope::show;

using Words = std::vector<std::string>;

TEST_CASE("a fragment has the words of a command line, and says again which they were", "[link]") {
    CHECK(fragment_of({"flash_v2", "--seq", "512", "--zoom", "0.5,0.25"}) == "flash_v2+--seq+512+--zoom+0.5,0.25");
    CHECK(fragment_of({"a b", "1+1", "100%", "é"}) == "a%20b+1%2B1+100%25+%C3%A9");
    for (const Words& words : {Words{}, Words{"a b", "c+d", "%41", "é\n#?&", "~/x"}, Words{"--caption", "50% of it"}})
        CHECK(words_of_fragment(fragment_of(words)) == words);
    std::string every;
    for (int c = 1; c < 256; ++c) every += static_cast<char>(c);
    CHECK(words_of_fragment(fragment_of({every, every})) == Words{every, every});
}

TEST_CASE("a fragment that nobody wrote so is read all the same", "[link]") {
    CHECK(words_of_fragment("") == Words{});
    CHECK(words_of_fragment("++flash_v1++--causal+") == Words{"flash_v1", "--causal"});
    CHECK(words_of_fragment("100%+%4+%zz+%4g+%") == Words{"100%", "%4", "%zz", "%4g", "%"});
    CHECK(words_of_fragment("%c3%a9+%2b%2B") == Words{"é", "++"});
}

TEST_CASE("a link shows the same state", "[link]") {
    State s = changed({}, {"flash_v1", "--seq", "300", "--causal", "--race", "standard", "--pace", "bytes", "--step",
                           "12", "--light", "--break", "3", "7"});
    const LinkWords link = link_words(s);
    CHECK(link.left_out.empty());
    CHECK(changed({}, words_of_fragment(fragment_of(link.words))) == s);
    CHECK(link_copied_text(link) == "Link copied");
}

TEST_CASE("a link leaves out what names files, and says so", "[link]") {
    const State whole = changed({}, {"flash_v2", "--seq", "64", "--step", "3"});
    State s = whole;
    s.setup.options.q = "q.npy", s.setup.options.bias_file = "b.npy";
    s.setup.options.gpu = "my/gpu", s.setup.options.block_mask = "blocks.txt", s.setup.options.mask_block = "16";
    const LinkWords link = link_words(s);
    CHECK(link.left_out == Words{"--q", "--bias-file", "--gpu", "--block-mask"});
    CHECK(changed({}, link.words) == whole);
    CHECK(link_copied_text(link) ==
          "Link copied, without --q, --bias-file, --gpu, --block-mask: a link brings no files along");
    State pattern = whole;
    pattern.setup.options.block_mask = "butterfly", pattern.setup.options.gpu = "A100-40GB";
    CHECK(link_words(pattern).left_out.empty());
    CHECK(changed({}, link_words(pattern).words) == pattern);
}

TEST_CASE("a scene's link names the scene, and what was changed since", "[link]") {
    for (const Scene& scene : scenes()) {
        INFO(scene.name);
        const Words named = {"--scene", scene.name};
        CHECK(link_words(scene.state, &scene).words == named);

        State moved = scene.state;
        moved.step += 2;
        CHECK(link_words(moved, &scene).words == Words{"--scene", scene.name, "--step", std::to_string(moved.step)});

        State lit = scene.state;
        lit.view.light = !lit.view.light, lit.setup.options.seed = 7;
        const Words words = link_words(lit, &scene).words;
        const bool names = words[0] == "--scene";
        CHECK(changed(names ? scene.state : State{}, {words.begin() + (names ? 2 : 0), words.end()}) == lit);
    }
}

TEST_CASE("what no flag beside a scene can say is said without it", "[link]") {
    const Scene scene = scene_named("causal-tiles");
    State plain = scene.state;
    plain.setup.options.causal.reset();
    CHECK(changed({}, link_words(plain, &scene).words) == plain);
}
