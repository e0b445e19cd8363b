#include "algorithms/contract/registry.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "algorithms/contract/announce.hpp"
#include "core/machine/error.hpp"
#include "core/machine/sorted.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"

namespace tilescope {
using text::message;
namespace {

bool is_a_word(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return c < 128 && (std::isalnum(c) || c == '_' || c == '-');
    });
}

const Algorithm* named(const std::deque<Algorithm>& all, std::string_view name) {
    const auto same = [&](const Algorithm& a) {
        return a.name == name || (a.lineage.formerly && a.lineage.formerly == name);
    };
    const auto found = std::find_if(all.begin(), all.end(), same);
    return found == all.end() ? nullptr : &*found;
}

void check(const std::deque<Algorithm>& all, const Algorithm& a, const char* file) {
    const auto fail = [&](const std::string& what) {
        throw UsageError(message("registry.refused", text::shown(file), what));
    };
    if (!is_a_word(a.name)) fail(message("registry.no_name", text::shown(a.name)));
    if (const Algorithm* known = named(all, a.name); known && !known->lineage.file)
        fail(message("registry.name_is_taken", a.name));
    if (!a.computes) fail(message("registry.computes_nothing", a.name));
    if (!a.run) fail(message("registry.no_program", a.name));
    for (std::size_t k = 1; k < a.code.size(); ++k)
        if (a.code[k].number <= a.code[k - 1].number)
            fail(message("registry.lines_out_of_order", a.name, std::to_string(a.code[k].number),
                         std::to_string(a.code[k - 1].number)));
}

const Algorithm& add(std::deque<Algorithm>& all, Algorithm a, const char* file) {
    check(all, a, file);
    a.lineage.file = file;
    if (!a.tensors) a.tensors = [of = a.computes](const Problem& p, const Tiling&) { return of->tensors(p); };
    for (Algorithm& known : all)
        if (known.name == std::string_view(a.name)) return known = std::move(a);
    return all.emplace_back(std::move(a));
}

/// The folders' algorithms by computation and rung, then those that this program itself announces.
std::deque<Algorithm> first_ones() {
    std::vector<Algorithm> a = in_folders();
    sort_stably(a, [](const Algorithm& x, const Algorithm& y) {
        const auto place = [](const Algorithm& each) {
            const auto& order = computations();
            return std::pair(std::find(order.begin(), order.end(), each.computes), each.lineage.rung);
        };
        return place(x) < place(y);
    });
    std::deque<Algorithm> all(std::make_move_iterator(a.begin()), std::make_move_iterator(a.end()));
    for (const Announcement& own : announced()) add(all, own.describe(), own.file);
    return all;
}

std::deque<Algorithm>& registry() {
    static std::deque<Algorithm> all = first_ones();
    return all;
}

}  // namespace

const std::deque<Algorithm>& algorithms() { return registry(); }

const Algorithm* find_algorithm(std::string_view name) { return named(registry(), name); }

std::vector<const Knob*> knobs_of_roles() {
    std::vector<const Knob*> all;
    for (const Algorithm& a : algorithms())
        for (const Knob& k : a.knobs) {
            const auto same = [&](const Knob* known) { return known->value == k.value; };
            if (!k.is_size && std::none_of(all.begin(), all.end(), same)) all.push_back(&k);
        }
    return all;
}

const Algorithm& add_algorithm(Algorithm a, const char* file) { return add(registry(), std::move(a), file); }

std::vector<std::string> names_of(const std::vector<const Algorithm*>& algorithms) {
    std::vector<std::string> names;
    for (const Algorithm* a : algorithms) names.emplace_back(a->name);
    return names;
}

}  // namespace tilescope
