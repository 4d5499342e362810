#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/pages/long_sentence.h"
#include "text/pages/sentence_splitter.h"
#include "text/pages/text_alignment.h"

namespace fuselage {

/// How a page becomes sentences.
struct PageReading {
  const SentenceSplitter& splitter;
  /// Longer sentences are divided; 0: they stay whole.
  std::size_t max_tokens = 0;
  TokenCount count_tokens = {};  ///< of a sentence; unused without max_tokens
};

/// The translation of a sentence.
struct TranslatedSentence {
  std::string text;
  TextAlignment alignment = {};  ///< empty: unknown
};

/// A document that is translated sentence by sentence: all else stays as it is, to the byte, and so
/// do sentences whose translation is the sentence itself.
class Page {
 public:
  virtual ~Page() = default;
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;

  /// The sentences to translate, as readable_text; each has a letter.
  const std::vector<std::string>& sentences() const { return sentences_; }

  /// The bytes of the page.
  const std::string& document() const { return document_; }

  /// Where a sentence and the markup in it are in the document.
  virtual TextSpan place(std::size_t sentence) const = 0;

  /// Whether a sentence has markup in it, for which alignments are of use.
  virtual bool has_markup(std::size_t) const { return false; }

  /// The page with these translations of its sentences.
  virtual std::string joined(std::span<const TranslatedSentence> translations) const = 0;

 protected:
  explicit Page(std::string document) : document_(std::move(document)) {}

  const std::string document_;
  std::vector<std::string> sentences_;
};

/// The sentences of a paragraph that have a letter, without blanks around them, divided where they
/// are too long.
std::vector<TextSpan> sentences_of(std::string_view paragraph, const PageReading& reading);

/// The sentences of a plain text, of which each line is a paragraph.
std::vector<TextSpan> plain_sentences(std::string_view text, const PageReading& reading);

/// A plain text: each line is a paragraph.
std::unique_ptr<const Page> read_plain_page(std::string text, const PageReading& reading);

/// A document of HTML, or a text with tags: see HtmlReader.
std::unique_ptr<const Page> read_html_page(std::string text, const PageReading& reading);

}  // namespace fuselage
