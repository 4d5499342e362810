#include "text/sentencepiece/segmenter.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_set>
#include <vector>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "text/sentencepiece/model.h"
#include "text/word_boundaries.h"

namespace sentencepiece::logging {
// Exported by the library, but missing from its installed headers.
void SetMinLogLevel(int level);
}  // namespace sentencepiece::logging

namespace fuselage {
namespace {

constexpr int kBytes = 256;
constexpr int kLogNothingButFatal = 3;
constexpr std::string_view kSpace = "\xE2\x96\x81";

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

}  // namespace

bool piece_continues_word(std::string_view piece) {
  return !piece.starts_with(kSpace) && begins_with_letter(piece);
}

std::string byte_piece(int byte) { return fmt::format("<0x{:02X}>", byte); }

char spelled_byte(std::string_view piece) {
  unsigned byte = 0;
  std::from_chars(piece.data() + 3, piece.data() + 5, byte, 16);
  return static_cast<char>(byte);
}

SentencePieceSegmenter::SentencePieceSegmenter(std::string_view bytes, const std::string& name) {
  // The library also prints the errors that it returns.
  sentencepiece::logging::SetMinLogLevel(kLogNothingButFatal);
  const std::string failure = load(bytes);
  if (!failure.empty())
    throw Error(
        fmt::format("{}: the file is truncated or not a SentencePiece model ({})", name, failure));
}

std::vector<std::string> SentencePieceSegmenter::surfaces(std::string_view line) const {
  const sentencepiece::ImmutableSentencePieceText text = processor_.EncodeAsImmutableProto(line);
  std::vector<std::string> surfaces;
  bool in_unknown = false;
  for (const auto& piece : text.pieces()) {
    const bool unknown = spells_unknown(static_cast<WordId>(piece.id()));
    if (!(unknown && in_unknown)) surfaces.emplace_back();
    surfaces.back() += piece.surface();
    in_unknown = unknown;
  }
  for (std::string& surface : surfaces) {
    surface.erase(0, surface.find_first_not_of(' '));
    surface.erase(surface.find_last_not_of(' ') + 1);
  }
  return surfaces;
}

std::string SentencePieceSegmenter::normalized(std::string_view line) const {
  const sentencepiece::ImmutableSentencePieceText encoded = processor_.EncodeAsImmutableProto(line);
  std::string text;
  for (const auto& piece : encoded.pieces()) {
    if (processor_.IsByte(static_cast<int>(piece.id()))) {
      text += spelled_byte(piece.piece());
      continue;
    }
    std::string_view rest = piece.piece();
    for (std::size_t at = 0; (at = rest.find(kSpace)) != std::string_view::npos;) {
      text.append(rest, 0, at) += ' ';
      rest.remove_prefix(at + kSpace.size());
    }
    text += rest;
  }
  return text;
}

std::string SentencePieceSegmenter::decode(const std::vector<std::string>& pieces,
                                           std::span<const std::string> texts) const {
  const sentencepiece::ImmutableSentencePieceText decoded =
      processor_.DecodePiecesAsImmutableProto(pieces);
  std::string text;
  for (std::size_t i = 0; i < pieces.size(); ++i)
    text += texts[i].empty() ? decoded.pieces(static_cast<int>(i)).surface() : texts[i];
  return text;
}

std::string SentencePieceSegmenter::load(std::string_view bytes) {
  if (bytes.empty()) return "it is empty";
  try {
    SentencePieceModel model = parse_sentencepiece_model(bytes);
    size_ = static_cast<WordId>(model.pieces.size());
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

}  // namespace fuselage
