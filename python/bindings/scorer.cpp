#include "fuselage/decoding/scorer.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "fuselage/tools/open_translator.h"
#include "python/bindings/bindings.h"
#include "python/bindings/process.h"
#include "python/bindings/text.h"

namespace nb = nanobind;
using fuselage::PairScore;
using Lines = std::vector<std::string>;
using Released = nb::call_guard<nb::gil_scoped_release>;

namespace {

using Sink = fuselage::Scorer::Sink;

struct Interrupted {};

/// The scores that `score` gives to a sink on another thread while this one handles signals. When a
/// handler raises, the scoring ends after the batches that are under way. Without the interpreter
/// lock.
std::vector<PairScore> interruptible(std::size_t lines,
                                     const std::function<void(const Sink&)>& score) {
  constexpr std::chrono::milliseconds kLookForSignals{50};
  std::vector<PairScore> scores(lines);
  std::atomic<bool> interrupted = false;
  std::future<void> done = std::async(std::launch::async, [&] {
    score([&](std::size_t line, PairScore&& result) {
      if (interrupted) throw Interrupted();
      scores[line] = std::move(result);
    });
  });
  while (done.wait_for(kLookForSignals) != std::future_status::ready) {
    const nb::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() == 0) continue;
    const std::exception_ptr raised = std::make_exception_ptr(nb::python_error());
    interrupted = true;
    {
      const nb::gil_scoped_release released;
      done.wait();
    }
    std::rethrow_exception(raised);
  }
  done.get();
  return scores;
}

/// A Scorer and the process that it works in.
class ProcessScorer {
 public:
  ProcessScorer(const Lines& arguments, const fuselage::OpenOptions& options)
      : scorer_(fuselage::open_scorer(arguments, options)) {}

  const fuselage::Scorer& get() const {
    process_.expect_this("Scorer");
    return scorer_;
  }

  std::vector<PairScore> score_pairs(std::vector<Text> source_texts,
                                     std::vector<Text> target_texts) const {
    const fuselage::Scorer& scorer = get();
    const Lines sources = strings(std::move(source_texts));
    const Lines targets = strings(std::move(target_texts));
    return interruptible(sources.size(),
                         [&](const Sink& sink) { scorer.score(sources, targets, sink); });
  }
  std::vector<PairScore> score_texts(std::vector<Text> given) const {
    const fuselage::Scorer& scorer = get();
    const Lines texts = strings(std::move(given));
    return interruptible(texts.size(), [&](const Sink& sink) { scorer.score(texts, sink); });
  }

 private:
  const Process process_;
  const fuselage::Scorer scorer_;
};

}  // namespace

void bind_scorer(nb::module_& module) {
  nb::class_<ProcessScorer>(module, "Scorer")
      .def(
          "__init__",
          [](ProcessScorer* self, const std::vector<nb::bytes>& arguments, bool alignment) {
            const Lines texts = strings(arguments);
            const nb::gil_scoped_release released;
            new (self) ProcessScorer(texts, {.alignment = alignment});
          },
          nb::arg("arguments"), nb::arg("alignment"))
      .def("score_pairs", &ProcessScorer::score_pairs, nb::arg("sources"), nb::arg("targets"),
           Released())
      .def("score_texts", &ProcessScorer::score_texts, nb::arg("texts"), Released())
      .def(
          "target_word",
          [](const ProcessScorer& self, std::int32_t id) {
            return escaped(self.get().target_word(id));
          },
          nb::arg("id"))
      .def_prop_ro("notes", [](const ProcessScorer& self) { return escaped(self.get().notes()); });
}
