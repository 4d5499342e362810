#include "text/shortlist/lexicon.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

namespace fuselage {
namespace {

/// Weight of a link to no word, and of the distance from the diagonal (Dyer et al., section 2).
constexpr double kNull = 0.08, kTension = 4;

/// Keys of word pairs to sort at a time.
constexpr std::size_t kMaxKeys = std::size_t{1} << 26;

/// Probabilities of words f given words e, for all pairs that occur in one sentence pair. Row 0 is
/// for no word, row e + 1 for the word e.
class TranslationTable {
 public:
  using Words = std::span<const WordId>;

  template <typename From, typename To>
  TranslationTable(std::span<const SentencePair> pairs, From from, To to) {
    std::vector<std::uint64_t> keys;
    std::size_t sorted = 0;
    for (const SentencePair& pair : pairs) {
      for (const WordId f : to(pair)) {
        keys.push_back(static_cast<std::uint32_t>(f));
        for (const WordId e : from(pair)) keys.push_back(key(e, f));
      }
      if (keys.size() - sorted > kMaxKeys) sorted = sort(keys);
    }
    sort(keys);
    const std::size_t rows = keys.empty() ? 1 : (keys.back() >> 32) + 1;
    begin_.resize(rows + 1);
    for (const std::uint64_t each : keys) {
      ++begin_[(each >> 32) + 1];
      words_.push_back(static_cast<WordId>(each & 0xffffffff));
    }
    for (std::size_t row = 0; row < rows; ++row) begin_[row + 1] += begin_[row];
    probabilities_.resize(words_.size());
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t at = begin_[row]; at < begin_[row + 1]; ++at)
        probabilities_[at] = 1.f / static_cast<float>(begin_[row + 1] - begin_[row]);
    counts_.resize(words_.size());
  }

  /// Posteriors that f, word j of `to`, translates each word of `from`; `places` are their entries,
  /// the last one for no word.
  void posteriors(Words from, Words to, std::size_t j, std::vector<double>& weights,
                  std::vector<std::size_t>& places) const {
    weights.resize(from.size() + 1);
    places.resize(from.size() + 1);
    const double at = (static_cast<double>(j) + 0.5) / static_cast<double>(to.size());
    double priors = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const double other = (static_cast<double>(i) + 0.5) / static_cast<double>(from.size());
      weights[i] = std::exp(-kTension * std::abs(at - other));
      priors += weights[i];
    }
    double sum = 0;
    for (std::size_t i = 0; i <= from.size(); ++i) {
      const bool null = i == from.size();
      places[i] = null ? find(0, to[j]) : find(static_cast<std::size_t>(from[i]) + 1, to[j]);
      const double prior = null ? kNull : (1 - kNull) * weights[i] / priors;
      weights[i] = prior * static_cast<double>(probabilities_[places[i]]);
      sum += weights[i];
    }
    for (double& weight : weights) weight = sum > 0 ? weight / sum : 0;
  }

  void count(std::size_t place, double weight) { counts_[place] += static_cast<float>(weight); }

  /// Probabilities in proportion to the counts of each row; the counts begin anew.
  void normalize() {
    for (std::size_t row = 0; row + 1 < begin_.size(); ++row) {
      double sum = 0;
      for (std::size_t at = begin_[row]; at < begin_[row + 1]; ++at)
        sum += static_cast<double>(counts_[at]);
      for (std::size_t at = begin_[row]; at < begin_[row + 1]; ++at) {
        probabilities_[at] =
            sum > 0 ? static_cast<float>(static_cast<double>(counts_[at]) / sum) : 0.f;
        counts_[at] = 0;
      }
    }
  }

  /// Entries of words, likely ones first.
  std::vector<LexiconEntry> entries(double threshold) const {
    std::vector<LexiconEntry> found;
    for (std::size_t row = 1; row + 1 < begin_.size(); ++row) {
      const auto first = static_cast<std::ptrdiff_t>(found.size());
      for (std::size_t at = begin_[row]; at < begin_[row + 1]; ++at)
        if (const auto p = static_cast<double>(probabilities_[at]); p >= threshold && p > 0)
          found.push_back({words_[at], static_cast<WordId>(row - 1), p});
      std::stable_sort(found.begin() + first, found.end(),
                       [](const auto& a, const auto& b) { return a.probability > b.probability; });
    }
    return found;
  }

