#include "models/huggingface/language_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "models/formats/byte_cursor.h"
#include "models/formats/json.h"

namespace fuselage {
namespace {

constexpr JsonLimits kTokenizerLimits{.bytes = std::size_t{64} << 20, .values = 4'000'000};

using Pieces = std::function<void(std::string_view)>;

std::uint64_t read_varint(ByteCursor& cursor) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const auto byte = cursor.number<std::uint8_t>("a number");
    value |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) break;
  }
  return value;
}

/// Calls `field` with the bytes of each occurrence of field 1 of a Protocol Buffers message.
void for_each_first_field(std::string_view bytes, const std::string& path, const Pieces& field) {
  ByteCursor cursor(bytes, path);
  while (cursor.remaining() > 0) {
    const std::uint64_t key = read_varint(cursor);
    switch (key & 7U) {
      case 0:
        read_varint(cursor);
        break;
      case 1:
        cursor.take(8, "a field");
        break;
      case 2: {
        const std::string_view content = cursor.take(read_varint(cursor), "a field");
        if (key >> 3U == 1) field(content);
        break;
      }
      case 5:
        cursor.take(4, "a field");
        break;
      default:
        throw Error(fmt::format("{}: it is no SentencePiece model", path));
    }
  }
}

/// The pieces of a model are its fields 1, and the text of a piece is the field 1 of these.
void for_each_piece_of_model(const std::string& path, const Pieces& piece) {
  const std::string bytes = read_file(path, kTokenizerLimits.bytes);
  for_each_first_field(
      bytes, path, [&](std::string_view message) { for_each_first_field(message, path, piece); });
}

void for_each_piece_of_json(const std::string& path, const Pieces& piece) {
  const nlohmann::json json =
      load_json(read_file(path, kTokenizerLimits.bytes), path, kTokenizerLimits);
  const auto text_of = [&](const nlohmann::json& text) {
    if (text.is_string()) piece(text.get_ref<const std::string&>());
  };
  if (!json.is_object()) return;
  const nlohmann::json& model = json.value("model", nlohmann::json::object());
  // Of Unigram a list of pieces with scores; others have no such languages.
  if (const auto vocabulary = model.find("vocab");
      vocabulary != model.end() && vocabulary->is_array())
    for (const nlohmann::json& entry : *vocabulary)
      if (entry.is_array() && !entry.empty()) text_of(entry.front());
  if (const auto added = json.find("added_tokens"); added != json.end() && added->is_array())
    for (const nlohmann::json& token : *added)
      if (token.is_object() && token.contains("content")) text_of(token.at("content"));
}

bool is_code(std::string_view text) {
  const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
  return text.size() >= 2 && is_small(text[0]) && is_small(text[1]) &&
         std::ranges::all_of(text, [&](char c) {
           return is_small(c) || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
         });
}

}  // namespace

std::vector<std::string> languages_of_pieces(const std::string& path) {
  std::vector<std::string> codes;
  const auto add = [&](std::string_view piece) {
    if (!piece.starts_with("<2") || !piece.ends_with(">")) return;
    const std::string_view code = piece.substr(2, piece.size() - 3);
    if (is_code(code) && std::ranges::find(codes, code) == codes.end()) codes.emplace_back(code);
  };
  if (path.ends_with(".json"))
    for_each_piece_of_json(path, add);
  else
    for_each_piece_of_model(path, add);
  return codes;
}

}  // namespace fuselage
