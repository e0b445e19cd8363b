#include "lab/workload/patterns.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "lab/system/stream.hpp"

namespace tilescope::lab {
namespace {

constexpr const char* words[] = {"the", "cat", "slept", "because", "it", "had", "caught", "mice"};
constexpr Index n_words = std::size(words);
/// The word that each word attends to. Only the first attends to a later word, so that a causal mask hides little.
constexpr Index focus[n_words] = {1, 1, 1, 2, 1, 4, 4, 6};
/// The words that are attended to. Each has its own group of columns of Q and K.
constexpr Index wanted_offsets[] = {1, 2, 4, 6};
constexpr Index groups = std::size(wanted_offsets);

Index word_at(Index position) { return ((position % n_words) + n_words) % n_words; }

/// An input, and how many queries and keys there are: the rows of Q and of K, or the rows and columns of X.
struct Shape {
    TensorDecl input;
    Index queries, keys;
    Stream stream;

    Index row(Index n) const { return n / input.cols % input.rows; }
    Index col(Index n) const { return n % input.cols; }
    bool first_key(Index n) const { return (input.meaning == Meaning::key ? row(n) : col(n)) == 0; }
    /// The position of a row among the keys: the last query is at the last key.
    Index position(Index row) const { return input.meaning == Meaning::key ? row : row + keys - queries; }
    double root_dim() const { return std::sqrt(static_cast<double>(input.cols)); }
    double uniform(Index n, double from, double to) const {
        return from + (to - from) * stream.uniform(static_cast<std::uint64_t>(n));
    }
    double normal(Index n) const { return stream.normal(static_cast<std::uint64_t>(n)); }
};

/// The number of columns in the part that has column `col`, if `cols` columns are cut into `parts` parts.
Index columns_beside(Index col, Index cols, Index parts) {
    const Index part = col * parts / cols;
    return ceil_div((part + 1) * cols, parts) - ceil_div(part * cols, parts);
}

double sentence(const Shape& s, Index n) {
    constexpr double logit = 3.5;
    const Index row = s.row(n), col = s.col(n), cols = s.input.cols;
    switch (s.input.meaning) {
        case Meaning::score:
            return word_at(col) == focus[word_at(s.position(row))] ? logit : 0;
        case Meaning::query:
        case Meaning::key: {
            const Index word = word_at(s.position(row)), wanted = s.input.meaning == Meaning::key ? word : focus[word];
            const auto beside = static_cast<double>(columns_beside(col, cols, groups));
            return wanted_offsets[col * groups / cols] == wanted ? std::sqrt(logit * s.root_dim() / beside) : 0;
        }
        default:  // V has a column for each word, or for some, so that O shows the weight of each word
            return cols >= n_words ? col * n_words / cols == word_at(row) : word_at(row) * cols / n_words == col;
    }
}

/// Positions as angles of several frequencies. Q K^T then sums cosines of differences of positions, and is largest
/// where the difference is 0.
double band(const Shape& s, Index n) {
    constexpr double logit = 16;
    const Index pairs = s.input.meaning == Meaning::score ? 8 : s.input.cols / 2, col = s.col(n);
    const Index frequencies = std::clamp<Index>(s.keys / 8, 1, std::clamp<Index>(pairs, 1, 8));
    const auto position = static_cast<double>(std::clamp<Index>(s.position(s.row(n)), 0, s.keys - 1));
    const double step = std::numbers::pi / static_cast<double>(s.keys);
    const auto angle = [&](Index k, double at) { return static_cast<double>(1 + k % frequencies) * step * at; };
    if (s.input.meaning == Meaning::score) {
        double sum = 0;
        for (Index k = 0; k < frequencies; ++k) sum += std::cos(angle(k, position - static_cast<double>(col)));
        return logit * sum / static_cast<double>(frequencies);
    }
    if (col >= 2 * pairs) return 0;
    const double length = std::sqrt(logit * s.root_dim() / static_cast<double>(pairs));
    return length * (col % 2 == 0 ? std::cos(angle(col / 2, position)) : std::sin(angle(col / 2, position)));
}

/// The first key's logits outweigh all others together: their exp is at least e^2 times the number of keys.
double sink(const Shape& s, Index n) {
    constexpr double least = 0.75;  // of Q's elements
    const double logit = std::log(static_cast<double>(s.keys)) + 2;
    if (s.input.meaning == Meaning::query) return s.uniform(n, least, 2 - least);
    if (!s.first_key(n)) return s.uniform(n, -1, 1);
    return s.input.meaning == Meaning::key ? logit / (least * s.root_dim()) : logit + s.uniform(n, 0, 1);
}

/// Logits that grow from key to key, by 6 in all.
double new_maximum(const Shape& s, Index n) {
    constexpr double logit = 6;
    if (s.input.meaning == Meaning::query) return s.uniform(n, 0.75, 1.25);
    const Index key = s.input.meaning == Meaning::key ? s.row(n) : s.col(n);
    const double grown = logit * static_cast<double>(key + 1) / static_cast<double>(s.keys);
    if (s.input.meaning == Meaning::key) return grown / s.root_dim();
    return grown * s.uniform(s.row(n), 0.75, 1.25);
}

/// Normal logits, all of them raised by 100: exp(89) is more than f32 holds.
double overflow(const Shape& s, Index n) {
    constexpr double logit = 100;
    if (s.input.meaning == Meaning::score) return logit + s.normal(n);
    return s.col(n) == 0 ? std::sqrt(logit * s.root_dim()) : s.normal(n);
}

double element(Distribution pattern, const Shape& s, Index n) {
    if (s.input.meaning == Meaning::value && pattern != Distribution::sentence) return s.normal(n);
    switch (pattern) {
        case Distribution::sentence:
            return sentence(s, n);
        case Distribution::band:
            return band(s, n);
        case Distribution::sink:
            return sink(s, n);
        case Distribution::new_maximum:
            return new_maximum(s, n);
        default:
            return overflow(s, n);
    }
}

}  // namespace

Element element_of(Distribution pattern, const TensorDecl& input, const std::vector<TensorDecl>& all,
                   std::uint64_t seed) {
    if (pattern < Distribution::sentence) return {};
    Shape shape{input, input.rows, input.cols, Stream(seed, input.name)};
    for (const TensorDecl& t : all) {
        if (t.meaning == Meaning::query) shape.queries = t.rows;
        if (t.meaning == Meaning::key) shape.keys = t.rows;
    }
    return [pattern, shape](Index n) { return static_cast<float>(element(pattern, shape, n)); };
}

void check_pattern(Distribution pattern, Index dim) {
    const Index least = pattern == Distribution::sentence ? groups : pattern == Distribution::band ? 2 : 1;
    if (dim < least)
        throw BadValue("dim", std::to_string(dim),
                       text::message("patterns.dim_too_small", name_of(pattern), std::to_string(least)),
                       std::to_string(least));
}

std::string sentence_word(Index position) { return words[word_at(position)]; }

Index word_looked_at(Index word) { return focus[word_at(word)]; }

Index sentence_length() { return n_words; }

Index band_reach(Index keys) { return ceil_div(keys, 8); }

}  // namespace tilescope::lab
