#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "text/text_span.h"
#include "text/unicode.h"
#include "text/vocabulary.h"

namespace fuselage {

/// Finds the parts of a line that a model cannot write: characters that its vocabulary has no
/// pieces for, or spells in bytes, with the names and formulas that they belong to, and addresses.
class UnwrittenParts {
 public:
  /// The vocabulary must outlive the object.
  explicit UnwrittenParts(const Vocabulary& vocabulary);

  /// Whether a line whose words are `words` may have such parts.
  bool may_be_in(std::string_view line, std::span<const WordId> words) const;

  /// The parts of a token, which has no white space, of a line of valid UTF-8, from the left to the
  /// right. Takes time linear in its size.
  std::vector<TextSpan> of_token(std::string_view line, TextSpan token) const;

 private:
  /// A grapheme cluster of a line.
  struct Cluster {
    TextSpan span;
    Character first;
    bool is_written;
  };
  using Clusters = std::span<const Cluster>;

  static bool is_by_itself(std::string_view line, const Cluster& cluster);
  static bool is_between_names(const Cluster& cluster);
  static TextSpan core_of(Clusters clusters);
  static TextSpan address_in(std::string_view line, Clusters clusters);
  static std::vector<TextSpan> parts_of_name(std::string_view line, Clusters clusters);

  bool is_written(std::string_view cluster) const;
  bool is_written(std::span<const WordId> words) const;
  std::vector<Cluster> clusters_of(std::string_view line, TextSpan token) const;

  const Vocabulary& vocabulary_;
  std::vector<bool> is_written_;  ///< of each word of the vocabulary
};

/// The parts of a text between white space.
std::vector<TextSpan> tokens_of(std::string_view line);

}  // namespace fuselage
