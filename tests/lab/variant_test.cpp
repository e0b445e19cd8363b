// Algorithms with settings of their own, as `compare` and `sweep` take them.
#include "lab/flags/variant.hpp"

#include "core/machine/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace tilescope;
using namespace tilescope::lab;

TEST_CASE("a variant is an algorithm, its settings and its GPU", "[flags]") {
    const Variant plain = variant_from("flash_v2");
    CHECK(plain.algorithm->name == std::string("flash_v2"));
    CHECK(plain.settings.empty());
    CHECK(plain.label == "flash_v2");

    const Variant tiled = variant_from("flash_v2:br=64,bc=32@some/where:1,2=3.json");
    CHECK(tiled.settings == Settings{{"br", "64"}, {"bc", "32"}, {"gpu", "some/where:1,2=3.json"}});
    CHECK(tiled.label == "flash_v2:br=64,bc=32@some/where:1,2=3.json");

    CHECK(variant_from("flash_v2@H100").settings == Settings{{"gpu", "H100"}});
    CHECK(variant_from("safe_softmax:br=8").label == "three_pass:br=8");  // the former name
}

TEST_CASE("settings set flags, each once", "[flags]") {
    Options base;
    base.causal = true;
    const Options o = with(base, {{"br", "64"}, {"seq", "100"}, {"causal", "false"}});
    CHECK(o.br == "64");
    CHECK(o.seq == 100);
    CHECK(o.causal == false);
    CHECK(with(base, {}) == base);
    CHECK(contains(message_of<UsageError>([&] {
                       with(base, {{"br", "64"}, {"bc", "1"}, {"br", "32"}});
                   }),
                   "br: is set twice"));
    CHECK(contains(message_of<UsageError>([&] { with(base, {{"seq", "0"}}); }), "--seq 0"));
}

TEST_CASE("what is no variant is refused with an example of one", "[flags]") {
    for (const char* text : {"flash_v2:", "flash_v2:br", "flash_v2:br=", "flash_v2:=4", "flash_v2:br=4,", "flash_v2@",
                             "flash_v2:@H100", "flash_v2:colour=1", "bc=32,64"})
        CHECK(contains(message_of<UsageError>([&] { variant_from(text); }), "try flash_v2:br=64,bc=64"));
    CHECK(contains(message_of<UsageError>([&] { variant_from("flash_v9:br=4"); }), "did you mean flash_v1"));
    CHECK(contains(message_of<UsageError>([&] { variant_from("bc=32,64"); }), "--vary"));
}
