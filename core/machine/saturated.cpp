#include "core/machine/saturated.hpp"

#include <cmath>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"

namespace tilescope {

void Saturated::look_at(const char* tile, Dtype type, const float* x, Index n, const char* product) {
    if (size_of(type) > 1) return;
    const float most = largest(type);
    Count beyond = 0;
    for (Index k = 0; k < n; ++k) beyond += std::abs(x[k]) > most ? 1 : 0;
    if (beyond > 0) add({tile, type, product, beyond});
}

void Saturated::add(const Saturated& more) {
    for (const Tiles& t : more.tiles_) add(t);
}

void Saturated::add(const Tiles& more) {
    auto at = tiles_.begin();
    while (at != tiles_.end() && at->place() < more.place()) ++at;
    if (at == tiles_.end() || at->place() != more.place())
        tiles_.insert(at, more);
    else
        at->numbers += more.numbers;
}

std::vector<std::string> Saturated::sentences() const {
    std::vector<std::string> all;
    for (const Tiles& t : tiles_) {
        const std::string numbers = text::grouped(t.numbers), most = text::number(largest(t.type)),
                          type = name_of(t.type);
        all.push_back(t.product.empty() ? text::message("saturated.tile", t.name, numbers, most, type)
                                        : text::message("saturated.operand", t.name, numbers, most, type, t.product));
    }
    return all;
}

}  // namespace tilescope
