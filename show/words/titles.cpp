#include "show/words/titles.hpp"

#include <algorithm>

#include "lab/workload/patterns.hpp"

namespace tilescope::show {

std::string title_of(const Session& session, Index position) {
    const lab::Options& o = session.setup().options;
    const bool by_hand = !o.q.empty() || !o.k.empty() || !o.x.empty();
    if (by_hand || o.distribution != lab::name_of(lab::Distribution::sentence)) return "";
    return lab::sentence_word(position);
}

std::string longest_title(const Session& session, Index positions) {
    std::string longest;
    for (Index k = 0; k < std::min(positions, lab::sentence_length()); ++k)
        if (std::string word = title_of(session, k); word.size() > longest.size()) longest = std::move(word);
    return longest;
}

}  // namespace tilescope::show
