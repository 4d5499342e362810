#include "text/sentencepiece/splitter.h"

#include <fmt/format.h>

#include <vector>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "text/sentencepiece/segmenter.h"
#include "text/split.h"

namespace fuselage {
namespace {

class SentencePieceSplitter : public TextSplitter {
 public:
  SentencePieceSplitter(std::string_view bytes, const std::string& name)
      : segmenter_(bytes, name) {}

  std::string split(std::string_view line) const override {
    std::vector<std::string> pieces;
    const auto status = segmenter_.library().Encode(line, &pieces);
    if (!status.ok())
      throw Error(fmt::format("SentencePiece cannot encode {}: {}", in_quotes(line),
                              in_quotes(status.message())));
    std::string words;
    bool in_unknown = false;
    for (const std::string& piece : pieces) {
      const bool unknown = segmenter_.spells_unknown(segmenter_.library().PieceToId(piece));
      if (!words.empty() && !(unknown && in_unknown)) words += ' ';
      if (unknown)
        words += spelled_byte(piece);
      else
        words += piece;
      in_unknown = unknown;
    }
    return words;
  }

  std::string join(std::string_view words) const override {
    std::vector<std::string> pieces;
    for_each_word(words, [&](std::string_view word) { pieces.emplace_back(word); });
    std::string text;
    const auto status = segmenter_.library().Decode(pieces, &text);
    if (!status.ok())
      throw Error(fmt::format("SentencePiece cannot decode {} pieces: {}", pieces.size(),
                              in_quotes(status.message())));
    return text;
  }

  std::vector<std::string> texts(std::string_view line) const override {
    return segmenter_.surfaces(line);
  }

  std::string normalized(std::string_view line) const override {
    return segmenter_.normalized(line);
  }

  std::string join(const std::vector<std::string>& words,
                   std::span<const std::string> texts) const override {
    return segmenter_.decode(words, texts);
  }

  bool continues_word(std::string_view word) const override { return piece_continues_word(word); }

 private:
  SentencePieceSegmenter segmenter_;
};

}  // namespace

bool begins_sentencepiece_model(std::string_view bytes) {
  constexpr char kFirstPiece = 1 << 3 | 2;  // field 1, with a length
  return bytes.starts_with(kFirstPiece);
}

std::unique_ptr<const TextSplitter> parse_sentencepiece_splitter(std::string_view bytes,
                                                                 const std::string& name) {
  return std::make_unique<SentencePieceSplitter>(bytes, name);
}

}  // namespace fuselage
