#include "text/sentencepiece/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "text/sentencepiece/segmenter.h"
#include "text/split.h"

namespace fuselage {
namespace {

constexpr int kFirstPrintableByte = 0x20;

class SentencePieceVocabulary : public Vocabulary {
 public:
  SentencePieceVocabulary(std::string_view bytes, const std::string& name,
                          const VocabularyOptions& options)
      : options_(options), segmenter_(bytes, name), processor_(segmenter_.library()) {
    stored_size_ = size_ = segmenter_.size();
    end_id_ = processor_.eos_id();
    unknown_id_ = processor_.unk_id();
    if (end_id_ < 0)
      throw Error(fmt::format(
          "{}: the SentencePiece model has no end symbol (eos); train it with one", name));
    if (unknown_id_ < 0)
      throw Error(fmt::format(
          "{}: the SentencePiece model has no unknown symbol; train it with one", name));
    apply_limit(name);
    pieces_ = size_;
    size_ = std::max(size_, static_cast<WordId>(options.least_size));
    stored_size_ = std::max(stored_size_, size_);
    for (int byte = 0; byte < kFirstPrintableByte; ++byte) {
      const WordId id = processor_.PieceToId(byte_piece(byte));
      if (id < pieces_ && id != unknown_id_ && processor_.IsByte(id)) control_ids_.push_back(id);
    }
    std::sort(control_ids_.begin(), control_ids_.end());
  }

  std::vector<WordId> encode(std::string_view line) const override {
    line = without_carriage_return(line);
    std::vector<WordId> ids;
    if (options_.sentencepiece_encode) {
      const auto status = processor_.Encode(line, &ids);
      if (!status.ok())
        throw Error(fmt::format("SentencePiece cannot encode {}: {}", in_quotes(line),
                                in_quotes(status.message())));
      join_spelled(ids);
    } else {
      for_each_word(line,
                    [&](std::string_view piece) { ids.push_back(processor_.PieceToId(piece)); });
    }
    for (WordId& id : ids)
      if (id >= pieces_) id = unknown_id_;
    ids.push_back(end_id_);
    return ids;
  }

  std::vector<std::string> texts(std::string_view line) const override {
    std::vector<std::string> texts;
    line = without_carriage_return(line);
    if (options_.sentencepiece_encode) return segmenter_.surfaces(line);
    for_each_word(line, [&](std::string_view piece) { texts.emplace_back(piece); });
    return texts;
  }

  std::string normalized(std::string_view line) const override {
    return options_.sentencepiece_encode ? segmenter_.normalized(line) : std::string(line);
  }

  using Vocabulary::decode;
  std::string decode(std::span<const WordId> ids,
                     std::span<const std::string> texts) const override {
    if (!options_.sentencepiece_decode) return joined_words(*this, ids, texts);
    const auto is_piece = [this](WordId id) { return id != end_id_ && id >= 0 && id < pieces_; };
    if (!texts.empty()) {
      std::vector<std::string> pieces, kept;
      for (std::size_t i = 0; i < ids.size(); ++i) {
        if (!is_piece(ids[i])) continue;
        pieces.emplace_back(word(ids[i]));
        kept.push_back(texts[i]);
      }
      return segmenter_.decode(pieces, kept);
    }
    std::string text;
    std::vector<int> pieces;
    std::copy_if(ids.begin(), ids.end(), std::back_inserter(pieces), is_piece);
    const auto status = processor_.Decode(pieces, &text);
    if (!status.ok())
      throw Error(fmt::format("SentencePiece cannot decode {} pieces: {}", ids.size(),
                              in_quotes(status.message())));
    return text;
  }

  std::string_view word(WordId id) const override {
    if (id < 0 || id >= pieces_) return "";
    return processor_.IdToPiece(id);
  }

  bool continues_word(WordId id) const override { return piece_continues_word(word(id)); }

 private:
  /// Replaces each run of pieces that spell unknown characters by one piece.
  void join_spelled(std::vector<WordId>& ids) const {
    const auto spelled = [this](WordId id) { return segmenter_.spells_unknown(id); };
    const auto joined = [&](WordId a, WordId b) { return spelled(a) && spelled(b); };
    ids.erase(std::unique(ids.begin(), ids.end(), joined), ids.end());
  }

  void apply_limit(const std::string& name) {
    if (options_.limit <= 0 || options_.limit >= size_) return;
    size_ = static_cast<WordId>(options_.limit);
    if (end_id_ >= size_ || unknown_id_ >= size_)
      throw Error(
          fmt::format("{}: end symbol {} or unknown symbol {} is not below the limit of {} words",
                      name, end_id_, unknown_id_, options_.limit));
  }

  VocabularyOptions options_;
  SentencePieceSegmenter segmenter_;
  const sentencepiece::SentencePieceProcessor& processor_;
  WordId pieces_ = 0;  ///< ids below have a piece
};

}  // namespace

std::unique_ptr<const Vocabulary> parse_sentencepiece_vocabulary(std::string_view bytes,
                                                                 const std::string& name,
                                                                 const VocabularyOptions& options) {
  return std::make_unique<SentencePieceVocabulary>(bytes, name, options);
}

}  // namespace fuselage
