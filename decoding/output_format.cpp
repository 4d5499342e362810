#include "fuselage/decoding/output_format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/numbers/from_chars.h"
#include "base/suggest.h"
#include "decoding/output_json.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

std::string format_word_scores(const std::vector<float>& scores) {
  std::string text = "WordScores=";
  for (const float score : scores) text += fmt::format(" {:.5f}", score);
  return text;
}

std::string format_soft(const std::vector<std::vector<float>>& weights) {
  std::vector<std::string> words;
  for (const auto& row : weights) {
    std::vector<std::string> numbers;
    for (const float weight : row) numbers.push_back(fmt::format("{:g}", weight));
    words.push_back(fmt::format("{}", fmt::join(numbers, ",")));
  }
  return fmt::format("{}", fmt::join(words, " "));
}

/// "F0= -1.5": the log-probability, or for an ensemble the log-probabilities by its models.
std::string format_features(const Hypothesis& hypothesis) {
  if (hypothesis.model_scores.empty()) return fmt::format("F0= {:g}", hypothesis.log_probability);
  std::vector<std::string> features;
  for (std::size_t i = 0; i < hypothesis.model_scores.size(); ++i)
    features.push_back(fmt::format("F{}= {:g}", i, hypothesis.model_scores[i]));
  return fmt::format("{}", fmt::join(features, " "));
}

/// A text as a field between separators "|||": each bar of a run of three and more is written as
/// Moses escapes it, so that no text has a separator in it.
std::string as_field(const std::string& text) {
  constexpr std::size_t kShortestRun = 3;
  std::string field;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bars = std::min(text.find_first_not_of('|', at), text.size()) - at;
    if (bars == 0) {
      const std::size_t end = std::min(text.find('|', at), text.size());
      field.append(text, at, end - at);
      at = end;
      continue;
    }
    for (std::size_t i = 0; i < bars; ++i) field += bars < kShortestRun ? "|" : "&#124;";
    at += bars;
  }
  return field;
}

/// The best of `texts`, or with n_best all, a line each.
template <typename Text>
std::string format_texts(std::size_t line, const std::vector<Text>& texts,
                         const OutputFormat& format) {
  const bool has_fields = format.n_best || format.word_scores || format.alignment;
  std::string output;
  for (const Text& entry : texts) {
    const Hypothesis& hypothesis = entry.hypothesis;
    if (format.n_best) output += fmt::format("{} ||| ", line);
    output += has_fields ? as_field(entry.text) : entry.text;
    if (format.alignment)
      output += " ||| " + format_alignment(hypothesis.alignment, *format.alignment);
    if (format.word_scores) output += " ||| " + format_word_scores(hypothesis.word_scores);
    if (format.n_best)
      output += fmt::format(" ||| {} ||| {:g}", format_features(hypothesis), hypothesis.score);
    output += '\n';
    if (!format.n_best) break;
  }
  return output;
}

}  // namespace

std::vector<std::pair<std::size_t, std::size_t>> hard_alignment(
    const std::vector<std::vector<float>>& weights, float threshold) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t target = 0; target < weights.size(); ++target) {
    const auto& row = weights[target];
    if (threshold >= 1) {
      const auto best = std::max_element(row.begin(), row.end());
      pairs.emplace_back(static_cast<std::size_t>(best - row.begin()), target);
      continue;
    }
    for (std::size_t source = 0; source < row.size(); ++source)
      if (row[source] > threshold) pairs.emplace_back(source, target);
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

AlignmentFormat parse_alignment_format(std::string_view text) {
  if (text == "soft") return {.soft = true};
  if (text.empty() || text == "hard") return {};
  float threshold = 0;
  const auto [end, error] = from_chars(text.data(), text.data() + text.size(), threshold);
  if (error != std::errc() || end != text.data() + text.size() || !(threshold > 0) || threshold > 1)
    throw Error(fmt::format("alignment can be soft, hard, or a number above 0 and up to 1, not {}",
                            in_quotes(text)));
  return {.threshold = threshold};
}

std::string format_alignment(const std::vector<std::vector<float>>& weights,
                             const AlignmentFormat& format) {
  if (format.soft) return format_soft(weights);
  std::vector<std::string> pairs;
  for (const auto& [source, target] : hard_alignment(weights, format.threshold))
    pairs.push_back(fmt::format("{}-{}", source, target));
  return fmt::format("{}", fmt::join(pairs, " "));
}

std::string format_translation(std::size_t line, const Translation& translation,
                               const OutputFormat& format) {
  if (format.json) return json_line(line, translation, format);
  return format_texts(line, translation.n_best, format);
}

std::string format_generation(std::size_t line, const Generation& generation,
                              const OutputFormat& format) {
  if (format.json) return json_line(line, generation, format);
  return format_texts(line, generation.continuations, format);
}

std::string format_score(std::size_t line, const PairScore& score, const OutputFormat& format) {
  if (format.json) return json_line(line, score, format);
  std::string output = fmt::format("{:.6f}", score.score);
  if (format.alignment) output += " ||| " + format_alignment(score.alignment, *format.alignment);
  if (format.word_scores) output += " ||| " + format_word_scores(score.word_scores);
  return output + '\n';
}

std::string format_n_best_score(const NBestEntry& entry, const PairScore& score,
                                std::string_view name, const OutputFormat& format) {
  if (format.json) return json_line(entry, score, format);
  std::string fields;
  if (format.alignment) fields = format_alignment(score.alignment, *format.alignment);
  if (format.word_scores)
    fields += (format.alignment ? " ||| " : "") + format_word_scores(score.word_scores);
  return add_feature(entry, name, score.score, fields) + '\n';
}

}  // namespace fuselage
