#pragma once

#include <memory>
#include <vector>

#include "text/tokenizers/aligned_text.h"

namespace fuselage {

class JsonPart;

/// Divides a text into parts, which a model splits into tokens one by one.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  PreTokenizer(const PreTokenizer&) = delete;
  PreTokenizer& operator=(const PreTokenizer&) = delete;

  /// Appends the parts of a text.
  virtual void split(AlignedText text, std::vector<AlignedText>& parts) const = 0;

  /// Whether it writes bytes as characters (byte_level.h).
  virtual bool writes_bytes() const { return false; }

 protected:
  PreTokenizer() = default;
};

using PreTokenizers = std::vector<std::unique_ptr<const PreTokenizer>>;

/// Appends the steps of the `pre_tokenizer` of a tokenizer.json: Sequence, WhitespaceSplit,
/// Metaspace and ByteLevel, as the library `tokenizers` has them. Throws Error for any other one.
void add_pre_tokenizers(const JsonPart& part, PreTokenizers& pre_tokenizers);

/// The parts of a text that are not empty.
std::vector<AlignedText> split(const PreTokenizers& pre_tokenizers, AlignedText text);

}  // namespace fuselage
