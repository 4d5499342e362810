#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fuselage {

/// Encoding of a field's value (protocol buffers wire types, without groups).
enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

/// One field of a message.
struct ProtobufField {
  std::uint32_t number = 0;
  WireType type = WireType::varint;
  std::uint64_t value = 0;  ///< value of a varint or a fixed-width field
  std::string_view bytes;   ///< content of a field of type `bytes`; refers to the message
};

/// Reads the fields of a message in the protocol buffers wire format, more strictly than other
/// readers: numbers have their shortest encoding, field numbers are 1 to 2^29 - 1, and groups are
/// refused. So an accepted message has only one interpretation.
class ProtobufReader {
 public:
  explicit ProtobufReader(std::string_view message) : rest_(message) {}

  /// Reads the next field; false at the end of the message. Throws Error, without a file name, for
  /// an invalid message.
  bool next(ProtobufField& field);

 private:
  std::uint64_t varint();
  std::string_view take(std::uint64_t size);
  std::uint64_t fixed(std::uint64_t size);

  std::string_view rest_;
};

/// Writes a message field by field.
class ProtobufWriter {
 public:
  void add_varint(std::uint32_t number, std::uint64_t value);
  void add_float(std::uint32_t number, float value);
  void add_bytes(std::uint32_t number, std::string_view bytes);

  const std::string& message() const { return message_; }

 private:
  void put_key(std::uint32_t number, WireType type);
  void put_varint(std::uint64_t value);

  std::string message_;
};

}  // namespace fuselage
