#include "text/replaced_text.h"

#include <algorithm>

namespace fuselage {

void ReplacedText::keep(std::string_view part) {
  text_ += part;
  first_ += part.size();
}

void ReplacedText::replace(std::size_t size, std::string_view part) {
  edits_.push_back({{first_, first_ + size}, {text_.size(), text_.size() + part.size()}});
  first_ += size;
  text_ += part;
}

void ReplacedText::drop_last() {
  text_.pop_back();
  edits_.push_back({{first_ - 1, first_}, {text_.size(), text_.size()}});
}

TextSpan ReplacedText::moved(TextSpan span, std::span<const Edit> edits, TextSpan Edit::*from,
                             TextSpan Edit::*to) {
  // The last edit that begins before the end counts for the end.
  TextSpan result = span;
  for (const Edit& edit : edits) {
    const TextSpan &old = edit.*from, &made = edit.*to;
    if (old.begin <= span.begin)
      result.begin = span.begin < old.end ? made.begin : made.end + (span.begin - old.end);
    if (old.begin < span.end)
      result.end = span.end <= old.end ? made.end : made.end + (span.end - old.end);
  }
  result.end = std::max(result.begin, result.end);
  return result;
}

TextSpan ReplacedText::to_text(TextSpan first) const {
  return moved(first, edits_, &Edit::first, &Edit::text);
}

TextSpan ReplacedText::to_first(TextSpan text) const {
  return moved(text, edits_, &Edit::text, &Edit::first);
}

}  // namespace fuselage
