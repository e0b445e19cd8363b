#include "lab/flags/algorithm_named.hpp"

#include <vector>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/flags/like.hpp"
#include "lab/flags/variant.hpp"
#include "lab/gpu/asked.hpp"
#include "lab/own/own.hpp"

namespace tilescope::lab {
using text::message;

const Algorithm& algorithm_named(const std::string& name) {
    if (const Algorithm* a = find_algorithm(name)) return *a;
    if (const auto own = own_name_in(name); own && own->size == name.size()) return own_algorithm(*own);
    if (name.ends_with(".json") || (name.find('/') != std::string::npos && algorithm_in(name) == name))
        throw UsageError(message("request.algorithm_is_file", text::shown(name)));
    if (find_library(name.substr(0, name.find(':'))) && !names_kernel(name) && algorithm_in(name) == name)
        as_named_kernel("ALGO", name);  // throws: the library has no such backend
    if (algorithm_in(name) != name) {
        const Variant v = variant_from(name);
        std::string words = v.like.empty() ? v.algorithm->name : v.like;
        for (const auto& [key, value] : v.settings) words += " --" + key + "=" + text::shown(value);
        throw UsageError(message("request.algorithm_with_settings", v.label, words));
    }
    if (name.find('=') != std::string::npos) throw UsageError(message("request.algorithm_is_axis", text::shown(name)));
    if (const std::string instead = instead_of(Asked::algorithm, name); !instead.empty())
        throw UsageError(message("request.algorithm_is_elsewhere", text::shown(name), instead));
    if (names_kernel(name)) throw UsageError(message("request.algorithm_is_kernel", text::shown(name)));
    std::vector<std::string> names;
    for (const Algorithm& a : algorithms()) names.push_back(a.name);
    if (const auto near = text::nearest(name, names))
        throw UsageError(message("request.misspelt_algorithm", text::shown(name), *near));
    throw UsageError(message("request.unknown_algorithm", text::shown(name)));
}

std::string renaming(const std::string& name) {
    const Algorithm* a = find_algorithm(name);
    return a && a->name != name ? message("request.renamed", text::shown(name), a->name) : "";
}

}  // namespace tilescope::lab
