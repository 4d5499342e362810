#include "text/sentencepiece/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "text/sentencepiece/segmenter.h"
#include "text/split.h"

namespace fuselage {
namespace {

constexpr int kFirstPrintableByte = 0x20;
constexpr WordId kMaxPieceOffset = 1'000'000;

class SentencePieceVocabulary : public Vocabulary {
 public:
  SentencePieceVocabulary(std::string_view bytes, const std::string& name,
                          const VocabularyOptions& options)
      : options_(options), segmenter_(bytes, name), processor_(segmenter_.library()) {
    if (options.piece_offset < 0 || options.piece_offset > kMaxPieceOffset)
      throw Error(fmt::format("{}: the offset of its pieces is {}; 0 to {} is possible", name,
                              options.piece_offset, kMaxPieceOffset));
    options_.added_words = numbered(options.added_words, segmenter_.size() + options.piece_offset);
    added_ = AddedWords(options_.added_words, options.limit, name);
    check_added_words(name);
    stored_size_ = size_ = std::max(segmenter_.size() + options.piece_offset, added_.end());
    end_id_ = symbol(options.end, "</s>", processor_.eos_id(), "end symbol (eos)", name);
    unknown_id_ = symbol(options.unknown, "<unk>", processor_.unk_id(), "unknown symbol", name);
    apply_limit(name);
    pieces_ = std::min(size_, segmenter_.size() + options.piece_offset);
    size_ = std::max(size_, static_cast<WordId>(options.least_size));
    stored_size_ = std::max(stored_size_, size_);
    for (int byte = 0; byte < kFirstPrintableByte; ++byte) {
      const WordId piece = processor_.PieceToId(byte_piece(byte));
      const WordId id = id_of_piece(piece);
      if (id < pieces_ && id != unknown_id_ && processor_.IsByte(piece)) control_ids_.push_back(id);
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
    for (WordId& id : ids) id = known_id(id);
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
    const auto is_piece = [this](WordId id) { return id != end_id_ && holds_piece(id); };
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
    for (const WordId id : ids)
      if (is_piece(id)) pieces.push_back(id - options_.piece_offset);
    const auto status = processor_.Decode(pieces, &text);
    if (!status.ok())
      throw Error(fmt::format("SentencePiece cannot decode {} pieces: {}", ids.size(),
                              in_quotes(status.message())));
    return text;
  }

  std::string_view word(WordId id) const override {
    if (is_added(id)) return added_.text(id);
    return holds_piece(id) ? std::string_view(processor_.IdToPiece(id - options_.piece_offset))
                           : std::string_view();
  }

  std::optional<WordId> find(std::string_view word) const override {
    if (const std::optional<WordId> id = added_.find(word)) return id;
    const WordId piece = processor_.PieceToId(word);
    if (processor_.IdToPiece(piece) != word) return std::nullopt;
    const WordId id = id_of_piece(piece);
    return holds_piece(id) ? std::optional(id) : std::nullopt;
  }

  bool splits_text() const override { return true; }

  bool continues_word(WordId id) const override { return piece_continues_word(word(id)); }

 private:
  WordId id_of_piece(WordId piece) const { return piece + options_.piece_offset; }

  /// Whether the id is that of a piece of the file, and not of an added word.
  bool holds_piece(WordId id) const {
    return id >= options_.piece_offset && id < pieces_ && !is_added(id);
  }

  /// The id of a piece of the file in a text.
  WordId known_id(WordId piece) const {
    const WordId id = id_of_piece(piece);
    return piece != processor_.unk_id() && holds_piece(id) ? id : unknown_id_;
  }

  /// Throws Error for an added word whose id or text belongs to another piece. With an offset the
  /// ids of symbols of the file are free.
  void check_added_words(const std::string& name) const {
    for (const WordEntry& added : options_.added_words) {
      const WordId place = added.id - options_.piece_offset;
      const bool is_held = place >= 0 && place < segmenter_.size() &&
                           (options_.piece_offset == 0 ||
                            !(processor_.IsControl(place) || processor_.IsUnknown(place)));
      if (is_held && processor_.IdToPiece(place) != added.word)
        throw Error(fmt::format(
            "{}: id {} belongs to {}, so that it cannot be that of the added "
            "word {}",
            name, added.id, in_quotes(processor_.IdToPiece(place)), in_quotes(added.word)));
    }
  }

  /// The id of a symbol: the stated one, else the usual one among the added words, else the file's.
  WordId symbol(const std::string& stated, std::string_view usual, WordId piece,
                std::string_view what, const std::string& name) const {
    if (!stated.empty()) {
      const std::optional<WordId> added = added_.find(stated);
      const WordId found = processor_.PieceToId(stated);
      if (!added && processor_.IdToPiece(found) != stated)
        throw Error(fmt::format("{}: the SentencePiece model has no piece {}, the {}", name,
                                in_quotes(stated), what));
      return added.value_or(id_of_piece(found));
    }
    if (const std::optional<WordId> added = added_.find(usual)) return *added;
    if (piece < 0)
      throw Error(
          fmt::format("{}: the SentencePiece model has no {}; train it with one", name, what));
    return id_of_piece(piece);
  }

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
