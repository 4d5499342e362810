#include "text/sentencepiece/protobuf.h"

#include <fmt/format.h>

#include <bit>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

constexpr std::uint64_t kMaxFieldNumber = (1u << 29) - 1;

}  // namespace

std::uint64_t ProtobufReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const auto byte = static_cast<std::uint8_t>(take(1).front());
    const std::uint64_t bits = byte & 0x7Fu;
    if (shift == 63 && bits > 1) break;
    value |= bits << shift;
    if (byte >= 0x80) continue;
    if (byte == 0 && shift > 0) throw Error("a number takes more bytes than it needs");
    return value;
  }
  throw Error("a number has more than 64 bits");
}

std::string_view ProtobufReader::take(std::uint64_t size) {
  if (size > rest_.size())
    throw Error(fmt::format("a field of {} bytes begins {} bytes before the end of its message",
                            size, rest_.size()));
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

std::uint64_t ProtobufReader::fixed(std::uint64_t size) {
  std::uint64_t value = 0;
  unsigned shift = 0;
  for (const char byte : take(size)) {
    value |= std::uint64_t{static_cast<std::uint8_t>(byte)} << shift;
    shift += 8;
  }
  return value;
}

bool ProtobufReader::next(ProtobufField& field) {
  if (rest_.empty()) return false;
  const std::uint64_t key = varint();
  const std::uint64_t number = key >> 3;
  if (number == 0 || number > kMaxFieldNumber)
    throw Error(fmt::format("it has a field {}", number));
  field = {static_cast<std::uint32_t>(number), static_cast<WireType>(key & 7), 0, {}};
  switch (field.type) {
    case WireType::varint:
      field.value = varint();
      return true;
    case WireType::fixed64:
      field.value = fixed(8);
      return true;
    case WireType::bytes:
      field.bytes = take(varint());
      return true;
    case WireType::fixed32:
      field.value = fixed(4);
      return true;
  }
  throw Error(
      fmt::format("field {} has the wire type {}, which is not supported", number, key & 7));
}

void ProtobufWriter::put_varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) message_ += static_cast<char>((value & 0x7F) | 0x80);
  message_ += static_cast<char>(value);
}

void ProtobufWriter::put_key(std::uint32_t number, WireType type) {
  put_varint(std::uint64_t{number} << 3 | static_cast<std::uint64_t>(type));
}

void ProtobufWriter::add_varint(std::uint32_t number, std::uint64_t value) {
  put_key(number, WireType::varint);
  put_varint(value);
}

void ProtobufWriter::add_float(std::uint32_t number, float value) {
  put_key(number, WireType::fixed32);
  const auto bits = std::bit_cast<std::uint32_t>(value);
  for (unsigned shift = 0; shift < 32; shift += 8)
    message_ += static_cast<char>(bits >> shift & 0xFF);
}

void ProtobufWriter::add_bytes(std::uint32_t number, std::string_view bytes) {
  put_key(number, WireType::bytes);
  put_varint(bytes.size());
  message_ += bytes;
}

}  // namespace fuselage
