#include "show/state/link.hpp"

#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "core/text/message.hpp"
#include "core/text/words.hpp"

namespace tilescope::show {
using text::message;
namespace {

constexpr std::string_view plain = "-_.~,:=/";

bool stays(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || plain.find(c) != plain.npos; }

/// The value of a hex digit; -1 for any other character.
int hex_digit(char c) {
    constexpr std::string_view digits = "0123456789abcdef";
    const std::size_t k = digits.find(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    return c != 0 && k != digits.npos ? static_cast<int>(k) : -1;
}

/// The state without the files that it names. Their flags are added to `left_out`.
State without_files(State state, std::vector<std::string>& left_out) {
    lab::Options& o = state.setup.options;
    const std::array<std::pair<std::string, std::string*>, 9> files{
        {{"--q", &o.q},
         {"--k", &o.k},
         {"--v", &o.v},
         {"--x", &o.x},
         {"--do", &o.d_o},
         {"--out", &o.out},
         {"--bias-file", &o.bias_file},
         {"--bias2-file", &o.bias2_file},
         {message("link.recording"), &state.setup.recording}}};
    for (const auto& [flag, path] : files)
        if (!path->empty()) left_out.push_back(flag), path->clear();
    if (o.gpu.ends_with(".json") || o.gpu.find('/') != o.gpu.npos)
        left_out.emplace_back("--gpu"), o.gpu = lab::Options().gpu;
    if (o.block_mask.ends_with(".npy") || o.block_mask.ends_with(".txt"))
        left_out.emplace_back("--block-mask"), o.block_mask.clear(), o.mask_block.clear();
    return state;
}

}  // namespace

std::string fragment_of(const std::vector<std::string>& words) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string fragment;
    for (const std::string& word : words) {
        if (!fragment.empty()) fragment += '+';
        for (const char c : word) {
            const auto byte = static_cast<unsigned char>(c);
            if (stays(c))
                fragment += c;
            else
                fragment += {'%', digits[byte / 16], digits[byte % 16]};
        }
    }
    return fragment;
}

std::vector<std::string> words_of_fragment(const std::string& fragment) {
    std::vector<std::string> words;
    std::string word;
    for (std::size_t k = 0; k <= fragment.size(); ++k) {
        if (k == fragment.size() || fragment[k] == '+') {
            if (!word.empty()) words.push_back(std::exchange(word, {}));
            continue;
        }
        const int high = fragment[k] == '%' && k + 2 < fragment.size() ? hex_digit(fragment[k + 1]) : -1;
        const int low = high >= 0 ? hex_digit(fragment[k + 2]) : -1;
        if (low < 0) {
            word += fragment[k];
            continue;
        }
        word += static_cast<char>(16 * high + low);
        k += 2;
    }
    return words;
}

LinkWords link_words(const State& asked, const Scene* scene) {
    LinkWords link;
    const State state = without_files(asked, link.left_out);
    link.words = command_line(state);
    if (!scene || scene_number(*scene) < 0) return link;
    // The scene, followed by nothing, by the position, or by all words of the state: the first of the three that gives
    // exactly this state.
    const std::vector<std::string> with_scene = {"--scene", scene->name};
    std::vector<std::vector<std::string>> ways = {{}};
    if (state.step != scene->state.step) ways.push_back({"--step", std::to_string(state.step)});
    ways.push_back(link.words);
    for (const auto& way : ways) {
        if (!(changed(scene->state, way) == state)) continue;
        link.words = with_scene;
        link.words.insert(link.words.end(), way.begin(), way.end());
        break;
    }
    return link;
}

std::string link_copied_text(const LinkWords& link) {
    if (link.left_out.empty()) return message("link.copied");
    return message("link.copied_without", text::join(link.left_out, ", "));
}

}  // namespace tilescope::show
