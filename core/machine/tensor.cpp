#include <array>

#include "core/machine/tensor_info.hpp"

namespace tilescope {
namespace {

constexpr std::array meanings = {"query", "key", "value", "output", "score", "statistic", "gradient", "bias", "other"};

}  // namespace

const char* name_of(Role role) {
    constexpr const char* names[] = {"input", "output", "scratch"};
    return names[static_cast<int>(role)];
}

const char* name_of(Meaning meaning) { return meanings[static_cast<std::size_t>(meaning)]; }

std::optional<Meaning> meaning_from(std::string_view name) {
    for (std::size_t k = 0; k < meanings.size(); ++k)
        if (name == meanings[k]) return static_cast<Meaning>(k);
    return std::nullopt;
}

Hbm::Hbm(TensorId id, const TensorInfo& t)
    : name_(t.name.c_str()),
      slices_(t.slices),
      rows_(t.rows),
      cols_(t.cols),
      heads_per_slice_(t.heads_per_slice),
      id_(id),
      dtype_(t.dtype),
      meaning_(t.meaning),
      in_pages_(t.pages) {}

}  // namespace tilescope
