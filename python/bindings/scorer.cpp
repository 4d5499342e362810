#include "fuselage/decoding/scorer.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "fuselage/tools/open_translator.h"
#include "python/bindings/bindings.h"
#include "python/bindings/process.h"

namespace nb = nanobind;
using fuselage::PairScore;
using Lines = std::vector<std::string>;
using Released = nb::call_guard<nb::gil_scoped_release>;

namespace {

/// A Scorer and the process that it works in.
class ProcessScorer {
 public:
  ProcessScorer(const Lines& arguments, const fuselage::OpenOptions& options)
      : scorer_(fuselage::open_scorer(arguments, options)) {}

  const fuselage::Scorer& get() const {
    process_.expect_this("Scorer");
    return scorer_;
  }

  std::vector<PairScore> score_pairs(const Lines& sources, const Lines& targets) const {
    return get().score(sources, targets);
  }
  std::vector<PairScore> score_texts(const Lines& texts) const { return get().score(texts); }

 private:
  const Process process_;
  const fuselage::Scorer scorer_;
};

}  // namespace

void bind_scorer(nb::module_& module) {
  nb::class_<ProcessScorer>(module, "Scorer")
      .def(
          "__init__",
          [](ProcessScorer* self, const Lines& arguments, bool alignment) {
            const nb::gil_scoped_release released;
            new (self) ProcessScorer(arguments, {.alignment = alignment});
          },
          nb::arg("arguments"), nb::arg("alignment"))
      .def("score_pairs", &ProcessScorer::score_pairs, nb::arg("sources"), nb::arg("targets"),
           Released())
      .def("score_texts", &ProcessScorer::score_texts, nb::arg("texts"), Released())
      .def_prop_ro("notes", [](const ProcessScorer& self) { return self.get().notes(); });
}
