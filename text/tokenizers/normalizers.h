#pragma once

#include <memory>
#include <string>
#include <vector>

#include "text/tokenizers/aligned_text.h"

namespace fuselage {

class JsonPart;

/// Changes a text before it is split.
class TextNormalizer {
 public:
  virtual ~TextNormalizer() = default;
  TextNormalizer(const TextNormalizer&) = delete;
  TextNormalizer& operator=(const TextNormalizer&) = delete;

  virtual void apply(AlignedText& text) const = 0;

 protected:
  TextNormalizer() = default;
};

using TextNormalizers = std::vector<std::unique_ptr<const TextNormalizer>>;

/// Appends the steps of the `normalizer` of a tokenizer.json: Sequence, Precompiled, Replace,
/// Prepend, Strip, StripAccents, Lowercase, NFC, NFD, NFKC, NFKD and Nmt, as the library
/// `tokenizers` has them. Throws Error for any other one.
void add_normalizers(const JsonPart& part, TextNormalizers& normalizers);

void apply(const TextNormalizers& normalizers, AlignedText& text);

}  // namespace fuselage
