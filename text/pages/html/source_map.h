#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "text/text_span.h"

namespace fuselage {

/// Where the parts of a text come from in a document.
class SourceMap {
 public:
  /// The next `length` bytes of the text come from `source`: byte by byte if it has as many, else
  /// as a whole.
  void add(std::size_t length, TextSpan source) {
    parts_.push_back({size_, length, source});
    size_ += length;
  }

  /// Where the text from `at` on begins in the document, and where the text before `at` ends.
  std::size_t begin_of(std::size_t at) const { return place(part_with(at), at); }
  std::size_t end_of(std::size_t at) const { return place(part_with(at - 1), at); }

 private:
  struct Part {
    std::size_t begin, length;
    TextSpan source;
  };

  const Part& part_with(std::size_t at) const {
    const auto behind = std::ranges::upper_bound(parts_, at, {}, &Part::begin);
    return *(behind - 1);
  }

  static std::size_t place(const Part& part, std::size_t at) {
    if (part.length == part.source.size()) return part.source.begin + (at - part.begin);
    return at == part.begin ? part.source.begin : part.source.end;
  }

  std::size_t size_ = 0;
  std::vector<Part> parts_;
};

}  // namespace fuselage
