// BeamSearch: the hypotheses that have ended, and their scores.

#include <algorithm>
#include <cmath>

#include "decoding/search/final_scores.h"
#include "decoding/search/sentence_search.h"
#include "decoding/search/term_automaton.h"
#include "fuselage/backends/search.h"
#include "fuselage/decoding/beam_search.h"

namespace fuselage {

NBest BeamSearch::n_best(const SentenceSearch& sentence,
                         std::span<const SearchRecord::Token> tokens) const {
  struct Ranked {
    bool has_terms;
    float score;
    const SearchRecord::Finished* finished;
  };
  std::vector<Ranked> ranked;
  for (const SearchRecord::Finished& finished : sentence.record.finished)
    ranked.push_back(
        {has_all_terms(sentence, finished, tokens), final_score(sentence, finished), &finished});
  std::ranges::stable_sort(ranked, [](const Ranked& a, const Ranked& b) {
    return a.has_terms != b.has_terms ? a.has_terms : a.score > b.score;
  });
  if (ranked.size() > static_cast<std::size_t>(sentence.n_best))
    ranked.resize(static_cast<std::size_t>(sentence.n_best));
  NBest result;
  for (const Ranked& hypothesis : ranked)
    result.push_back(trace_back(sentence, *hypothesis.finished, tokens));
  return result;
}

/// False only for hypotheses that the length limit has cut off.
bool BeamSearch::has_all_terms(const SentenceSearch& sentence,
                               const SearchRecord::Finished& finished,
                               std::span<const SearchRecord::Token> tokens) const {
  if (sentence.terms.empty()) return true;
  WordIds words;
  for (std::int32_t at = finished.token; at >= 0;
       at = tokens[static_cast<std::size_t>(at)].previous)
    words.push_back(tokens[static_cast<std::size_t>(at)].word);
  TermState state;
  for (std::size_t i = words.size(); i-- > 0;) state = sentence.terms.advance(state, words[i]);
  return sentence.terms.all_met(state);
}

/// A coverage is not above 0, so final_scores_->bound() is a bound with it too.
float BeamSearch::final_score(const SentenceSearch& sentence,
                              const SearchRecord::Finished& finished) const {
  const float score =
      final_scores_->of(finished.path_score, finished.length - not_counted(sentence));
  return options_.coverage_penalty > 0
             ? score + options_.coverage_penalty * coverage(sentence, finished)
             : score;
}

float BeamSearch::coverage(const SentenceSearch& sentence,
                           const SearchRecord::Finished& finished) const {
  const auto length = static_cast<std::size_t>(sentence.source_length);
  covered_.assign(length, 0);
  for (std::int32_t at = finished.token; at >= 0; at = sentence.token(at).previous)
    for (std::size_t i = 0; i < length; ++i)
      covered_[i] += sentence.alignments[static_cast<std::size_t>(at) * length + i];
  float sum = 0;
  for (const float weight : covered_) sum += std::log(std::clamp(weight, kLeastCoverage, 1.0f));
  return sum;
}

Hypothesis BeamSearch::trace_back(const SentenceSearch& sentence,
                                  const SearchRecord::Finished& finished,
                                  std::span<const SearchRecord::Token> tokens) const {
  Hypothesis result;
  result.log_probability = finished.path_score;
  result.score = final_score(sentence, finished);
  const auto last =
      sentence.model_scores.begin() +
      static_cast<std::ptrdiff_t>(static_cast<std::size_t>(finished.token) * options_.models);
  result.model_scores.assign(last, last + static_cast<std::ptrdiff_t>(options_.models));
  for (std::int32_t at = finished.token; at >= 0;) {
    const SearchRecord::Token& token = tokens[static_cast<std::size_t>(at)];
    result.words.push_back(token.word);
    result.word_scores.push_back(token.score);
    if (options_.alignment) {
      const auto begin = sentence.alignments.begin() + std::int64_t{at} * sentence.source_length;
      result.alignment.emplace_back(begin, begin + sentence.source_length);
    }
    at = token.previous;
  }
  const auto finish = [&](auto& list) {
    std::reverse(list.begin(), list.end());
    if (!list.empty()) list.erase(list.begin(), list.begin() + std::ssize(options_.beginning));
  };
  finish(result.words);
  finish(result.word_scores);
  finish(result.alignment);
  return result;
}

}  // namespace fuselage
