#include "algorithms/contract/registry.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/text/words.hpp"

namespace tilescope {
namespace {

std::deque<Algorithm>& registry() {
    static std::deque<Algorithm> all = [] {
        std::vector<Algorithm> a = in_folders();
        std::sort(a.begin(), a.end(), [](const Algorithm& x, const Algorithm& y) {
            const auto place = [](const Algorithm& each) {
                const auto& order = computations();
                return std::pair(std::find(order.begin(), order.end(), each.computes), each.rung);
            };
            return place(x) < place(y);
        });
        return std::deque<Algorithm>(std::make_move_iterator(a.begin()), std::make_move_iterator(a.end()));
    }();
    return all;
}

bool is_a_word(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return c < 128 && (std::isalnum(c) || c == '_' || c == '-');
    });
}

void check(const Algorithm& a, const char* file) {
    const auto fail = [&](const std::string& what) { throw UsageError(std::string(file) + ": " + what); };
    if (!is_a_word(a.name)) fail("an algorithm's name is letters, digits, _ and -, not " + text::shown(a.name));
    const std::string who = std::string("algorithm ") + a.name;
    if (const Algorithm* known = find_algorithm(a.name); known && !known->file)
        fail(who + ": there is one by that name already; give yours another");
    if (!a.computes) fail(who + " does not say what it computes; try .computes = &computation::attention");
    if (!a.run) fail(who + " has no program; set .run");
    for (std::size_t k = 1; k < a.code.size(); ++k)
        if (a.code[k].number <= a.code[k - 1].number)
            fail(who + ": line " + std::to_string(a.code[k].number) + " of its code comes after line " +
                 std::to_string(a.code[k - 1].number) + "; number them upwards");
}

}  // namespace

const std::deque<Algorithm>& algorithms() { return registry(); }

const Algorithm& add_algorithm(Algorithm a, const char* file) {
    check(a, file);
    a.file = file;
    if (!a.tensors) a.tensors = [of = a.computes](const Problem& p, const Tiling&) { return of->tensors(p); };
    for (Algorithm& known : registry())
        if (known.name == std::string_view(a.name)) return known = std::move(a);
    return registry().emplace_back(std::move(a));
}

}  // namespace tilescope
