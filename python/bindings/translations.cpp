#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
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
    }
  }
  return names;
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
          "Defects of the line: \"empty\", \"invalid_text\", \"too_long\", \"too_large\".")
      .def_ro("source_words", &Translation::source_words,
              "Number of tokens of the line, the end symbol counted.")
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
      .def("__repr__",
           [](const PairScore& self) { return nb::str("Score(score={:.4f})").format(self.score); });
}

}  // namespace

void bind_translations(nb::module_& module) {
  bind_hypothesis(module);
  bind_translation(module);
  bind_score(module);
}
