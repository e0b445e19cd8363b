// Sentences whose pieces have hues.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/machine/tensor.hpp"

namespace tilescope::show {

/// A piece of a sentence. `hue`: where the piece is a tensor's name, the meaning that decides its colour.
struct Phrase {
    std::string text;
    std::optional<Meaning> hue = std::nullopt;

    friend bool operator==(const Phrase&, const Phrase&) = default;
};
using Sentence = std::vector<Phrase>;

}  // namespace tilescope::show
