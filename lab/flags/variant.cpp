#include "lab/flags/variant.hpp"

#include <algorithm>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/flags/algorithm_named.hpp"
#include "lab/flags/like.hpp"
#include "lab/own/own.hpp"

namespace tilescope::lab {
using text::message;
namespace {

constexpr const char* label_key = "label";

/// Throws the message `id`, whose first argument is the whole variant.
template <class... A>
[[noreturn]] void refuse_variant(const char* id, const std::string& text, const A&... more) {
    throw UsageError(message(id, text::shown(text), more...));
}

/// The settings of a list such as "br=64,bc=64"; `text`: the whole variant, for messages.
Settings settings_in(const std::string& list, const std::string& text) {
    Settings settings;
    for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        const std::string one = list.substr(begin, end - begin);
        const std::size_t equals = one.find('=');
        if (equals == std::string::npos || equals == 0 || equals + 1 == one.size())
            refuse_variant("variant.no_settings", text);
        settings.emplace_back(one.substr(0, equals), one.substr(equals + 1));
        begin = end + 1;
    }
    return settings;
}

bool is_setting(const std::string& key) {
    const auto keys = settable_flags();
    return key == label_key || std::find(keys.begin(), keys.end(), key) != keys.end();
}

/// The title of a variant: "FlashAttention-2, br=64 on H100".
std::string title_of(const Variant& v, const Settings& settings) {
    const Algorithm& algorithm = *v.algorithm;
    std::string title = !v.like.empty() ? v.like : *algorithm.paper.title ? algorithm.paper.title : algorithm.name;
    for (const auto& [key, value] : settings)
        title = key == "gpu" ? message("variant.on_gpu", title, value) : message("list.more", title, key + "=" + value);
    return text::shown(title);
}

}  // namespace

Options with(Options options, const Settings& settings) {
    for (auto s = settings.begin(); s != settings.end(); ++s) {
        const auto same = [&](const auto& earlier) { return earlier.first == s->first; };
        if (const auto earlier = std::find_if(settings.begin(), s, same); earlier != s)
            throw UsageError(
                message("variant.set_twice", s->first, text::shown(earlier->second), text::shown(s->second)));
        set_flag(options, s->first, s->second);
    }
    return options;
}

std::string algorithm_in(const std::string& variant) {
    if (const auto own = own_name_in(variant)) return variant.substr(0, own->size);
    const std::size_t end = std::min(variant.find_first_of(":@"), variant.size());
    const Library* const library = find_library(variant.substr(0, end));
    if (!library || end == variant.size() || variant[end] == '@') return variant.substr(0, end);
    // LIBRARY-VERSION:BACKEND, or LIBRARY-VERSION:KEY=VALUE.
    const std::string more = variant.substr(0, variant.find_first_of(":@", end + 1));
    return more.find('=') == std::string::npos ? more : variant.substr(0, end);
}

Variant variant_from(const std::string& text) {
    const std::string name = algorithm_in(text);
    if (name.find('=') != std::string::npos) refuse_variant("variant.no_algorithm", text);
    Variant v{nullptr, {}, ""};
    if (names_kernel(name)) v.like = name;
    v.algorithm = v.like.empty() ? &algorithm_named(name) : &program_of(v.like);
    const std::size_t at = text.find('@', name.size());
    if (text.size() > name.size() && text[name.size()] == ':')
        v.settings = settings_in(text.substr(name.size() + 1, at - std::min(at, name.size() + 1)), text);
    if (at != std::string::npos) {
        if (at + 1 == text.size()) refuse_variant("variant.no_gpu", text);
        const std::size_t colon = text.find(':', at), equals = text.find('=', std::min(colon, text.size()));
        if (equals != std::string::npos && is_setting(text.substr(colon + 1, equals - colon - 1)))
            refuse_variant("variant.gpu_before_settings", text,
                           text::shown(text.substr(0, at) + text.substr(colon) + text.substr(at, colon - at)));
        v.settings.emplace_back("gpu", text.substr(at + 1));
    }
    const std::string first = v.like.empty() ? v.algorithm->name : v.like;
    v.label = text::shown(first + text.substr(name.size()));
    for (const auto& [key, value] : v.settings)
        if (!is_setting(key))
            refuse_variant("variant.unknown_key", text, text::shown(key), text::join(settable_flags(), ", "));
    std::string named;
    for (const auto& [key, value] : v.settings)
        if (key == label_key) named = text::shown(value);
    std::erase_if(v.settings, [&](const auto& setting) { return setting.first == label_key; });
    v.title = named.empty() ? title_of(v, v.settings) : named;
    if (!named.empty()) v.label = named;
    v.typed = (v.like.empty() ? typed_name(*v.algorithm) : v.like) + text.substr(name.size());
    return v;
}

}  // namespace tilescope::lab
