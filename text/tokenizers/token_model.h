#pragma once

#include <string_view>
#include <vector>

#include "text/tokenizers/aligned_text.h"
#include "text/word_entry.h"

namespace fuselage {

/// A word of a text as a model splits it.
struct Token {
  WordId id = 0;
  TextRange range = {};  ///< of the text that was split
};

/// Splits a part of a text into tokens. Immutable, so threads may share it.
class TokenModel {
 public:
  virtual ~TokenModel() = default;
  TokenModel(const TokenModel&) = delete;
  TokenModel& operator=(const TokenModel&) = delete;

  /// Appends the tokens of a part, which is valid UTF-8.
  virtual void split(std::string_view part, std::vector<Token>& tokens) const = 0;

 protected:
  TokenModel() = default;
};

}  // namespace fuselage
