// Text as a terminal shows it: columns, not bytes.
#include "core/text/words.hpp"

#include "core/text/characters.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope;

TEST_CASE("the width of a text is in columns of a terminal", "[text]") {
    CHECK(text::width("") == 0);
    CHECK(text::width("abc") == 3);
    CHECK(text::width("−∞ × Kᵀ…") == 8);
    CHECK(text::width("注意力, 分块") == 12);
    CHECK(text::width("ソフトマックス") == 14);
    CHECK(text::width("주의") == 4);
    CHECK(text::width("е\u0301") == 1);  // Cyrillic, with an accent of its own
    CHECK(text::width("（Ｑ）") == 6);
    CHECK(text::width("\xff") == 1);
    CHECK(text::width("\xe4\xb8x") == 3);  // no character, and then x
}

TEST_CASE("names are listed as in a sentence", "[text]") {
    CHECK(text::listed({}).empty());
    CHECK(text::listed({"K"}) == "K");
    CHECK(text::listed({"K", "V"}) == "K and V");
    CHECK(text::listed({"K", "V", "O"}) == "K, V and O");
    CHECK(text::alternatives({"f32", "f16", "bf16"}) == "f32, f16 or bf16");
}

TEST_CASE("text is wrapped between words", "[text]") {
    CHECK(text::wrapped("", 10).empty());
    CHECK(text::wrapped("a bc def", 8) == std::vector<std::string>{"a bc def"});
    CHECK(text::wrapped("a bc def", 7) == std::vector<std::string>{"a bc", "def"});
    CHECK(text::wrapped("−− ×× ∞∞", 5) == std::vector<std::string>{"−− ××", "∞∞"});
    CHECK(text::wrapped("a muchtoolong b", 4) == std::vector<std::string>{"a", "muchtoolong", "b"});
}

TEST_CASE("Chinese and Japanese are wrapped between characters, but not before their punctuation", "[text]") {
    using Lines = std::vector<std::string>;
    CHECK(text::wrapped("注意力机制", 6) == Lines{"注意力", "机制"});
    CHECK(text::wrapped("注意力机制", 7) == Lines{"注意力", "机制"});
    CHECK(text::wrapped("注意力，机制", 6) == Lines{"注意", "力，机", "制"});
    CHECK(text::wrapped("见《注意力》", 6) == Lines{"见《注", "意力》"});
    CHECK(text::wrapped("见了《注意》", 6) == Lines{"见了", "《注", "意》"});
    CHECK(text::wrapped("用FlashAttention计算K和V", 14) == Lines{"用", "FlashAttention", "计算K和V"});
    CHECK(text::wrapped("tiles 的大小 of Q", 9) == Lines{"tiles 的", "大小 of Q"});
    CHECK_FALSE(text::may_break(U' ', U'中'));
    CHECK_FALSE(text::may_break(U'中', U' '));
    CHECK(text::wrapped("キャッシュ", 4) == Lines{"キャッ", "シュ"});   // small kana stay with the one before
    CHECK(text::wrapped("메모리 계층", 8) == Lines{"메모리", "계층"});  // Korean: at spaces
    CHECK(text::wrapped("память и кэш", 8) == Lines{"память и", "кэш"});
}

TEST_CASE("what is printable is shown as it is", "[text]") {
    for (const char* plain : {"a", "flash_v2", "/tmp/a b.npy", "it's", "\"64\"", "K\u1d40 \u00d7 \u221e", "\\x1b"}) {
        CHECK(text::printable(plain));
        CHECK(text::shown(plain) == plain);
    }
}

TEST_CASE("what is not printable is shown escaped and in quotes", "[text]") {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"", "''"},
        {" 8", "' 8'"},
        {"8 ", "'8 '"},
        {"a\nb\r\t", R"('a\nb\r\t')"},
        {"\x1b[31mred\x07\x7f", R"('\x1b[31mred\x07\x7f')"},
        {std::string("a\0b", 3), R"('a\x00b')"},
        {"it's \\ \n", R"('it\'s \\ \n')"},
        {"q\xe9.npy", R"('q\xe9.npy')"},
        {"\xc0\xaf\xed\xa0\x80", R"('\xc0\xaf\xed\xa0\x80')"},          // overlong; half of a surrogate pair
        {"\xf4\x90\x80\x80\xff\xc3", R"('\xf4\x90\x80\x80\xff\xc3')"},  // beyond the last; never valid; cut off
        {"\u009b31m", R"('\u{9b}31m')"},                                // an escape sequence in one character
        {"a\u202eb\ufeff", R"('a\u{202e}b\u{feff}')"},
        {"\U000e0041", R"('\u{e0041}')"},
    };
    for (const auto& [given, shown] : cases) {
        CHECK(text::shown(given) == shown);
        CHECK(text::printable(shown));
    }
    CHECK(!text::printable("\n"));
    CHECK(text::printable("a\U0001f600"));
}

