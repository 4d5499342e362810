#include "text/sentencepiece/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "fuselage/base/error.h"
#include "text/sentencepiece/charsmap.h"
#include "text/sentencepiece/protobuf.h"
#include "text/utf8.h"

namespace fuselage {
namespace {

using Model = SentencePieceModel;

constexpr std::size_t kMaxPieces = 2'000'000;
constexpr std::size_t kMaxPieceBytes = 2048;   // 512 characters, the maximum in training
constexpr std::size_t kMaxNestedSymbols = 64;  // the library's buffer of matches

// Field numbers of sentencepiece_model.proto. All other fields are for training only.
namespace model_field {
constexpr std::uint32_t kPieces = 1, kTrainer = 2, kNormalizer = 3, kDenormalizer = 5;
}
namespace piece_field {
constexpr std::uint32_t kText = 1, kScore = 2, kType = 3;
}
namespace trainer_field {
constexpr std::uint32_t kModelType = 3, kTreatWhitespaceAsSuffix = 24, kByteFallback = 35,
                        kUnknownSurface = 44, kUnknown = 45, kBegin = 46, kEnd = 47, kPadding = 48;
}
namespace normalizer_field {
constexpr std::uint32_t kCharsmap = 2, kAddDummyPrefix = 3, kRemoveExtraWhitespaces = 4,
                        kEscapeWhitespaces = 5;
}

void require(const ProtobufField& field, WireType type) {
  if (field.type != type)
    throw Error(fmt::format("field {} has the wire type {}, not {}", field.number,
                            static_cast<unsigned>(field.type), static_cast<unsigned>(type)));
}

bool boolean(const ProtobufField& field) {
  require(field, WireType::varint);
  return field.value != 0;
}

std::string_view bytes_of(const ProtobufField& field) {
  require(field, WireType::bytes);
  return field.bytes;
}

/// The text of a field, which must be valid UTF-8 of at most kMaxPieceBytes bytes.
std::string_view text_of(const ProtobufField& field) {
  const std::string_view text = bytes_of(field);
  if (text.size() > kMaxPieceBytes)
    throw Error(fmt::format("a text has {} bytes, more than {}", text.size(), kMaxPieceBytes));
  if (!is_valid_utf8(text)) throw Error("a text is not valid UTF-8, or has NUL in it");
  return text;
}

/// The value of an enumeration whose values are 1 to `last`.
template <typename Enum>
Enum enumerated(const ProtobufField& field, Enum last, std::string_view what) {
  require(field, WireType::varint);
  if (field.value < 1 || field.value > static_cast<std::uint64_t>(last))
    throw Error(fmt::format("the type of {} is {}; types are 1 to {}", what, field.value,
                            static_cast<unsigned>(last)));
  return static_cast<Enum>(field.value);
}

Model::Piece parse_piece(std::string_view message) {
  Model::Piece piece;
  ProtobufReader reader(message);
  for (ProtobufField field; reader.next(field);) {
    switch (field.number) {
      case piece_field::kText:
        piece.text = text_of(field);
        break;
      case piece_field::kScore:
        require(field, WireType::fixed32);
        piece.score = std::bit_cast<float>(static_cast<std::uint32_t>(field.value));
        break;
      case piece_field::kType:
        piece.type = enumerated(field, Model::PieceType::byte, "the piece");
        break;
      default:
        break;
    }
  }
  if (!std::isfinite(piece.score))
    throw Error(fmt::format("its score is {}, no finite number", piece.score));
  return piece;
}

void merge_trainer(std::string_view message, Model& model) {
  ProtobufReader reader(message);
  for (ProtobufField field; reader.next(field);) {
    switch (field.number) {
      case trainer_field::kModelType:
        model.type = enumerated(field, Model::Type::character, "the model");
        break;
      case trainer_field::kTreatWhitespaceAsSuffix:
        model.treat_whitespace_as_suffix = boolean(field);
        break;
      case trainer_field::kByteFallback:
        model.byte_fallback = boolean(field);
        break;
      case trainer_field::kUnknownSurface:
        model.unknown_surface = text_of(field);
        break;
      case trainer_field::kUnknown:
        model.unknown = text_of(field);
        break;
      case trainer_field::kBegin:
        model.begin = text_of(field);
        break;
      case trainer_field::kEnd:
        model.end = text_of(field);
        break;
      case trainer_field::kPadding:
        model.padding = text_of(field);
        break;
      default:
        break;
    }
  }
}

void merge_normalizer(std::string_view message, Model::Normalizer& normalizer) {
  ProtobufReader reader(message);
  for (ProtobufField field; reader.next(field);) {
    switch (field.number) {
      case normalizer_field::kCharsmap:
        normalizer.charsmap = bytes_of(field);
        break;
      case normalizer_field::kAddDummyPrefix:
        normalizer.add_dummy_prefix = boolean(field);
        break;
      case normalizer_field::kRemoveExtraWhitespaces:
        normalizer.remove_extra_whitespaces = boolean(field);
        break;
      case normalizer_field::kEscapeWhitespaces:
        normalizer.escape_whitespaces = boolean(field);
        break;
      default:
        break;
    }
  }
}

/// Limits the symbols that are prefixes of one symbol: the library finds all of them at once.
void check_nested_symbols(const std::vector<Model::Piece>& pieces) {
  std::vector<std::string_view> symbols;
  for (const Model::Piece& piece : pieces)
    if (piece.type == Model::PieceType::user_defined) symbols.push_back(piece.text);
  std::sort(symbols.begin(), symbols.end());
  std::vector<std::string_view> nested;  // each begins the next one
  for (const std::string_view symbol : symbols) {
    while (!nested.empty() && !symbol.starts_with(nested.back())) nested.pop_back();
    nested.push_back(symbol);
    if (nested.size() > kMaxNestedSymbols)
      throw Error(fmt::format("more than {} user-defined symbols begin alike", kMaxNestedSymbols));
  }
}

std::string print_piece(const Model::Piece& piece) {
  ProtobufWriter writer;
  writer.add_bytes(piece_field::kText, piece.text);
  writer.add_float(piece_field::kScore, piece.score);
  writer.add_varint(piece_field::kType, static_cast<std::uint64_t>(piece.type));
  return writer.message();
}

std::string print_trainer(const Model& model) {
  ProtobufWriter writer;
  writer.add_varint(trainer_field::kModelType, static_cast<std::uint64_t>(model.type));
  writer.add_varint(trainer_field::kTreatWhitespaceAsSuffix,
                    static_cast<std::uint64_t>(model.treat_whitespace_as_suffix));
  writer.add_varint(trainer_field::kByteFallback, static_cast<std::uint64_t>(model.byte_fallback));
  writer.add_bytes(trainer_field::kUnknownSurface, model.unknown_surface);
  writer.add_bytes(trainer_field::kUnknown, model.unknown);
  writer.add_bytes(trainer_field::kBegin, model.begin);
  writer.add_bytes(trainer_field::kEnd, model.end);
  writer.add_bytes(trainer_field::kPadding, model.padding);
  return writer.message();
}

std::string print_normalizer(const Model::Normalizer& normalizer) {
  ProtobufWriter writer;
  writer.add_bytes(normalizer_field::kCharsmap, normalizer.charsmap);
  writer.add_varint(normalizer_field::kAddDummyPrefix,
                    static_cast<std::uint64_t>(normalizer.add_dummy_prefix));
  writer.add_varint(normalizer_field::kRemoveExtraWhitespaces,
                    static_cast<std::uint64_t>(normalizer.remove_extra_whitespaces));
  writer.add_varint(normalizer_field::kEscapeWhitespaces,
                    static_cast<std::uint64_t>(normalizer.escape_whitespaces));
  return writer.message();
}

}  // namespace

SentencePieceModel parse_sentencepiece_model(std::string_view bytes) {
  Model model;
  ProtobufReader reader(bytes);
  for (ProtobufField field; reader.next(field);) {
    switch (field.number) {
      case model_field::kPieces:
        if (model.pieces.size() == kMaxPieces)
          throw Error(fmt::format("more than {} pieces", kMaxPieces));
        try {
          model.pieces.push_back(parse_piece(bytes_of(field)));
        } catch (const Error& error) {
          throw Error(fmt::format("piece {}: {}", model.pieces.size(), error.what()));
        }
        break;
      case model_field::kTrainer:
        merge_trainer(bytes_of(field), model);
        break;
      case model_field::kNormalizer:
        merge_normalizer(bytes_of(field), model.normalizer);
        break;
      case model_field::kDenormalizer:
        merge_normalizer(bytes_of(field), model.denormalizer);
        break;
      default:
        break;
    }
  }
  check_nested_symbols(model.pieces);
  check_charsmap(model.normalizer.charsmap);
  check_charsmap(model.denormalizer.charsmap);
  return model;
}

std::string print_sentencepiece_model(const SentencePieceModel& model) {
  ProtobufWriter writer;
  for (const Model::Piece& piece : model.pieces)
    writer.add_bytes(model_field::kPieces, print_piece(piece));
  writer.add_bytes(model_field::kTrainer, print_trainer(model));
  writer.add_bytes(model_field::kNormalizer, print_normalizer(model.normalizer));
  // The library denormalizes if the field exists.
  if (!model.denormalizer.charsmap.empty())
    writer.add_bytes(model_field::kDenormalizer, print_normalizer(model.denormalizer));
  return writer.message();
}

}  // namespace fuselage
