#include "text/placeholders/replaced_text.h"

#include <algorithm>
#include <iterator>

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
  const auto begin_of = [&](const Edit& edit) { return (edit.*from).begin; };
  // The place of a byte by the edit before `next`.
  const auto place = [&](auto next, std::size_t at, bool is_end) {
    if (next == edits.begin()) return at;
    const Edit& edit = *std::prev(next);
    const TextSpan &old = edit.*from, &made = edit.*to;
    if (at > old.end || (at == old.end && !is_end)) return made.end + (at - old.end);
    return is_end ? made.end : made.begin;
  };
  TextSpan result{
      place(std::ranges::upper_bound(edits, span.begin, {}, begin_of), span.begin, false),
      place(std::ranges::lower_bound(edits, span.end, {}, begin_of), span.end, true)};
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
