// Random numbers that depend on a seed, a name and a position alone.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

namespace tilescope::lab {

/// A counter-based generator: the n-th number of a stream, without the ones before it. (The finaliser of SplitMix64,
/// Steele, Lea & Flood 2014.)
class Stream {
  public:
    Stream(std::uint64_t seed, std::string_view name) : key_(mix(seed + 0x9e3779b97f4a7c15u)) {
        for (const char c : name) key_ = mix(key_ ^ static_cast<unsigned char>(c));
    }
    /// Uniform in (0, 1).
    double uniform(std::uint64_t n) const { return (static_cast<double>(bits(n) >> 11) + 0.5) * 0x1p-53; }
    /// Standard normal, by Box and Muller; uses numbers 2n and 2n + 1.
    double normal(std::uint64_t n) const {
        return std::sqrt(-2 * std::log(uniform(2 * n))) * std::cos(2 * std::numbers::pi * uniform(2 * n + 1));
    }

  private:
    static std::uint64_t mix(std::uint64_t z) {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    std::uint64_t bits(std::uint64_t n) const { return mix(key_ + (n + 1) * 0x9e3779b97f4a7c15u); }

    std::uint64_t key_;
};

}  // namespace tilescope::lab
