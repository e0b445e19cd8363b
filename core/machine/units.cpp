#include "core/machine/units.hpp"

#include <cstddef>

namespace tilescope {

Index Tiles::number_from(Index position) const {
    if (!some_) return std::clamp(position, first_, last_);
    const auto begin = some_->begin() + static_cast<std::ptrdiff_t>(first_),
               end = some_->begin() + static_cast<std::ptrdiff_t>(last_);
    return first_ + (std::lower_bound(begin, end, position) - begin);
}

Span Tiles::touched(Span span) const {
    const Index first = number_from(span.begin / size_);
    const Index last = span.size > 0 ? number_from(ceil_div(span.end(), size_)) : first;
    return {first - first_, last - first};
}

Tiles Tiles::upto(Index k) const {
    Tiles t = *this;
    t.last_ = number_from(k);
    return t;
}

Tiles Tiles::from(Index k) const {
    Tiles t = *this;
    t.first_ = number_from(k);
    return t;
}

Tiles Tiles::only(const std::function<bool(Span)>& wanted) const {
    auto some = std::make_shared<std::vector<Index>>();
    for (Index k = 0; k < count(); ++k)
        if (wanted((*this)[k])) some->push_back(position(first_ + k));
    Tiles t = *this;
    t.first_ = 0, t.last_ = static_cast<Index>(some->size()), t.some_ = std::move(some);
    return t;
}

Tiles Tiles::by_grade() const {
    Tiles t = *this;
    t.graded_ = true;
    return t;
}

}  // namespace tilescope
