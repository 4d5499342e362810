#include "decoding/pages/page_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

/// Longer parts of sentences are divided, however few tokens they have: lines have a limit too.
constexpr std::size_t kMaxSentenceBytes = 16'384;

std::size_t token_limit(const Translator& translator, const PageOptions& options) {
  const std::size_t most = *translator.options().max_length;
  if (options.max_tokens > most)
    throw Error(
        fmt::format("max_tokens is {}, but sentences of more than max-length {} are cut; "
                    "set max-length higher, or max_tokens lower",
                    options.max_tokens, most));
  return options.max_tokens > 0 ? options.max_tokens : std::min(kMaxSentenceTokens, most);
}

}  // namespace

void expect_sentences(const Translator& translator) {
  const TranslatorOptions& options = translator.options();
  if (options.force_decode || options.constraints)
    throw Error(fmt::format(
        "pages cannot go with {}: the fields of a line would be text; leave one of the two out",
        options.force_decode ? "force-decode" : "constraints"));
  // Throws for a model with several texts.
  translator.count_tokens("");
}

PageReader::PageReader(const Translator& translator, const PageOptions& options)
    : translator_(translator),
      kind_(options.kind),
      max_tokens_(token_limit(translator, options)),
      splitter_(options.language.empty() ? translator.source_language() : options.language) {
  expect_sentences(translator);
}

std::unique_ptr<const Page> PageReader::read(std::string text) const {
  if (text.size() > kMaxPageBytes)
    throw Error(fmt::format("the page has {} bytes, but {} at most are possible; divide it",
                            text.size(), kMaxPageBytes));
  const PageReading reading{.splitter = splitter_,
                            .max_tokens = max_tokens_,
                            .count_tokens = [this](std::string_view sentence) {
                              return sentence.size() > kMaxSentenceBytes
                                         ? sentence.size()
                                         : translator_.count_tokens(sentence);
                            }};
  return kind_ == PageKind::html ? read_html_page(std::move(text), reading)
                                 : read_plain_page(std::move(text), reading);
}

}  // namespace fuselage