TEST_CASE("long text is shown by its two ends", "[text]") {
    const auto repeated = [](const std::string& part, std::size_t n) {
        std::string all;
        for (std::size_t k = 0; k < n; ++k) all += part;
        return all;
    };
    CHECK(text::shown(repeated("x", 100)) == repeated("x", 100));
    CHECK(text::shown(repeated("\u221e", 100)) == repeated("\u221e", 100));
    CHECK(text::shown(repeated("a", 60) + repeated("z", 100'000)) ==
          '\'' + repeated("a", 40) + "..." + repeated("z", 17) + '\'');
    CHECK(text::shown(repeated("x", 101), 200) == repeated("x", 101));
    CHECK(text::shown(repeated("\n", 51)) == '\'' + repeated("\\n", 20) + "..." + repeated("\\n", 8) + '\'');
    CHECK(text::shown(repeated("\xff", 1000)).size() == 2 + 40 + 3 + 16);
    CHECK(text::shown("e" + repeated("\u0301", 100'000)).size() < 200);  // marks have no width
}

TEST_CASE("any bytes are shown in one short printable piece", "[text]") {
    std::uint32_t state = 1;
    const auto next = [&state] { return (state = state * 1664525u + 1013904223u) >> 24; };
    for (int round = 0; round < 20'000; ++round) {
        std::string bytes;
        for (std::uint32_t n = next() % 80; n > 0; --n) bytes += static_cast<char>(next());
        const std::string shown = text::shown(bytes);
        CAPTURE(bytes);
        REQUIRE(text::printable(shown));
        REQUIRE(text::width(shown) <= 102);
    }
}

TEST_CASE("a short name stands for the equal one, or for all that begin like it", "[text]") {
    const std::vector<std::string> names = {"gpt-2", "gpt-2-large", "H100-SXM"};
    CHECK(text::meant("GPT 2", names) == std::vector<std::string>{"gpt-2"});
    CHECK(text::meant("gpt", names) == std::vector<std::string>{"gpt-2", "gpt-2-large"});
    CHECK(text::meant("h_100", names) == std::vector<std::string>{"H100-SXM"});
    CHECK(text::meant("100", names).empty());
    CHECK(text::meant("", names).empty());
}

TEST_CASE("sentences that have no room go from the last one on", "[text]") {
    CHECK(text::without_last_sentence("K comes 1.5 times. V stays. ") == "K comes 1.5 times.");
    CHECK(text::without_last_sentence("K comes 1.5 times.").empty());
    CHECK(text::without_last_sentence("").empty());
}

TEST_CASE("a name is suggested where few edits for its length are between, and nowhere else", "[text]") {
    const std::vector<std::string> names = {"flash_v1", "--heads",  "--dim",   "--window-left", "H100-SXM", "RTX-4090",
                                            "V100",     "l2_bytes", "dropout", "exp_per_clk",   "T4",       "toy"};
    const auto nearest = [&](const char* typed) { return text::nearest(typed, names).value_or("nothing"); };
    CHECK(nearest("flash_v9") == "flash_v1");
    CHECK(nearest("falsh_v1") == "flash_v1");  // two exchanged neighbours are one edit
    CHECK(nearest("--haeds") == "--heads");
    CHECK(nearest("--head-dim") == "--dim");  // a word of the name
    CHECK(nearest("--window") == "--window-left");
    CHECK(nearest("4090") == "RTX-4090");
    CHECK(nearest("v100 sxm2") == "V100");
    CHECK(nearest("l2") == "l2_bytes");
    CHECK(nearest("dropuot") == "dropout");
    CHECK(nearest("tony") == "toy");
    for (const char* far : {"", "x", "L40S", "MI300X", "device_count", "--sliding-window", "--varlen", "--ring",
                            "nothing", "attention", "fp8", "sequence_parallel"}) {
        CAPTURE(far);
        CHECK(nearest(far) == "nothing");
    }
    // The limit: one edit for every three letters of the longer word.
    const std::vector<std::string> word = {"abcdefgh"};
    CHECK(text::nearest("xbcxefxh", word));
    CHECK(!text::nearest("xbcxxfxh", word));
    CHECK(text::did_you_mean("; ", "abcdefg", word) == "; did you mean abcdefgh?");
    CHECK(text::did_you_mean("; ", "zzz", word, ".") == ".");
}
