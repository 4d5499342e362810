#pragma once

#include <cstdint>
#include <string_view>

namespace fuselage {

/// How far a text has been translated.
struct TextState {
  std::uint64_t rows = 0;    ///< that were read, also of other shards
  std::uint64_t digest = 0;  ///< of these rows
  std::uint64_t words = 0;   ///< that were translated, as `wc -w` counts them
  bool is_complete = false;

  bool operator==(const TextState&) const = default;
};

/// Where the translation of a text goes.
class TextOutput {
 public:
  virtual ~TextOutput() = default;

  /// Opens the output, and tells how far it has come.
  virtual TextState begin() { return {}; }

  /// Adds whole rows, with which the text has come to `state`.
  virtual void write(std::string_view rows, const TextState& state) = 0;

  /// Ends the output.
  virtual void finish(const TextState& state) = 0;
};

}  // namespace fuselage
