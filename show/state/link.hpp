// What a link says: the words of a command line, in the part of a page's address that follows #.
#pragma once

#include <string>
#include <vector>

#include "show/state/scenes.hpp"

namespace tilescope::show {

/// Words joined by +, in UTF-8 or whatever bytes they have; all but A-Z a-z 0-9 - _ . ~ , : = / as %XX.
std::string fragment_of(const std::vector<std::string>& words);
/// The words of a fragment. A % without two hex digits after it stays as it is.
std::vector<std::string> words_of_fragment(const std::string& fragment);

struct LinkWords {
    std::vector<std::string> words;
    std::vector<std::string> left_out;  ///< flags that name files, which a link does not bring along
};
/// The words that show this state again elsewhere: where possible as changes of the scene that the state began with.
LinkWords link_words(const State& state, const Scene* scene = nullptr);
/// "Link copied", and what it leaves out.
std::string link_copied_text(const LinkWords& link);

}  // namespace tilescope::show
