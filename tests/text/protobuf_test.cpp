#include "text/sentencepiece/protobuf.h"

#include <gmock/gmock.h>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

using namespace std::string_view_literals;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

void read_all(std::string_view message) {
  ProtobufReader reader(message);
  for (ProtobufField field; reader.next(field);) {
  }
}

TEST(Protobuf, ReadsWhatItWrites) {
  ProtobufWriter writer;
  writer.add_varint(1, 300);
  writer.add_bytes(200, "ab");
  writer.add_float(3, -1.5f);
  writer.add_varint(4, 0xFFFFFFFFFFFFFFFF);
  ProtobufReader reader(writer.message());
  ProtobufField field;
  ASSERT_TRUE(reader.next(field));
  EXPECT_EQ(field.number, 1u);
  EXPECT_EQ(field.value, 300u);
  ASSERT_TRUE(reader.next(field));
  EXPECT_EQ(field.number, 200u);
  EXPECT_EQ(field.type, WireType::bytes);
  EXPECT_EQ(field.bytes, "ab");
  ASSERT_TRUE(reader.next(field));
  EXPECT_EQ(field.type, WireType::fixed32);
  EXPECT_EQ(field.value, 0xBFC00000u);
  ASSERT_TRUE(reader.next(field));
  EXPECT_EQ(field.value, 0xFFFFFFFFFFFFFFFFu);
  EXPECT_FALSE(reader.next(field));
}

TEST(Protobuf, ReadsFixedWidths) {
  ProtobufReader reader("\x09\1\2\3\4\5\6\7\x08"sv);
  ProtobufField field;
  ASSERT_TRUE(reader.next(field));
  EXPECT_EQ(field.type, WireType::fixed64);
  EXPECT_EQ(field.value, 0x0807060504030201u);
}

TEST(Protobuf, RefusesWhatHasSeveralReadings) {
  const auto refuses = [](std::string_view message, const char* why) {
    EXPECT_THAT([&] { read_all(message); }, ThrowsMessage<Error>(HasSubstr(why)));
  };
  refuses("\xB3\x09\xB4\x09"sv, "field 150 has the wire type 3");  // a group
  refuses("\x0E"sv, "field 1 has the wire type 6");
  refuses("\x92\x80\x80\x80\x10\0"sv, "field 536870914");  // 2 in 29 bits
  refuses("\x92\x80\x00\x00"sv, "takes more bytes");       // overlong tag
  refuses("\x08\x80\x00"sv, "takes more bytes");           // overlong value
  refuses("\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02"sv, "more than 64 bits");
  refuses("\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"sv, "more than 64 bits");
  refuses("\0\1"sv, "a field 0");
  refuses("\x80\x80\x80\x80\x10\0"sv, "a field 536870912");
}

TEST(Protobuf, RefusesWhatIsCutShort) {
  for (const std::string_view message :
       {"\x08"sv, "\x08\x80"sv, "\x0A"sv, "\x0A\2a"sv, "\x09\1\2\3"sv, "\x0D\1\2\3"sv,
        "\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"sv})
    EXPECT_THAT([&] { read_all(message); }, ThrowsMessage<Error>(HasSubstr("before the end")));
}

}  // namespace
}  // namespace fuselage
