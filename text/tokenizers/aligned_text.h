#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fuselage {

/// A part of a text.
struct TextRange {
  std::size_t begin = 0, end = 0;
};

/// A part of a line as normalizers change it, with the part of the line that each byte comes from.
/// Both are valid UTF-8. Origins are those of NormalizedString of the library `tokenizers`.
class AlignedText {
 public:
  /// A character of a changed text, and what it does with the former one: 0: it is in the place of
  /// the next character; 1: it is inserted; -n: it is in the place of the next character, and the n
  /// characters behind that one are removed.
  struct Change {
    char32_t code = 0;
    std::ptrdiff_t change = 0;
  };

  /// A whole line.
  explicit AlignedText(std::string line);

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }

  /// The byte of the line at which this part began when it was cut out.
  std::size_t line_begin() const { return line_begin_; }

  /// The part of the line that bytes of the text come from.
  TextRange origin(TextRange range) const;

  AlignedText slice(TextRange range) const;

  /// Replaces the text, of which the first `removed` characters are removed.
  void transform(const std::vector<Change>& characters, std::size_t removed = 0);

  /// Puts `added` before the text, unless that is empty.
  void prepend(std::string_view added);

  /// Replaces ascending ranges that are not empty by the same text.
  void replace(std::span<const TextRange> ranges, std::string_view content);

 private:
  struct Origin {
    std::uint32_t begin = 0, end = 0;
  };

  AlignedText() = default;

  /// The origin of the byte; of the last one for a byte beyond the text.
  Origin origin_at(std::size_t byte) const;

  std::string text_;
  std::vector<Origin> origins_;  ///< per byte of the text
  std::size_t line_begin_ = 0;
};

}  // namespace fuselage
