#include "text/pages/sentence_splitter.h"

#include "text/pages/sentence_boundaries.h"
#include "text/pages/sentence_ends.h"

namespace fuselage {
namespace {

/// A text of the same size that Unicode's rules read as it is meant: with spaces for line breaks,
/// at which they end sentences; with three full stops for an ellipsis, at which they end none; and
/// in French with the spaces that stand before closing quotes behind them.
std::string prepared(std::string_view text, bool french) {
  std::string result(text);
  for (char& byte : result)
    if (byte == '\0' || (byte >= '\t' && byte <= '\r')) byte = ' ';
  const auto replace = [&result](std::string_view from, std::string_view to) {
    for (std::size_t at = 0; (at = result.find(from, at)) != std::string::npos; at += from.size())
      result.replace(at, from.size(), to);
  };
  replace("\xC2\x85", "  ");
  replace("\u2028", "   ");
  replace("\u2029", "   ");
  replace("\u2026", "...");
  if (!french) return result;
  replace(" »", "» ");
  replace("\u00A0»", "»\u00A0");
  replace("\u202F»", "»\u202F");
  return result;
}

}  // namespace

class SentenceSplitter::Impl {
 public:
  explicit Impl(const std::string& language)
      : boundaries_(language), ends_(language), french_(language == "fr") {}

  std::vector<TextSpan> split(std::string_view paragraph) const {
    const std::string text = prepared(paragraph, french_);
    std::vector<TextSpan> sentences;
    TextSpan sentence;
    const auto end_at = [&](std::size_t boundary) {
      sentence.end = boundary;
      if (const TextSpan found = without_outer_space(paragraph, sentence); !found.empty())
        sentences.push_back(found);
      sentence.begin = boundary;
    };
    boundaries_.for_each(text, [&](std::size_t boundary) {
      if (const std::size_t end = ends_.find_end(text, sentence.begin, boundary);
          end > sentence.begin)
        end_at(end);
    });
    if (sentence.begin < text.size()) end_at(text.size());
    return sentences;
  }

 private:
  SentenceBoundaries boundaries_;
  SentenceEnds ends_;
  bool french_;
};

SentenceSplitter::SentenceSplitter(std::string_view language)
    : impl_(std::make_unique<const Impl>(base_language(language))) {}

SentenceSplitter::~SentenceSplitter() = default;

std::vector<TextSpan> SentenceSplitter::split(std::string_view paragraph) const {
  return impl_->split(paragraph);
}

}  // namespace fuselage
