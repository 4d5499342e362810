#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "fuselage/decoding/translation.h"
#include "python/bindings/arrays.h"
#include "python/bindings/bindings.h"

namespace nb = nanobind;
using fuselage::LineOddity;
using fuselage::PairScore;
using fuselage::TranslatedText;
using fuselage::Translation;

namespace {

// Arrays own their numbers.
constexpr auto kOwned = nb::rv_policy::automatic;

/// "too_long" for LineOddity::too_long.
std::vector<std::string> names_of(const std::vector<LineOddity>& oddities) {
  std::vector<std::string> names;
  for (const LineOddity oddity : oddities) {
    switch (oddity) {
      case LineOddity::empty:
        names.emplace_back("empty");
        break;
      case LineOddity::invalid_text:
        names.emplace_back("invalid_text");
        break;
      case LineOddity::too_long:
        names.emplace_back("too_long");
        break;
      case LineOddity::too_large:
        names.emplace_back("too_large");
        break;
      case LineOddity::line_break:
        names.emplace_back("line_break");
        break;
    }
  }
  return names;
}

std::vector<std::uint8_t> numbers_of(const std::vector<LineOddity>& oddities) {
  std::vector<std::uint8_t> numbers;
  for (const LineOddity oddity : oddities) numbers.push_back(static_cast<std::uint8_t>(oddity));
  return numbers;
}

std::vector<LineOddity> oddities_of(const std::vector<std::uint8_t>& numbers) {
  std::vector<LineOddity> oddities;
  for (const std::uint8_t number : numbers) oddities.push_back(static_cast<LineOddity>(number));
  return oddities;
}

// What results are pickled and copied as.
using Matrix = std::vector<std::vector<float>>;
using HypothesisState = std::tuple<std::string, std::vector<std::int32_t>, std::vector<float>,
                                   float, float, std::vector<float>, Matrix>;
using TranslationState =
    std::tuple<std::vector<TranslatedText>, std::vector<std::uint8_t>, std::size_t, std::size_t>;
using ScoreState =
    std::tuple<std::vector<float>, float, float, Matrix, std::vector<std::uint8_t>,
               std::vector<std::uint8_t>, std::size_t, std::size_t, std::vector<std::int32_t>>;

HypothesisState state_of_hypothesis(const TranslatedText& self) {
  const fuselage::Hypothesis& h = self.hypothesis;
  return {self.text, h.words,        h.word_scores, h.log_probability,
          h.score,   h.model_scores, h.alignment};
}

void set_hypothesis(TranslatedText& self, const HypothesisState& state) {
  const auto& [text, words, word_scores, log_probability, score, model_scores, alignment] = state;
  new (&self) TranslatedText{.text = text,
                             .hypothesis = {.words = words,
                                            .word_scores = word_scores,
                                            .log_probability = log_probability,
                                            .score = score,
                                            .model_scores = model_scores,
                                            .alignment = alignment}};
}

ScoreState state_of_score(const PairScore& self) {
  return {self.word_scores,
          self.log_probability,
          self.score,
          self.alignment,
          numbers_of(self.source_oddities),
          numbers_of(self.target_oddities),
          self.source_words,
          self.source_bytes,
          self.words};
}

void set_score(PairScore& self, const ScoreState& state) {
  const auto& [word_scores, log_probability, score, alignment, source, target, words, bytes, ids] =
      state;
  new (&self) PairScore{.word_scores = word_scores,
                        .log_probability = log_probability,
                        .score = score,
                        .alignment = alignment,
                        .source_oddities = oddities_of(source),
                        .target_oddities = oddities_of(target),
                        .source_words = words,
                        .source_bytes = bytes,
                        .words = ids};
}

void bind_hypothesis(nb::module_& module) {
  const auto text_of = [](const TranslatedText& self) { return self.text; };
  nb::class_<TranslatedText>(module, "Hypothesis", "A translation as text, with its scores.")
      .def_prop_ro("text", text_of, "The text; always one line.")
      .def_prop_ro(
          "words", [](const TranslatedText& self) { return to_array(self.hypothesis.words); },
          kOwned,
          "Ids in the target vocabulary: int32, with the end symbol unless the length limit cut it "
          "off.")
      .def_prop_ro(
          "word_scores",
          [](const TranslatedText& self) { return to_array(self.hypothesis.word_scores); }, kOwned,
          "Log-probability of each word, float32.")
      .def_prop_ro(
          "log_probability",
          [](const TranslatedText& self) { return self.hypothesis.log_probability; },
          "The sum of the word scores.")
      .def_prop_ro(
          "score", [](const TranslatedText& self) { return self.hypothesis.score; },
          "The log-probability with word penalty and length normalization.")
      .def_prop_ro(
          "model_scores",
          [](const TranslatedText& self) { return to_array(self.hypothesis.model_scores); }, kOwned,
          "The log-probability that each model of an ensemble gives, float32; empty unless "
          "requested.")
      .def_prop_ro(
          "alignment",
          [](const TranslatedText& self) { return to_matrix(self.hypothesis.alignment); }, kOwned,
          "Weight of each source token for each word: float32 [words, source tokens]; [0, 0] "
          "unless "
          "requested.")
      .def("__getstate__", state_of_hypothesis)
      .def("__setstate__", set_hypothesis)
      .def("__str__", text_of)
      .def("__repr__", [](const TranslatedText& self) {
        return nb::str("Hypothesis(text={!r}, score={:.4f})")
            .format(self.text, self.hypothesis.score);
      });
}

void bind_translation(nb::module_& module) {
  const auto text_of = [](const Translation& self) { return self.text(); };
  nb::class_<Translation>(module, "Translation", "The translation of a line.")
      .def_prop_ro("text", text_of, "The text of the best hypothesis.")
      .def_prop_ro(
          "n_best", [](const Translation& self) { return self.n_best; },
          "The hypotheses, best first; never empty.")
      .def_prop_ro(
          "oddities", [](const Translation& self) { return names_of(self.oddities); },
          "Defects of the line: \"empty\", \"invalid_text\", \"too_long\", \"too_large\", or "
          "\"line_break\" inside, which counts as a space.")
      .def_ro("source_words", &Translation::source_words,
              "Number of tokens of the line, the end symbol counted.")
      .def("__getstate__",
           [](const Translation& self) {
             return std::tuple(self.n_best, numbers_of(self.oddities), self.source_words,
                               self.source_bytes);
           })
      .def("__setstate__",
           [](Translation& self, const TranslationState& state) {
             const auto& [n_best, oddities, words, bytes] = state;
             new (&self) Translation{.n_best = n_best,
                                     .oddities = oddities_of(oddities),
                                     .source_words = words,
                                     .source_bytes = bytes};
           })
      .def("__str__", text_of)
      .def("__repr__", [](const Translation& self) {
        return nb::str("Translation(text={!r})").format(self.text());
      });
}

void bind_score(nb::module_& module) {
  nb::class_<PairScore>(module, "Score", "The score of a translation, or of a text.")
      .def_ro("score", &PairScore::score,
              "The log-probability with word penalty and length normalization.")
      .def_ro("log_probability", &PairScore::log_probability, "The sum of the word scores.")
      .def_prop_ro(
          "word_scores", [](const PairScore& self) { return to_array(self.word_scores); }, kOwned,
          "Log-probability of each word, the end symbol included: float32.")
      .def_prop_ro(
          "alignment", [](const PairScore& self) { return to_matrix(self.alignment); }, kOwned,
          "Weight of each source token for each word: float32 [words, source tokens]; [0, 0] "
          "unless "
          "requested.")
      .def_prop_ro(
          "source_oddities", [](const PairScore& self) { return names_of(self.source_oddities); },
          "Defects of the source line, as Translation.oddities.")
      .def_prop_ro(
          "target_oddities", [](const PairScore& self) { return names_of(self.target_oddities); },
          "Defects of the target line.")
      .def_prop_ro(
          "words", [](const PairScore& self) { return to_array(self.words); }, kOwned,
          "Ids in the target vocabulary as int32, the end symbol included.")
      .def("__getstate__", state_of_score)
      .def("__setstate__", set_score)
      .def("__repr__",
           [](const PairScore& self) { return nb::str("Score(score={:.4f})").format(self.score); });
}

}  // namespace

void bind_translations(nb::module_& module) {
  bind_hypothesis(module);
  bind_translation(module);
  bind_score(module);
}
