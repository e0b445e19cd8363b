// Choices for tests: endless ones from a seed, or as many as given bytes are enough for.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <iterator>
#include <random>
#include <span>

namespace tilescope {

/// A number from the environment, which scripts/soak sets, or a default.
inline std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

class Choices {
  public:
    explicit Choices(std::uint64_t seed) : random_(seed), endless_(true) {}
    /// Each choice consumes as many bytes as its number of alternatives needs. When no byte is left, every choice is 0.
    explicit Choices(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    bool over() const { return !endless_ && bytes_.empty(); }
    /// A number from 0 to n - 1.
    std::uint64_t below(std::uint64_t n) {
        if (endless_) return random_() % n;
        std::uint64_t value = 0;
        for (std::uint64_t reach = 1; reach < n && !bytes_.empty(); reach *= 256) {
            value = value * 256 + bytes_.front();
            bytes_ = bytes_.subspan(1);
            if (reach >= std::uint64_t{1} << 56) break;
        }
        return value % n;
    }
    bool one_in(std::uint64_t n) { return below(n) == 0; }
    template <class List>
    const auto& of(const List& list) {
        return *std::next(std::begin(list), static_cast<std::ptrdiff_t>(below(std::size(list))));
    }
    template <class T>
    T of(std::initializer_list<T> list) {
        return *(list.begin() + below(list.size()));
    }

  private:
    std::mt19937_64 random_;
    std::span<const std::uint8_t> bytes_;
    const bool endless_ = false;
};

}  // namespace tilescope
