#include <gmock/gmock.h>

#include "corpus/job/shard.h"
#include "corpus/records/json_records.h"
#include "corpus/records/tsv_records.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// The row with each of its lines in brackets as its translation.
std::string bracketed(const RecordFormat& format, const std::string& row) {
  const Record record = format.read(row, 0);
  std::vector<Translation> translations;
  for (const std::string& line : record.lines)
    translations.push_back({.n_best = {{.text = "[" + line + "]", .hypothesis = {}}}});
  return record.joined(translations);
}

TEST(TsvRecords, AddAColumn) {
  EXPECT_EQ(bracketed(TsvRecords("2", "t"), "a\tb\tc"), "a\tb\tc\t[b]\n");
  EXPECT_EQ(bracketed(TsvRecords("1", "t"), "\r"), "\t[]\r\n");
  EXPECT_THAT([] { bracketed(TsvRecords("2", "t"), "a"); },
              ThrowsMessage<Error>(HasSubstr("1 column, but column 2")));
}

TEST(TsvRecords, FindAColumnByItsName) {
  TsvRecords records("b", "t");
  EXPECT_EQ(records.read_header("a\tb"), "a\tb\tt\n");
  EXPECT_EQ(bracketed(records, "1\t2"), "1\t2\t[2]\n");
  EXPECT_THAT(
      [&] { records.read_header("b\ta"); },
      ThrowsMessage<Error>(HasSubstr("the header has 'b', 'a', but that of the first file")));
}

TEST(TsvRecords, KeepTranslationsInTheirColumn) {
  const Record record = TsvRecords("1", "t").read("a", 0);
  const std::vector<Translation> translations{{.n_best = {{.text = "x\ty", .hypothesis = {}}}}};
  EXPECT_EQ(record.joined(translations), "a\tx y\n");
}

TEST(JsonRecords, KeepAllBytes) {
  const JsonRecords records("a", "t");
  EXPECT_EQ(bracketed(records, R"( { "z" : 1.500 , "a":"x\u00e4\"" } )"),
            " { \"z\" : 1.500 , \"a\":\"x\\u00e4\\\"\" ,\"t\":\"[x\xC3\xA4\\\"]\"} \n");
  EXPECT_EQ(bracketed(records, R"({"a":null})"), "{\"a\":null,\"t\":null}\n");
  EXPECT_EQ(bracketed(records, R"({"a":""})"), "{\"a\":\"\",\"t\":\"\"}\n");
}

TEST(JsonRecords, TranslateEachLine) {
  const Record record = JsonRecords("a", "t").read(R"({"a":"x\n\n \t\n y\r\n"})", 0);
  EXPECT_THAT(record.lines, ElementsAre("x", " y"));
  EXPECT_EQ(bracketed(JsonRecords("a", "t"), R"({"a":"x\n\ny\r\n"})"),
            R"({"a":"x\n\ny\r\n","t":"[x]\n\n[y]\r\n"})"
            "\n");
}

TEST(JsonRecords, ReadOnlyKeysOfTheObjectItself) {
  EXPECT_EQ(bracketed(JsonRecords("a", "t"), R"({"b":{"a":1,"t":2},"c":["a"],"a":"x"})"),
            R"({"b":{"a":1,"t":2},"c":["a"],"a":"x","t":"[x]"})"
            "\n");
}

TEST(Shard, IsEveryNth) {
  const Shard shard = parse_shard("2/3");
  EXPECT_FALSE(shard.has(0));
  EXPECT_TRUE(shard.has(1));
  EXPECT_TRUE(shard.has(4));
  EXPECT_THAT([] { parse_shard("4/3"); }, ThrowsMessage<Error>(HasSubstr("not '4/3'")));
}

}  // namespace
}  // namespace fuselage
