#include "lab/own/own.hpp"

#include <deque>
#include <filesystem>
#include <map>

#include "algorithms/contract/registry.hpp"
#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/own/kinds.hpp"

namespace tilescope::lab {
using text::message;
namespace {

namespace fs = std::filesystem;

constexpr std::string_view endings[] = {".cpp", ".so", ".py"};

thread_local int only_loaded = 0;

/// The loaded algorithms, by the canonical path of their file.
std::map<std::string, std::vector<const Algorithm*>>& files() {
    static std::map<std::string, std::vector<const Algorithm*>> all;
    return all;
}

#ifdef __EMSCRIPTEN__
std::vector<const Algorithm*> load_new(const std::string& path) {
    throw UsageError(message("own.not_in_page", text::shown(path)));
}
#else
/// A copy of the text that stays until the program ends.
const char* kept(const std::string& file) {
    static std::deque<std::string> all;
    return all.emplace_back(file).c_str();
}

std::vector<const Algorithm*> load_compiled(const std::string& path, const char* file) {
    const Compiled first = compiled(path);
    try {
        return load_object(first.object, file);
    } catch (const NotOpened&) {
        if (!first.kept) throw;
    }
    return load_object(compiled(path, true).object, file);  // the object of an earlier compilation is damaged, or gone
}

std::vector<const Algorithm*> load_new(const std::string& path) {
    const char* const file = kept(path);
    try {
        if (path.ends_with(".so")) return load_object(path, file);
        keep_program(file, path);
        return path.ends_with(".cpp") ? load_compiled(path, file) : load_python(path, file);
    } catch (const NotOpened& e) {
        throw UsageError(message("own.not_loaded", text::shown(path), text::shown(e.why, 300)));
    }
}
#endif

}  // namespace

std::optional<OwnName> own_name_in(std::string_view text) {
    for (std::size_t k = 1; k < text.size(); ++k) {
        if (text[k] != '.') continue;
        for (const std::string_view ending : endings) {
            const std::size_t end = k + ending.size();
            if (!text.substr(k).starts_with(ending) || (end < text.size() && text[end] != ':' && text[end] != '@'))
                continue;
            const std::size_t after = std::min(text.find_first_of(":@", std::min(end + 1, text.size())), text.size());
            const std::string_view name = text.substr(std::min(end + 1, after), after - std::min(end + 1, after));
            const bool named = end < text.size() && text[end] == ':' && !name.empty() && name.find('=') == name.npos;
            return OwnName{std::string(text.substr(0, end)), named ? std::string(name) : "", named ? after : end};
        }
    }
    return std::nullopt;
}

std::vector<const Algorithm*> load(const std::string& path) {
    const std::string shown = text::shown(path);
    if (const auto own = own_name_in(path); !own || own->size != path.size() || !own->algorithm.empty())
        throw UsageError(message("own.no_program", shown));
#ifdef __EMSCRIPTEN__
    return load_new(path);  // throws, because the page has no such files
#endif
    std::error_code error;
    const fs::path place = fs::canonical(path, error);
    if (error) throw UsageError(message("own.no_such_file", shown));
    if (!fs::is_regular_file(place, error)) throw UsageError(message("own.no_file", shown));
    const auto known = files().find(place.string());
    if (known != files().end()) return known->second;
    if (only_loaded > 0) throw UsageError(message("own.not_trusted", shown));
    return files()[place.string()] = load_new(path);
}

const Algorithm& own_algorithm(const OwnName& name) {
    const std::vector<const Algorithm*> found = load(name.file);
    for (const Algorithm* a : found)
        if (name.algorithm.empty() ? found.size() == 1 : a->name == name.algorithm) return *a;
    const std::string file = text::shown(name.file), first = file + ':' + found[0]->name;
    const std::string names = text::listed(names_of(found));
    if (name.algorithm.empty()) throw UsageError(message("own.has_several", file, names, first));
    throw UsageError(message("own.has_others", file, text::shown(name.algorithm), names, first));
}

std::string typed_name(const Algorithm& algorithm) {
    if (!algorithm.lineage.file) return algorithm.name;
    const std::string file = (*algorithm.lineage.file == '-' ? "./" : "") + std::string(algorithm.lineage.file);
    int of_file = 0;
    for (const Algorithm& a : algorithms())
        of_file += a.lineage.file && std::string_view(a.lineage.file) == algorithm.lineage.file;
    return of_file > 1 ? file + ':' + algorithm.name : file;
}

std::string typed_name(const std::string& name) {
    const Algorithm* a = find_algorithm(name);
    return a ? typed_name(*a) : name;
}

const char* source_of(const Algorithm& a) {
    return *a.paper.source || !a.lineage.file ? a.paper.source : a.lineage.file;
}

OnlyLoaded::OnlyLoaded() { ++only_loaded; }
OnlyLoaded::~OnlyLoaded() { --only_loaded; }

}  // namespace tilescope::lab
