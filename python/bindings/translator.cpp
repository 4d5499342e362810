#include "fuselage/decoding/translator.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fuselage/decoding/page_translator.h"
#include "fuselage/tools/open_translator.h"
#include "python/bindings/bindings.h"
#include "python/bindings/process.h"
#include "python/bindings/text.h"
#include "python/bindings/translation_job.h"

namespace nb = nanobind;
using fuselage::Translation;
using Released = nb::call_guard<nb::gil_scoped_release>;

namespace {

using Terms = std::vector<std::vector<Text>>;

fuselage::LineGuide guide(Text prefix, Terms terms) {
  fuselage::LineGuide result{.prefix = std::move(prefix)};
  for (std::vector<Text>& forms : terms) result.terms.push_back(strings(std::move(forms)));
  return result;
}

/// A Translator and the process that it works in.
class ProcessTranslator {
 public:
  ProcessTranslator(const std::vector<std::string>& arguments, const fuselage::OpenOptions& options)
      : translator_(fuselage::open_translator(arguments, options)) {}

  const fuselage::Translator& get() const {
    process_.expect_this("Translator");
    return translator_;
  }

  Translation translate(const Text& line, Text prefix, Terms terms) const {
    return get().translate(line.utf8(), guide(std::move(prefix), std::move(terms)));
  }

  /// A text or a document, also by way of another language.
  std::string translate_page(Text page, bool html, const Text& language,
                             const ProcessTranslator* through) const {
    const fuselage::PageOptions options{
        .kind = html ? fuselage::PageKind::html : fuselage::PageKind::text,
        .language = language.utf8()};
    return fuselage::PageTranslator(get(), options, through ? &through->get() : nullptr)
        .translate(page.take());
  }

  std::unique_ptr<TranslationJob> start() const { return std::make_unique<TranslationJob>(get()); }

 private:
  const Process process_;
  const fuselage::Translator translator_;
};

void bind_job(nb::module_& module) {
  nb::class_<TranslationJob>(module, "TranslationJob", "Translations that are under way.")
      .def(
          "add",
          [](TranslationJob& self, Text line, Text prefix, Terms terms) {
            self.add({std::move(line), guide(std::move(prefix), std::move(terms))});
          },
          nb::arg("line"), nb::arg("prefix"), nb::arg("terms"))
      .def(
          "add",
          [](TranslationJob& self, Text line) {
            self.add({std::move(line), {}});
          },
          nb::arg("line"))
      .def("end", &TranslationJob::end, "There are no more lines.")
      .def("cancel", &TranslationJob::cancel)
      .def_prop_ro("has_room", &TranslationJob::has_room)
      .def_prop_ro("is_finished", &TranslationJob::is_finished)
      .def(
          "wait",
          [](const TranslationJob& self, double seconds, bool for_room) {
            const std::chrono::duration<double> timeout(seconds);
            return self.wait(std::chrono::duration_cast<std::chrono::milliseconds>(timeout),
                             for_room);
          },
          nb::arg("seconds"), nb::arg("for_room"), Released(),
          "Waits for translations, the end, or room for lines; False after the time.")
      .def("take", &TranslationJob::take, Released(), "All translations that are ready.")
      .def(
          "take_texts",
          [](TranslationJob& self) {
            std::vector<std::string> texts;
            for (const Translation& translation : self.take()) texts.push_back(translation.text());
            return texts;
          },
          Released(), "The texts of all translations that are ready.")
      .def("close", &TranslationJob::close, Released(),
           "Cancels the job and waits for its threads.");
}

}  // namespace

void bind_translator(nb::module_& module) {
  bind_job(module);
  nb::class_<ProcessTranslator>(module, "Translator")
      .def(
          "__init__",
          [](ProcessTranslator* self, const std::vector<nb::bytes>& arguments, int n_best,
             bool alignment, bool model_scores, bool guided) {
            const std::vector<std::string> texts = strings(arguments);
            const nb::gil_scoped_release released;
            new (self) ProcessTranslator(texts, {.n_best = n_best,
                                                 .alignment = alignment,
                                                 .model_scores = model_scores,
                                                 .guided = guided});
          },
          nb::arg("arguments"), nb::arg("n_best"), nb::arg("alignment"), nb::arg("model_scores"),
          nb::arg("guided"))
      .def("translate", &ProcessTranslator::translate, nb::arg("line"), nb::arg("prefix"),
           nb::arg("terms"), Released())
      .def("translate_page", &ProcessTranslator::translate_page, nb::arg("page"), nb::arg("html"),
           nb::arg("language"), nb::arg("through").none(), Released())
      .def("start", &ProcessTranslator::start, nb::keep_alive<0, 1>())
      .def(
          "target_word",
          [](const ProcessTranslator& self, std::int32_t id) {
            return escaped(self.get().target_word(id));
          },
          nb::arg("id"))
      .def_prop_ro("notes",
                   [](const ProcessTranslator& self) { return escaped(self.get().notes()); });
}
