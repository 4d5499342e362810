#include "fuselage/fuselage.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fuselage/backends/device.h"
#include "fuselage/base/error.h"
#include "fuselage/base/version.h"
#include "fuselage/decoding/page_translator.h"
#include "fuselage/decoding/scorer.h"
#include "fuselage/decoding/translator.h"
#include "fuselage/models/bundled_model.h"

using fuselage::Error;
using fuselage::Hypothesis;
using fuselage::PageKind;
using fuselage::PageTranslator;
using fuselage::PairScore;
using fuselage::Scorer;
using fuselage::ScorerOptions;
using fuselage::TranslatedText;
using fuselage::Translation;
using fuselage::Translator;
using fuselage::TranslatorOptions;

struct fuselage_translator {
  Translator translator;
};

struct fuselage_scorer {
  Scorer scorer;
};

struct fuselage_translations {
  std::vector<Translation> lines;
  /// Alignments as one array per hypothesis, by line and rank; empty unless requested.
  std::vector<std::vector<std::vector<float>>> alignments;
};

namespace {

/// The last failure in this thread, and text that is handed out.
struct ThreadState {
  fuselage_status status = FUSELAGE_OK;
  std::string message;
  std::string text;
};

ThreadState& thread_state() {
  thread_local ThreadState state;
  return state;
}

fuselage_status fail(fuselage_status status, const char* message) noexcept {
  ThreadState& state = thread_state();
  state.status = status;
  try {
    state.message = message;
    std::replace(state.message.begin(), state.message.end(), '\n', ' ');
  } catch (const std::bad_alloc&) {
    state.message.clear();
  }
  return status;
}

/// Calls `function`, turns exceptions into a status and keeps their message.
template <typename Function>
fuselage_status guarded(const Function& function) noexcept {
  try {
    function();
    return FUSELAGE_OK;
  } catch (const Error& error) {
    return fail(FUSELAGE_ERROR, error.what());
  } catch (const std::bad_alloc&) {
    return fail(FUSELAGE_NO_MEMORY, "there is not enough memory");
  } catch (const std::length_error&) {
    return fail(FUSELAGE_NO_MEMORY, "there is not enough memory");
  } catch (const std::exception& error) {
    return fail(FUSELAGE_INTERNAL_ERROR, error.what());
  } catch (...) {
    return fail(FUSELAGE_INTERNAL_ERROR, "internal error: an exception of an unknown type");
  }
}

template <typename T>
T& not_null(T* pointer, const char* name) {
  if (pointer == nullptr) throw Error(std::string(name) + " is NULL");
  return *pointer;
}

/// A struct of the caller, who may have been compiled for another version: members that the caller
/// does not know have their defaults.
fuselage_options known_options(const fuselage_options* given) {
  fuselage_options options = FUSELAGE_OPTIONS_INIT;
  if (given == nullptr) return options;
  if (given->size < offsetof(fuselage_options, beam_size) + sizeof options.beam_size)
    throw Error("fuselage_options: its size is " + std::to_string(given->size) +
                "; initialize it with FUSELAGE_OPTIONS_INIT");
  std::memcpy(&options, given, std::min(given->size, sizeof options));
  return options;
}

template <typename T, typename Given>
std::optional<T> unless_negative(Given given) {
  return given < 0 ? std::nullopt : std::optional<T>(static_cast<T>(given));
}

/// Sets the members that TranslatorOptions and ScorerOptions have in common.
template <typename Options>
void set_common(Options& to, const fuselage_options& from) {
  if (from.threads < 0)
    throw Error("threads must be 0 or more, not " + std::to_string(from.threads));
  to.normalize = unless_negative<float>(from.normalize);
  to.max_length = unless_negative<std::size_t>(from.max_length);
  to.alignment = from.alignment != 0;
  to.strict = from.strict != 0;
  to.threads = static_cast<std::size_t>(from.threads);
  if (from.device != nullptr) fuselage::set_device(to.compile, from.device);
  if (from.precision != nullptr)
    to.compile.precision = fuselage::precision_from_string(from.precision);
  if (from.log != nullptr)
    to.log = [log = from.log, data = from.log_data](std::string_view note) {
      log(data, std::string(note).c_str());
    };
}

std::vector<std::string> lines_of(const char* const* lines, std::size_t count, const char* name) {
  std::vector<std::string> copies;
  copies.reserve(count);
  if (count > 0) not_null(lines, name);
  for (std::size_t i = 0; i < count; ++i) {
    if (lines[i] == nullptr)
      throw Error(std::string(name) + ": line " + std::to_string(i) + " is NULL");
    copies.emplace_back(lines[i]);
  }
  return copies;
}

void expect_line(const fuselage_translations& translations, std::size_t line) {
  if (line >= translations.lines.size())
    throw Error("there is no line " + std::to_string(line) + "; there are " +
                std::to_string(translations.lines.size()));
}

PageKind page_kind(fuselage_page_kind kind) {
  switch (kind) {
    case FUSELAGE_PAGE_TEXT:
      return PageKind::text;
    case FUSELAGE_PAGE_HTML:
      return PageKind::html;
  }
  throw Error("unknown kind of page: " + std::to_string(kind));
}

/// The rows of an alignment one after another.
std::vector<float> joined(const Hypothesis& hypothesis) {
  std::vector<float> all;
  for (const std::vector<float>& row : hypothesis.alignment)
    all.insert(all.end(), row.begin(), row.end());
  return all;
}

}  // namespace

