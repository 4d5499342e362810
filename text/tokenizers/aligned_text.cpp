#include "text/tokenizers/aligned_text.h"

#include <algorithm>
#include <utility>

#include "text/unicode.h"

namespace fuselage {

AlignedText::AlignedText(std::string line) : text_(std::move(line)) {
  origins_.reserve(text_.size());
  while (origins_.size() < text_.size()) {
    const std::size_t at = origins_.size();
    const std::size_t length = first_character(std::string_view(text_).substr(at)).length;
    const Origin origin{static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + length)};
    origins_.insert(origins_.end(), length, origin);
  }
}

AlignedText::Origin AlignedText::origin_at(std::size_t byte) const {
  if (origins_.empty()) return {};
  return origins_[std::min(byte, origins_.size() - 1)];
}

TextRange AlignedText::origin(TextRange range) const {
  if (range.begin >= range.end) return {};
  return {origin_at(range.begin).begin, origin_at(range.end - 1).end};
}

AlignedText AlignedText::slice(TextRange range) const {
  AlignedText part;
  part.text_ = text_.substr(range.begin, range.end - range.begin);
  part.origins_.assign(origins_.begin() + static_cast<std::ptrdiff_t>(range.begin),
                       origins_.begin() + static_cast<std::ptrdiff_t>(range.end));
  part.line_begin_ = part.empty() ? line_begin_ : part.origins_.front().begin;
  return part;
}

void AlignedText::transform(const std::vector<Change>& characters, std::size_t removed) {
  std::string text;
  std::vector<Origin> origins;
  text.reserve(text_.size());
  origins.reserve(text_.size());
  const std::string_view former = text_;
  const Origin start{static_cast<std::uint32_t>(line_begin_),
                     static_cast<std::uint32_t>(line_begin_)};
  std::size_t at = 0;
  const auto skip = [&](std::size_t count) {
    for (; count > 0 && at < former.size(); --count)
      at += first_character(former.substr(at)).length;
  };
  skip(removed);
  for (const Change& character : characters) {
    const bool is_inserted = character.change > 0;
    const Origin origin = !is_inserted ? origin_at(at) : at > 0 ? origin_at(at - 1) : start;
    if (!is_inserted) skip(1 + static_cast<std::size_t>(-character.change));
    append_utf8(character.code, text);
    origins.resize(text.size(), origin);
  }
  text_ = std::move(text);
  origins_ = std::move(origins);
}

void AlignedText::prepend(std::string_view added) {
  if (text_.empty()) return;
  origins_.insert(origins_.begin(), added.size(), origins_.front());
  text_.insert(0, added);
}

void AlignedText::replace(std::span<const TextRange> ranges, std::string_view content) {
  if (ranges.empty()) return;
  std::string text;
  std::vector<Origin> origins;
  std::size_t kept = 0;
  const auto keep = [&](std::size_t end) {
    text.append(text_, kept, end - kept);
    origins.insert(origins.end(), origins_.begin() + static_cast<std::ptrdiff_t>(kept),
                   origins_.begin() + static_cast<std::ptrdiff_t>(end));
  };
  for (const TextRange& range : ranges) {
    keep(range.begin);
    text += content;
    origins.insert(origins.end(), content.size(), origin_at(range.end - 1));
    kept = range.end;
  }
  keep(text_.size());
  text_ = std::move(text);
  origins_ = std::move(origins);
}

}  // namespace fuselage
