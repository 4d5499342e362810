#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "fuselage/base/api.h"
#include "fuselage/base/log.h"
#include "fuselage/decoding/translator.h"

namespace FUSELAGE_API fuselage {

/// What a page is.
enum class PageKind : std::uint8_t {
  text,  ///< plain text: each line is a paragraph of any number of sentences
  html   ///< a document of HTML, or a text with tags
};

/// The most tokens of a sentence of a page, unless PageOptions states another number.
inline constexpr std::size_t kMaxSentenceTokens = 128;

/// The largest page in bytes.
inline constexpr std::size_t kMaxPageBytes = std::size_t{256} << 20;

/// How pages are translated.
struct PageOptions {
  PageKind kind = PageKind::text;
  /// The language of the pages, by whose abbreviations sentences are found: "en", "deu_Latn".
  /// Empty: Translator::source_language(), and the rules that all languages share without it.
  std::string language = {};
  /// Longer sentences are divided at clauses; at most TranslatorOptions::max_length. 0:
  /// kMaxSentenceTokens, or max_length if that is less.
  std::size_t max_tokens = 0;
  /// Gets the notes on a page, with the lines of its text. The logs of the translators
  /// (TranslatorOptions::log) get theirs with the same numbers.
  Log log = {};
};

/// Translates pages: texts and documents, sentence by sentence. White space, line breaks and markup
/// stay as they are, and so do sentences without a letter. Tags within a sentence follow their
/// words by the alignment of the model, if TranslatorOptions::alignment is set for all models, and
/// otherwise stay at the same part of the sentence. See docs/text-and-html.md. All members may be
/// called from several threads at the same time.
class PageTranslator {
 public:
  /// The translators must outlive the object. With `second`, which may be null, it translates what
  /// `first` gives. Throws Error for a model that reads several texts or factors, for options that
  /// read fields of lines (TranslatorOptions::force_decode and constraints), and for max_tokens out
  /// of range.
  explicit PageTranslator(const Translator& first, const PageOptions& options = {},
                          const Translator* second = nullptr);
  ~PageTranslator();
  PageTranslator(PageTranslator&&) noexcept;

  /// The translation of a page in UTF-8. In a sentence, U+FFFD takes the place of what is invalid,
  /// with a note; with TranslatorOptions::strict of `first` it is an error wherever it is. Throws
  /// Error for more than kMaxPageBytes bytes, and the errors of Translator::translate.
  std::string translate(std::string page) const;

 private:
  class Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace fuselage
