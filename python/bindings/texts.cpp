#include "python/bindings/texts.hpp"

#include <initializer_list>
#include <vector>

#include "algorithms/contract/feature_names.hpp"
#include "core/machine/dtypes.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"

namespace tilescope::python {
using text::message;
namespace {

template <class T>
struct Word {
    const char* word;
    T value;
};

[[noreturn]] void refuse(const char* field, const std::string& word, const std::vector<std::string>& words) {
    throw BadValue(field, text::shown(word), message("given.one_of", text::join(words, ", ")),
                   text::nearest(word, words).value_or(words[0]));
}

template <class T>
T named(const char* field, const std::string& word, std::initializer_list<Word<T>> all) {
    std::vector<std::string> words;
    for (const auto& each : all) {
        if (word == each.word) return each.value;
        words.emplace_back(each.word);
    }
    refuse(field, word, words);
}

}  // namespace

Dtype dtype_of(const std::string& word) {
    std::vector<std::string> words;
    for (const Dtype type : all_dtypes) {
        if (word == name_of(type)) return type;
        words.emplace_back(name_of(type));
    }
    refuse("dtype", word, words);
}

Space space_of(const std::string& word) {
    return named<Space>("space", word, {{"sram", Space::sram}, {"registers", Space::registers}});
}

Trans trans_of(const std::string& word) {
    return named<Trans>("trans", word, {{"none", Trans::none}, {"a", Trans::a}, {"b", Trans::b}});
}

Role role_of(const std::string& word) {
    return named<Role>("role", word, {{"input", Role::input}, {"output", Role::output}, {"scratch", Role::scratch}});
}

Meaning meaning_of(const std::string& word) {
    if (const auto meaning = meaning_from(word)) return *meaning;
    throw BadValue("meaning", text::shown(word),
                   message("given.one_of", "query, key, value, output, score, statistic, gradient, bias, other"),
                   "other");
}

Sliced sliced_of(const std::string& word) {
    return named<Sliced>("sliced", word,
                         {{"by_head", Sliced::by_head},
                          {"by_kv_head", Sliced::by_kv_head},
                          {"by_batch", Sliced::by_batch},
                          {"whole", Sliced::whole}});
}

Feature feature_of(const std::string& word) {
    std::vector<std::string> words;
    for (const Feature f : all_features) {
        if (word == key_of(f)) return f;
        words.emplace_back(key_of(f));
    }
    refuse("features", word, words);
}

const Computation& computation_of(const std::string& word) {
    std::vector<std::string> words;
    for (const Computation* c : computations()) {
        if (word == c->name) return *c;
        words.emplace_back(c->name);
    }
    refuse("computes", word, words);
}

}  // namespace tilescope::python
