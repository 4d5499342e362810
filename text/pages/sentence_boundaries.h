#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace fuselage {

/// The boundaries of sentences that the rules of Unicode (UAX 29) propose. Immutable, so threads
/// may share it.
class SentenceBoundaries {
 public:
  /// `language` is an ISO 639-1 code; only a few languages have rules of their own.
  explicit SentenceBoundaries(const std::string& language);
  ~SentenceBoundaries();

  /// Calls `action` with the place of each boundary within a text, in order: neither its beginning
  /// nor its end.
  void for_each(std::string_view text, const std::function<void(std::size_t)>& action) const;

 private:
  class Impl;
  std::unique_ptr<const Impl> impl_;
};

/// The ISO 639-1 code of a language if it has one: "de" of "deu_Latn", "de-AT" and "DE".
std::string base_language(std::string_view language);

}  // namespace fuselage
