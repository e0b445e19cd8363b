#include "core/machine/operation.hpp"

#include <algorithm>

namespace tilescope {

const char* name_of(Kind kind) {
    constexpr const char* names[] = {"launch", "block_begin", "block_end", "alloc", "release",
                                     "load",   "store",       "product",   "map",   "reduce"};
    return names[static_cast<int>(kind)];
}

const Operation* find_operation(std::string_view name) {
    const auto all = operations();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Operation* o) { return o->name == name; });
    return found == all.end() ? nullptr : *found;
}

}  // namespace tilescope
