#include "decoding/output_json.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace fuselage {
namespace {

/// JSON with keys in the order of insertion, and with float numbers, so that scores have no more
/// digits than a float.
using Json = nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool,
                                  std::int64_t, std::uint64_t, float>;

Json alignment_json(const std::vector<std::vector<float>>& weights, const AlignmentFormat& format) {
  if (format.soft) return weights;
  return hard_alignment(weights, format.threshold);
}

template <typename Scored>
void add_details(Json& object, const Scored& scored, const OutputFormat& format) {
  object["score"] = scored.score;
  object["log_probability"] = scored.log_probability;
  if (format.word_scores) object["word_scores"] = scored.word_scores;
  if (format.alignment) object["alignment"] = alignment_json(scored.alignment, *format.alignment);
}

/// The object on one line. Invalid UTF-8, which words of a vocabulary may contain, becomes U+FFFD.
std::string one_line(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

template <typename Text>
Json text_json(const Text& entry, const OutputFormat& format) {
  Json object{{"text", entry.text}};
  add_details(object, entry.hypothesis, format);
  if (!entry.hypothesis.model_scores.empty())
    object["model_scores"] = entry.hypothesis.model_scores;
  return object;
}

/// The best of `texts`, or with n_best all as the list `name`.
template <typename Text>
std::string texts_line(std::size_t line, const std::vector<Text>& texts, const char* name,
                       const OutputFormat& format) {
  Json object{{"line", line}};
  if (!format.n_best) {
    object.update(text_json(texts.front(), format));
    return one_line(object);
  }
  Json& all = object[name] = Json::array();
  for (const Text& entry : texts) all.push_back(text_json(entry, format));
  return one_line(object);
}

}  // namespace

std::string json_line(std::size_t line, const Translation& translation,
                      const OutputFormat& format) {
  return texts_line(line, translation.n_best, "translations", format);
}

std::string json_line(std::size_t line, const Generation& generation, const OutputFormat& format) {
  return texts_line(line, generation.continuations, "continuations", format);
}

std::string json_line(std::size_t line, const PairScore& score, const OutputFormat& format) {
  Json object{{"line", line}};
  add_details(object, score, format);
  return one_line(object);
}

std::string json_line(const NBestEntry& entry, const PairScore& score, const OutputFormat& format) {
  Json object{{"line", entry.source_line}, {"text", entry.text}};
  add_details(object, score, format);
  return one_line(object);
}

}  // namespace fuselage
