#include <algorithm>

#include "fuselage/base/error.h"
#include "text/pages/page.h"
#include "text/pages/readable_text.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace fuselage {
namespace {

/// The line breaks of Unicode but those of old printers: line feed, carriage return, next line,
/// line and paragraph separator.
std::size_t line_break_length(std::string_view text) {
  if (text.starts_with('\n') || text.starts_with('\r')) return 1;
  for (const std::string_view mark : {"\xC2\x85", "\u2028", "\u2029"})
    if (text.starts_with(mark)) return mark.size();
  return 0;
}

/// Whether a text has a letter, without which there is nothing to translate.
bool has_letter(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_sequence_length(text);
    if (length > 0 && is_unicode_letter(first_character(text).code)) return true;
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return false;
}

class PlainPage : public Page {
 public:
  PlainPage(std::string text, const PageReading& reading)
      : Page(std::move(text)), spans_(plain_sentences(document_, reading)) {
    for (const TextSpan& span : spans_)
      sentences_.push_back(readable_text(span.of(document_)).text);
  }

  TextSpan place(std::size_t sentence) const override { return spans_.at(sentence); }

  std::string joined(std::span<const TranslatedSentence> translations) const override {
    check(translations.size() == spans_.size(), "a translation for each sentence");
    std::string result;
    std::size_t at = 0;
    for (std::size_t i = 0; i < spans_.size(); ++i) {
      result.append(document_, at, spans_[i].begin - at);
      at = translations[i].text == sentences_[i] ? spans_[i].begin : spans_[i].end;
      if (at == spans_[i].end) result += translations[i].text;
    }
    return result.append(document_, at);
  }

 private:
  std::vector<TextSpan> spans_;  ///< of the sentences
};

}  // namespace

std::vector<TextSpan> sentences_of(std::string_view paragraph, const PageReading& reading) {
  const TokenCount count = [&reading](std::string_view text) {
    return reading.count_tokens(readable_text(text).text);
  };
  std::vector<TextSpan> result;
  for (TextSpan sentence : reading.splitter.split(paragraph)) {
    sentence = without_bullets(paragraph, without_outer_blanks(paragraph, sentence));
    if (!has_letter(sentence.of(paragraph))) continue;
    // Nearly no text has more tokens than bytes.
    if (reading.max_tokens == 0 || sentence.size() < reading.max_tokens) {
      result.push_back(sentence);
      continue;
    }
    for (const TextSpan& part : divided_sentence(paragraph, sentence, reading.max_tokens, count))
      if (has_letter(part.of(paragraph))) result.push_back(part);
  }
  return result;
}

std::vector<TextSpan> plain_sentences(std::string_view text, const PageReading& reading) {
  std::vector<TextSpan> sentences;
  std::size_t begin = 0;
  const auto add_paragraph = [&](std::size_t end) {
    for (const TextSpan& span : sentences_of(text.substr(begin, end - begin), reading))
      sentences.push_back({begin + span.begin, begin + span.end});
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = line_break_length(text.substr(at));
    if (length > 0) {
      add_paragraph(at);
      begin = at + length;
    }
    at += std::max<std::size_t>(length, 1);
  }
  add_paragraph(text.size());
  return sentences;
}

std::unique_ptr<const Page> read_plain_page(std::string text, const PageReading& reading) {
  return std::make_unique<PlainPage>(std::move(text), reading);
}

}  // namespace fuselage
