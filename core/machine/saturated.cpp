#include "core/machine/saturated.hpp"

#include <cmath>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"

namespace tilescope {

void Saturated::look_at(const char* tile, Dtype type, const float* x, Index n) {
    if (size_of(type) > 1) return;
    const float most = largest(type);
    Count beyond = 0;
    for (Index k = 0; k < n; ++k) beyond += std::abs(x[k]) > most ? 1 : 0;
    if (beyond > 0) add(tile, type, beyond);
}

void Saturated::add(const Saturated& more) {
    for (const Tiles& t : more.tiles_) add(t.name, t.type, t.numbers);
}

void Saturated::add(const std::string& tile, Dtype type, Count numbers) {
    auto at = tiles_.begin();
    while (at != tiles_.end() && (at->name < tile || (at->name == tile && at->type < type))) ++at;
    if (at == tiles_.end() || at->name != tile || at->type != type) at = tiles_.insert(at, {tile, type, 0});
    at->numbers += numbers;
}

std::vector<std::string> Saturated::sentences() const {
    std::vector<std::string> all;
    for (const Tiles& t : tiles_)
        all.push_back(text::message("saturated.tile", t.name, text::grouped(t.numbers), text::number(largest(t.type)),
                                    name_of(t.type)));
    return all;
}

}  // namespace tilescope
