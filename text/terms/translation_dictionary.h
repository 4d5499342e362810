#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "text/vocabulary.h"

namespace fuselage {

/// Maximum size of the file of a dictionary in bytes.
inline constexpr std::size_t kMaxDictionaryBytes = std::size_t{256} << 20;

/// A translation for each source word. Immutable, so threads may share it.
class TranslationDictionary {
 public:
  /// No words.
  TranslationDictionary() = default;

  /// Reads lines of a source word, a tab and its translation. Empty lines are skipped; the first
  /// line of a word counts. Words are compared as `source` normalizes them; it must outlive the
  /// dictionary, and null leaves them as they are. Throws Error with `name` and the line for other
  /// lines and for invalid UTF-8.
  TranslationDictionary(std::string_view bytes, const std::string& name,
                        const Vocabulary* source = nullptr);

  /// The translation of a word, or the word itself; valid as long as both.
  std::string_view translate(std::string_view word) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  std::string normalized(std::string_view word) const;

  const Vocabulary* source_ = nullptr;
  std::unordered_map<std::string, std::string, Hash, std::equal_to<>> words_;
};

/// Reads the file of a dictionary, which may be compressed. Throws Error with the path.
TranslationDictionary load_translation_dictionary(const std::string& path,
                                                  const Vocabulary* source = nullptr);

}  // namespace fuselage
