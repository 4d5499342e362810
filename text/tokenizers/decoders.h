#pragma once

#include <memory>
#include <string>
#include <vector>

namespace fuselage {

class JsonPart;

/// A part of a text that is being put together.
struct DecodedPart {
  std::string text;
  bool is_final = false;  ///< another text in the place of a token, which no step changes
};

/// A step from tokens to text.
class TokenDecoder {
 public:
  virtual ~TokenDecoder() = default;
  TokenDecoder(const TokenDecoder&) = delete;
  TokenDecoder& operator=(const TokenDecoder&) = delete;

  virtual void apply(std::vector<DecodedPart>& parts) const = 0;

 protected:
  TokenDecoder() = default;
};

using TokenDecoders = std::vector<std::unique_ptr<const TokenDecoder>>;

/// Appends the steps of the `decoder` of a tokenizer.json: Sequence, Metaspace, ByteLevel, Replace,
/// ByteFallback, Fuse and Strip, as the library `tokenizers` has them. Throws Error for any other
/// one.
void add_decoders(const JsonPart& part, TokenDecoders& decoders);

/// The text of tokens; without steps they are separated by spaces.
std::string decode(const TokenDecoders& decoders, std::vector<DecodedPart> parts);

}  // namespace fuselage
