#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/text_span.h"
#include "text/vocabulary.h"

namespace fuselage {

/// Maximum size of the file of a terminology in bytes.
inline constexpr std::size_t kMaxTerminologyBytes = std::size_t{64} << 20;
/// Maximum number of tokens of a source term, and of forms of its translation.
inline constexpr std::size_t kMaxSourceTermTokens = 32;
inline constexpr std::size_t kMaxForms = 64;

/// Terms of a source language, each with its forms in the target language. Immutable, so threads
/// may share it.
class Terminology {
 public:
  struct Entry {
    std::string source;
    std::vector<std::string> forms;
  };

  /// Reads lines of a source term and its forms, separated by tabs. Empty lines are skipped; the
  /// forms of lines with the same term are those of one entry. Terms and lines are compared as
  /// `source` normalizes them; it must outlive the terminology, and null leaves them as they are.
  /// Throws Error with `name` and the line for a line without a form, for empty fields, invalid
  /// UTF-8, and terms of more than kMaxSourceTermTokens tokens or kMaxForms forms.
  Terminology(std::string_view bytes, const std::string& name, const Vocabulary* source = nullptr);

  const std::vector<Entry>& entries() const { return entries_; }

  /// The term of an entry in a line. Its place is unknown where normalization joins or divides the
  /// words around it with others.
  struct Occurrence {
    std::size_t entry = 0;
    std::optional<TextSpan> place = {};
  };

  /// The terms that occur in a line of valid UTF-8, from the left to the right. Terms are whole
  /// words in the case of the entry; the first word of a line may be capitalized. Of terms that
  /// overlap, the first and then the longest one counts. Takes time linear in the length of the
  /// line.
  std::vector<Occurrence> occurrences(std::string_view line) const;

  /// The entries of these, each once.
  std::vector<std::size_t> find(std::string_view line) const;

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Node {
    std::map<std::string, std::size_t, std::less<>> children;  ///< by token
    std::size_t entry = kNone;
  };
  struct Found {
    std::size_t entry = kNone;
    std::size_t tokens = 0;
  };

  std::string normalized(std::string_view text) const;
  std::vector<std::optional<TextSpan>> places_in(std::string_view line,
                                                 std::span<const std::string_view> tokens) const;
  void add_line(std::string_view line, const std::string& where);
  Found longest_at(const std::vector<std::string_view>& tokens, std::size_t first,
                   std::string_view first_token) const;

  const Vocabulary* source_;
  std::vector<Entry> entries_;
  std::vector<Node> nodes_;
};

/// Reads the file of a terminology, which may be compressed. Throws Error with the path.
Terminology load_terminology(const std::string& path, const Vocabulary* source = nullptr);

}  // namespace fuselage
