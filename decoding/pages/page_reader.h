#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "fuselage/decoding/page_translator.h"
#include "fuselage/decoding/translator.h"
#include "text/pages/page.h"
#include "text/pages/sentence_splitter.h"

namespace fuselage {

/// Throws Error for a translator that does not take the sentences of a page.
void expect_sentences(const Translator& translator);

/// Reads pages as sentences that a translator takes. Immutable, so threads may share it.
class PageReader {
 public:
  /// The translator must outlive the object. Throws Error as PageTranslator does.
  PageReader(const Translator& translator, const PageOptions& options);

  /// Throws Error for more than kMaxPageBytes bytes.
  std::unique_ptr<const Page> read(std::string text) const;

 private:
  const Translator& translator_;
  PageKind kind_;
  std::size_t max_tokens_;
  SentenceSplitter splitter_;
};

}  // namespace fuselage
