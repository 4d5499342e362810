#include "text/sentencepiece_vocabulary.h"

#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "text/sentencepiece_model.h"
#include "text/split.h"

namespace sentencepiece::logging {
// Exported by the library, but missing from its installed headers.
void SetMinLogLevel(int level);
}  // namespace sentencepiece::logging

namespace fuselage {
namespace {

constexpr int kBytes = 256;
constexpr int kFirstPrintableByte = 0x20;
constexpr int kLogNothingButFatal = 3;

std::string byte_piece(int byte) { return fmt::format("<0x{:02X}>", byte); }

/// Appends byte pieces to the model, with which the library spells unknown characters. Without them
/// it joins a run of unknown characters in quadratic time, by copying the run for each character. A
/// model with pieces of these names is unchanged.
void spell_unknown_characters(SentencePieceModel& model) {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (int byte = 0; byte < kBytes; ++byte) all.push_back(byte_piece(byte));
    return all;
  }();
  const std::unordered_set<std::string_view> taken(names.begin(), names.end());
  const auto is_taken = [&](const auto& piece) { return taken.contains(piece.text); };
  if (model.byte_fallback || std::any_of(model.pieces.begin(), model.pieces.end(), is_taken))
    return;
  model.byte_fallback = true;
  for (const std::string& name : names)
    model.pieces.push_back({name, 0, SentencePieceModel::PieceType::byte});
}

class SentencePieceVocabulary : public Vocabulary {
 public:
  SentencePieceVocabulary(std::string_view bytes, const std::string& name,
                          const VocabularyOptions& options)
      : options_(options) {
    // The library also prints the errors that it returns.
    sentencepiece::logging::SetMinLogLevel(kLogNothingButFatal);
    const std::string failure = load(bytes);
    if (!failure.empty())
      throw Error(fmt::format("{}: the file is truncated or not a SentencePiece model ({})", name,
                              failure));
    end_id_ = processor_.eos_id();
    unknown_id_ = processor_.unk_id();
    if (end_id_ < 0)
      throw Error(fmt::format(
          "{}: the SentencePiece model has no end symbol (eos); train it with one", name));
    if (unknown_id_ < 0)
      throw Error(fmt::format(
          "{}: the SentencePiece model has no unknown symbol; train it with one", name));
    apply_limit(name);
    for (int byte = 0; byte < kFirstPrintableByte; ++byte) {
      const WordId id = processor_.PieceToId(byte_piece(byte));
      if (id < size_ && id != unknown_id_ && processor_.IsByte(id)) control_ids_.push_back(id);
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
      if (id >= size_) id = unknown_id_;
    ids.push_back(end_id_);
    return ids;
  }

  std::string decode(std::span<const WordId> ids) const override {
    std::string text;
    if (!options_.sentencepiece_decode) {
      bool first = true;
      for (const WordId id : ids) {
        if (id == end_id_) continue;
        if (!std::exchange(first, false)) text += ' ';
        text += word(id);
      }
      return text;
    }
    std::vector<int> pieces;
    for (const WordId id : ids)
      if (id != end_id_ && id >= 0 && id < size_) pieces.push_back(id);
    const auto status = processor_.Decode(pieces, &text);
    if (!status.ok())
      throw Error(fmt::format("SentencePiece cannot decode {} pieces: {}", pieces.size(),
                              in_quotes(status.message())));
    return text;
  }

  std::string_view word(WordId id) const override {
    if (id < 0 || id >= size_) return "";
    return processor_.IdToPiece(id);
  }

 private:
  /// Loads the model; returns the error, or "".
  std::string load(std::string_view bytes) {
    if (bytes.empty()) return "it is empty";
    try {
      SentencePieceModel model = parse_sentencepiece_model(bytes);
      stored_size_ = size_ = static_cast<WordId>(model.pieces.size());
      spell_unknown_characters(model);
      const auto status = processor_.LoadFromSerializedProto(print_sentencepiece_model(model));
      return status.ok() ? "" : in_quotes(status.message());
    } catch (const Error& error) {
      return error.what();
    } catch (const std::exception& error) {
      // The library's trie throws for some invalid sets of pieces.
      return in_quotes(error.what());
    }
  }

  /// Replaces each run of pieces that spell unknown characters by one piece. These pieces are
  /// appended to those of the file.
  void join_spelled(std::vector<WordId>& ids) const {
    const auto spelled = [this](WordId id) { return id >= stored_size_; };
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
  sentencepiece::SentencePieceProcessor processor_;
};

}  // namespace

std::unique_ptr<const Vocabulary> parse_sentencepiece_vocabulary(std::string_view bytes,
                                                                 const std::string& name,
                                                                 const VocabularyOptions& options) {
  return std::make_unique<SentencePieceVocabulary>(bytes, name, options);
}

}  // namespace fuselage