 private:
  static std::uint64_t key(WordId e, WordId f) {
    return (static_cast<std::uint64_t>(e) + 1) << 32 | static_cast<std::uint32_t>(f);
  }

  static std::size_t sort(std::vector<std::uint64_t>& keys) {
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    return keys.size();
  }

  std::size_t find(std::size_t row, WordId f) const {
    const auto begin = words_.begin() + static_cast<std::ptrdiff_t>(begin_[row]);
    const auto end = words_.begin() + static_cast<std::ptrdiff_t>(begin_[row + 1]);
    return static_cast<std::size_t>(std::lower_bound(begin, end, f) - words_.begin());
  }

  std::vector<std::size_t> begin_;
  std::vector<WordId> words_;
  std::vector<float> probabilities_, counts_;
};

/// Expectation-maximization of one direction.
template <typename From, typename To>
TranslationTable learn_direction(std::span<const SentencePair> pairs, int iterations, From from,
                                 To to) {
  TranslationTable table(pairs, from, to);
  std::vector<double> weights;
  std::vector<std::size_t> places;
  for (int i = 0; i < iterations; ++i) {
    for (const SentencePair& pair : pairs)
      for (std::size_t j = 0; j < to(pair).size(); ++j) {
        table.posteriors(from(pair), to(pair), j, weights, places);
        for (std::size_t k = 0; k < weights.size(); ++k) table.count(places[k], weights[k]);
      }
    table.normalize();
  }
  return table;
}

const std::vector<WordId>& source_of(const SentencePair& pair) { return pair.source; }
const std::vector<WordId>& target_of(const SentencePair& pair) { return pair.target; }

void append(std::string& bytes, const void* data, std::size_t size) {
  bytes.append(static_cast<const char*>(data), size);
}

}  // namespace

std::vector<LexiconEntry> learn_lexicon(std::span<const SentencePair> pairs,
                                        const LexiconOptions& options) {
  TranslationTable forward = learn_direction(pairs, options.iterations, source_of, target_of);
  const TranslationTable backward =
      learn_direction(pairs, options.iterations, target_of, source_of);
  std::vector<double> weights;
  std::vector<std::size_t> places;
  std::vector<double> reverse;
  for (const SentencePair& pair : pairs) {
    const std::size_t columns = pair.target.size() + 1;
    reverse.clear();
    for (std::size_t i = 0; i < pair.source.size(); ++i) {
      backward.posteriors(pair.target, pair.source, i, weights, places);
      reverse.insert(reverse.end(), weights.begin(), weights.end());
    }
    for (std::size_t j = 0; j < pair.target.size(); ++j) {
      forward.posteriors(pair.source, pair.target, j, weights, places);
      for (std::size_t i = 0; i < pair.source.size(); ++i)
        forward.count(places[i], weights[i] * reverse[i * columns + j]);
    }
  }
  forward.normalize();
  return forward.entries(options.threshold);
}

std::string print_lexical_text(std::span<const LexiconEntry> entries, const LexicalSides& sides) {
  std::string text;
  for (const LexiconEntry& entry : entries)
    fmt::format_to(std::back_inserter(text), "{} {} {:.7g}\n", sides.target.word(entry.target),
                   sides.source.word(entry.source), entry.probability);
  return text;
}

std::string print_lexical_binary(std::span<const LexiconEntry> entries, const LexicalSides& sides,
                                 const LexicalLimits& limits) {
  std::vector<std::uint64_t> begin{0};
  std::vector<WordId> words;
  auto at = entries.begin();
  for (WordId source = 0; source < sides.source.size(); ++source) {
    const auto list = words.size();
    for (; at != entries.end() && at->source == source; ++at)
      if (static_cast<std::int64_t>(words.size() - list) < limits.best &&
          at->probability > limits.threshold)
        words.push_back(at->target);
    std::sort(words.begin() + static_cast<std::ptrdiff_t>(list), words.end());
    begin.push_back(words.size());
  }
  std::string body;
  for (const std::uint64_t number :
       {static_cast<std::uint64_t>(limits.first), static_cast<std::uint64_t>(limits.best),
        static_cast<std::uint64_t>(begin.size()), static_cast<std::uint64_t>(words.size())})
    append(body, &number, sizeof number);
  append(body, begin.data(), begin.size() * sizeof begin[0]);
  append(body, words.data(), words.size() * sizeof(WordId));
  return lexical_binary_header(body) + body;
}

}  // namespace fuselage
