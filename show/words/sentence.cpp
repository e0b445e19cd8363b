#include "show/words/sentence.hpp"

namespace tilescope::show {

Sentence Marks::in(std::string_view words) const {
    Sentence all;
    const auto add = [&](const Phrase& p) {
        if (!p.hue && !all.empty() && !all.back().hue)
            all.back().text += p.text;
        else if (!p.text.empty())
            all.push_back(p);
    };
    for (const char c : words) {
        const auto mark = static_cast<unsigned char>(c);
        if (mark == 0 || mark > marked_.size())
            add({std::string(1, c)});
        else
            for (const Phrase& p : marked_[mark - 1u]) add(p);
    }
    return all;
}

Sentence listed(const std::vector<Phrase>& names) {
    Sentence all;
    for (const Phrase& name : names)
        all = all.empty() ? Sentence{name} : sentence(&name == &names.back() ? "list.and" : "list.more", all, name);
    return all;
}

}  // namespace tilescope::show