extern "C" {

const char* fuselage_version(void) {
  static const std::string version(fuselage::version());
  return version.c_str();
}

const char* fuselage_last_error(void) { return thread_state().message.c_str(); }

fuselage_status fuselage_last_status(void) { return thread_state().status; }

fuselage_translator* fuselage_translator_open(const char* path, const fuselage_options* options) {
  fuselage_translator* opened = nullptr;
  guarded([&] {
    const std::string model = &not_null(path, "path");
    const fuselage_options given = known_options(options);
    TranslatorOptions settings;
    settings.beam_size = unless_negative<std::int32_t>(given.beam_size);
    settings.max_length_factor = unless_negative<float>(given.max_length_factor);
    if (given.shortlist != nullptr) settings.shortlist.emplace().path = given.shortlist;
    set_common(settings, given);
    opened = new fuselage_translator{Translator(model, std::move(settings))};
  });
  return opened;
}

void fuselage_translator_close(fuselage_translator* translator) { delete translator; }

fuselage_translations* fuselage_translate(const fuselage_translator* translator,
                                          const char* const* lines, size_t count) {
  fuselage_translations* translations = nullptr;
  guarded([&] {
    auto made = std::make_unique<fuselage_translations>();
    made->lines =
        not_null(translator, "translator").translator.translate(lines_of(lines, count, "lines"));
    if (translator->translator.options().alignment)
      for (const Translation& line : made->lines) {
        std::vector<std::vector<float>>& ranks = made->alignments.emplace_back();
        for (const TranslatedText& text : line.n_best) ranks.push_back(joined(text.hypothesis));
      }
    translations = made.release();
  });
  return translations;
}

const char* fuselage_translation_text(const fuselage_translations* translations, size_t line) {
  const char* text = nullptr;
  guarded([&] {
    const auto& all = not_null(translations, "translations");
    expect_line(all, line);
    text = all.lines[line].text().c_str();
  });
  return text;
}

size_t fuselage_translation_count(const fuselage_translations* translations, size_t line) {
  if (translations == nullptr || line >= translations->lines.size()) return 0;
  return translations->lines[line].n_best.size();
}

fuselage_status fuselage_translation_hypothesis(const fuselage_translations* translations,
                                                size_t line, size_t rank,
                                                fuselage_hypothesis* hypothesis) {
  return guarded([&] {
    const auto& all = not_null(translations, "translations");
    expect_line(all, line);
    if (const std::size_t count = all.lines[line].n_best.size(); rank >= count)
      throw Error("there is no hypothesis " + std::to_string(rank) + " of line " +
                  std::to_string(line) + "; there are " + std::to_string(count));
    const std::size_t size = not_null(hypothesis, "hypothesis").size;
    if (size < offsetof(fuselage_hypothesis, text) + sizeof hypothesis->text)
      throw Error("fuselage_hypothesis: its size is " + std::to_string(size) +
                  "; set it to sizeof(fuselage_hypothesis)");
    const TranslatedText& found = all.lines[line].n_best[rank];
    const fuselage_hypothesis known{
        .size = size,
        .text = found.text.c_str(),
        .score = found.hypothesis.score,
        .log_probability = found.hypothesis.log_probability,
        .words = found.hypothesis.words.size(),
        .word_scores = found.hypothesis.word_scores.data(),
        .source_words = all.lines[line].source_words,
        .alignment = all.alignments.empty() ? nullptr : all.alignments[line][rank].data()};
    std::memcpy(hypothesis, &known, std::min(size, sizeof known));
  });
}

void fuselage_translations_free(fuselage_translations* translations) { delete translations; }

char* fuselage_translate_page(const fuselage_translator* translator,
                              const fuselage_translator* second, fuselage_page_kind kind,
                              const char* page) {
  char* translation = nullptr;
  guarded([&] {
    const PageTranslator pages(not_null(translator, "translator").translator,
                               {.kind = page_kind(kind)},
                               second == nullptr ? nullptr : &second->translator);
    const std::string text = pages.translate(&not_null(page, "page"));
    translation = new char[text.size() + 1];
    std::memcpy(translation, text.c_str(), text.size() + 1);
  });
  return translation;
}

void fuselage_page_free(char* page) { delete[] page; }

fuselage_scorer* fuselage_scorer_open(const char* path, const fuselage_options* options) {
  fuselage_scorer* opened = nullptr;
  guarded([&] {
    const std::string model = &not_null(path, "path");
    ScorerOptions settings;
    set_common(settings, known_options(options));
    opened = new fuselage_scorer{Scorer(model, std::move(settings))};
  });
  return opened;
}

void fuselage_scorer_close(fuselage_scorer* scorer) { delete scorer; }

fuselage_status fuselage_score(const fuselage_scorer* scorer, const char* const* sources,
                               const char* const* targets, size_t count, float* scores) {
  return guarded([&] {
    const std::vector<PairScore> found =
        not_null(scorer, "scorer")
            .scorer.score(lines_of(sources, count, "sources"), lines_of(targets, count, "targets"));
    if (count > 0) not_null(scores, "scores");
    for (std::size_t i = 0; i < count; ++i) scores[i] = found[i].score;
  });
}

const char* fuselage_bundled_model(void) { return fuselage_find_bundled_model(nullptr, nullptr); }

const char* fuselage_find_bundled_model(const char* source, const char* target) {
  const char* path = nullptr;
  guarded([&] {
    std::string& text = thread_state().text;
    text = fuselage::find_bundled_model(source == nullptr ? "" : source,
                                        target == nullptr ? "" : target);
    path = text.c_str();
  });
  return path;
}

}  // extern "C"
