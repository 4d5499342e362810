#include "text/words/word_vocabulary.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "tests/host_locale.h"

namespace fuselage::word_vocabulary_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<const Vocabulary> parse(const std::string& bytes, std::string_view extension,
                                        std::int64_t limit = 0) {
  VocabularyOptions options;
  options.limit = limit;
  return parse_word_vocabulary(bytes, extension, "v.yml", options);
}

std::string error_of(const std::string& bytes, std::string_view extension, std::int64_t limit = 0) {
  try {
    parse(bytes, extension, limit);
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("v.yml"));
    EXPECT_THAT(error.what(), ::testing::Not(HasSubstr("\n")));
    return error.what();
  }
  return "";
}

TEST(WordVocabulary, EncodesAndDecodes) {
  const auto vocabulary = parse("</s>: 0\n<unk>: 1\na: 2\nb@@: 3\n", "yml");
  EXPECT_EQ(vocabulary->size(), 4);
  EXPECT_EQ(vocabulary->end_id(), 0);
  EXPECT_EQ(vocabulary->unknown_id(), 1);
  EXPECT_THAT(vocabulary->control_ids(), ElementsAre());
  EXPECT_THAT(vocabulary->encode("a b@@ c a"), ElementsAre(2, 3, 1, 2, 0));
  EXPECT_THAT(vocabulary->encode("  a   b@@ "), ElementsAre(2, 3, 0));
  EXPECT_THAT(vocabulary->encode(""), ElementsAre(0));
  EXPECT_THAT(vocabulary->encode("a\r"), ElementsAre(2, 0));
  EXPECT_THAT(vocabulary->encode("a\tb@@"), ElementsAre(1, 0));
  const std::vector<WordId> ids = {2, 0, 1, 3, 0};
  EXPECT_EQ(vocabulary->decode(ids), "a <unk> b@@");
  EXPECT_EQ(vocabulary->decode({}), "");
}

TEST(WordVocabulary, EveryYamlKeyIsText) {
  const auto vocabulary = parse(R"(</s>: 0
<unk>: 1
1990: 2
y: 3
no: 4
~: 5
null: 6
"\"": 7
"\\": 8
'it''s': 9
"\u00e4": 10
"\x85": 11
true: 12
1.5e3: 13
? long
: 14
"nil": 15
Null: "16"
"#": 17
'@@': 18
0x10: 19
"a: b": 20
)" + std::string("? \"") + std::string(2000, 'k') +
                                    "\"\n: 21\n",
                                "yml");
  const std::pair<WordId, std::string> expected[] = {
      {2, "1990"},  {3, "y"},      {4, "no"},
      {5, "~"},     {7, "\""},     {8, "\\"},
      {9, "it's"},  {10, "ä"},     {11, "\xc2\x85"},
      {12, "true"}, {13, "1.5e3"}, {14, "long"},
      {16, "Null"}, {17, "#"},     {18, "@@"},
      {19, "0x10"}, {20, "a: b"},  {21, std::string(2000, 'k')}};
  for (const auto& [id, word] : expected) EXPECT_EQ(vocabulary->word(id), word);
}

TEST(WordVocabulary, NullKeysAfterWideCharactersKeepTheirSpelling) {
  const auto vocabulary = parse("\xEF\xBB\xBF</s>: 0\n<unk>: 1\n▁ä😀: 2\n~: 3\nNULL: 4\n", "yml");
  EXPECT_EQ(vocabulary->word(2), "▁ä😀");
  EXPECT_EQ(vocabulary->word(3), "~");
  EXPECT_EQ(vocabulary->word(4), "NULL");
  const auto dos = parse("</s>: 0\r\n<unk>: 1\r\nä: 2\r\nnull: 3\r\n~: 4\r\n", "yml");
  EXPECT_EQ(dos->word(3), "null");
  EXPECT_EQ(dos->word(4), "~");
}

TEST(WordVocabulary, ReadsJsonWithSurrogatePairs) {
  for (const std::string extension : {"json", "yml"}) {
    const auto vocabulary = parse(
        "{\n \"eos\": 0, \"UNK\": 1, \"\\ud83d\\ude00\": 2, \"\\u00e4\\/\": 3,\n \"null\": 4}",
        extension);
    EXPECT_EQ(vocabulary->word(2), "😀");
    EXPECT_EQ(vocabulary->word(3), "ä/");
    EXPECT_EQ(vocabulary->word(4), "null");
  }
}

TEST(WordVocabulary, AJsonNameMayHoldYaml) {
  EXPECT_EQ(parse("</s>: 0\n<unk>: 1\n", "json")->size(), 2);
  EXPECT_EQ(parse("{</s>: 0, <unk>: 1, a: 2}", "json")->word(2), "a");
}

TEST(WordVocabulary, NematusSlotsBecomeTheSpecialSymbols) {
  const auto nematus = parse(R"({"eos": 0, "UNK": 1, "a": 2})", "json");
  EXPECT_EQ(nematus->end_id(), 0);
  EXPECT_EQ(nematus->unknown_id(), 1);
  EXPECT_EQ(nematus->word(0), "</s>");
  EXPECT_EQ(nematus->word(1), "<unk>");

  const auto empty_slot = parse("</s>: 0\na: 2\nb: 3\n", "yml");
  EXPECT_EQ(empty_slot->unknown_id(), 1);
  EXPECT_EQ(empty_slot->size(), 4);
  EXPECT_THAT(empty_slot->encode("b x"), ElementsAre(3, 1, 0));

  const auto tensorflow = parse(R"({"<EOS>": 0, "<GO>": 1, "<UNK>": 2, "a": 3})", "json");
  EXPECT_EQ(tensorflow->end_id(), 0);
  EXPECT_EQ(tensorflow->unknown_id(), 2);
}

TEST(WordVocabulary, AnEmptySlotIsNoEndSymbol) {
  EXPECT_THAT(error_of("<unk>: 1\na: 2\n", "yml"), HasSubstr("no end symbol </s>"));
}

TEST(WordVocabulary, SymbolsMayHaveAnyId) {
  const auto vocabulary = parse("a: 0\nb: 1\n<unk>: 7\n</s>: 5\n", "yml");
  EXPECT_EQ(vocabulary->end_id(), 5);
  EXPECT_EQ(vocabulary->unknown_id(), 7);
  EXPECT_EQ(vocabulary->size(), 8);
  EXPECT_EQ(vocabulary->word(3), "");
  EXPECT_EQ(vocabulary->word(6), "");
  EXPECT_EQ(vocabulary->word(8), "");
  EXPECT_EQ(vocabulary->word(-1), "");
  EXPECT_EQ(vocabulary->word(7), "<unk>");
}

TEST(WordVocabulary, ASparseVocabularyCostsLittle) {
  const auto vocabulary = parse("</s>: 0\n<unk>: 1\na: 10000000\n", "yml");
  EXPECT_EQ(vocabulary->size(), 10000001);
  EXPECT_EQ(vocabulary->word(10000000), "a");
}

TEST(WordVocabulary, TheLimitTurnsHigherIdsIntoUnknown) {
  const std::string yaml = "</s>: 0\n<unk>: 1\na: 2\nb: 3\nc: 4\n";
  const auto vocabulary = parse(yaml, "yml", 3);
  EXPECT_EQ(vocabulary->size(), 3);
  EXPECT_THAT(vocabulary->encode("a b c"), ElementsAre(2, 1, 1, 0));
  EXPECT_EQ(parse(yaml, "yml", 5)->size(), 5);
  EXPECT_EQ(parse(yaml, "yml", 1000)->size(), 5);
  EXPECT_THAT(error_of(yaml, "yml", 1), HasSubstr("not below the limit of 1"));
}

TEST(WordVocabulary, ReadsLinesOfText) {
  const auto vocabulary = parse("<unk>\r\n</s>\r\na: 5\r\n", "txt");
  EXPECT_EQ(vocabulary->unknown_id(), 0);
  EXPECT_EQ(vocabulary->end_id(), 1);
  EXPECT_EQ(vocabulary->word(2), "a: 5");
  EXPECT_EQ(parse("</s>\n<unk>\na", "")->size(), 3);
  EXPECT_EQ(parse("\xEF\xBB\xBF</s>\n<unk>\na\n\r\n\n", "txt")->size(), 3);
}

/// As PyYAML writes them: the no-break space as \_, the next line as \N.
TEST(WordVocabulary, HasTheCharactersOfEscapesOfYaml) {
  const auto vocabulary = parse(
      "</s>: 0\n<unk>: 1\n\"\\_\": 2\n\"a\\N\": 3\n\"\\L\\P\": 4\n\"\\xE9\\u0142\": 5\n\\_: "
      "6\n'\\N': 7\n"
      "\"à\\_\": 8\n",
      "yml");
  EXPECT_EQ(vocabulary->word(2), "\u00A0");
  EXPECT_EQ(vocabulary->word(3), "a\xC2\x85");
  EXPECT_EQ(vocabulary->word(4), "\u2028\u2029");
  EXPECT_EQ(vocabulary->word(5), "\u00E9\u0142");
  EXPECT_EQ(vocabulary->word(6), "\\_") << "no escape";
  EXPECT_EQ(vocabulary->word(7), "\\N") << "no escape";
  EXPECT_EQ(vocabulary->word(8), "à\u00A0");
  EXPECT_THAT(vocabulary->encode("\u00A0"), ElementsAre(2, 0));
  EXPECT_THAT(error_of("</s>: 0\n<unk>: 1\n\"\\_\": 2\n\u00A0: 3\n", "yml"),
              HasSubstr("occurs twice"));
}

TEST(WordVocabulary, IsReadWhateverTheLocale) {
  const support::HostNumbers locale;
  EXPECT_EQ(parse("%YAML 1.1\n---\n</s>: 0\n<unk>: 1\na: 1234\n", "yml")->size(), 1235);
  EXPECT_THAT(error_of("{\"</s>\": 0, \"<unk>\": 1, \"cat\": 1234.5}", "json"),
              HasSubstr("'1234.5'"));
}

TEST(WordVocabulary, MayEndBeforeTheModelDoes) {
  VocabularyOptions options;
  options.least_size = 10;
  const auto vocabulary =
      parse_word_vocabulary("</s>: 0\n<unk>: 1\na: 2\nb: 4\n", "yml", "v.yml", options);
  EXPECT_EQ(vocabulary->size(), 10);
  EXPECT_EQ(vocabulary->stored_size(), 10);
  const std::vector<WordId> ids{2, 3, 4, 9, 0};
  EXPECT_EQ(vocabulary->decode(ids), "a  b ") << "as of an id in a gap";
  EXPECT_EQ(vocabulary->word(9), "");
}

TEST(WordVocabulary, JsonMayListTheWords) {
  const auto vocabulary = parse(R"( ["<unk>", "</s>", "a b", "eos"])", "json");
  EXPECT_EQ(vocabulary->size(), 4);
  EXPECT_EQ(vocabulary->end_id(), 1);
  EXPECT_EQ(vocabulary->unknown_id(), 0);
  EXPECT_EQ(vocabulary->word(2), "a b");
  EXPECT_EQ(vocabulary->word(3), "eos");
}

TEST(WordVocabulary, ListsWithoutTheUnknownSymbolHaveItBehindTheLastWord) {
  for (const auto& [text, extension] :
       {std::pair("</s>\na\n", "txt"), std::pair(R"(["</s>", "a"])", "json")}) {
    const auto vocabulary = parse(text, extension);
    EXPECT_EQ(vocabulary->size(), 3);
    EXPECT_EQ(vocabulary->unknown_id(), 2);
    EXPECT_THAT(vocabulary->encode("a b"), ElementsAre(1, 2, 0));
    EXPECT_THAT(error_of(text, extension, 2), HasSubstr("not below the limit of 2"));
  }
}

TEST(WordVocabulary, StatedSymbolsMayBeMissingInListsToo) {
  const VocabularyOptions options = {.end = "<stop>", .unknown = "<other>"};
  const auto parsed = [&](const std::string& bytes, std::string_view extension) {
    return parse_word_vocabulary(bytes, extension, "v.yml", options);
  };
  for (const auto& [bytes, extension] :
       {std::pair("a\n<stop>\nb\n", "txt"), std::pair(R"(["a", "<stop>", "b"])", "json")}) {
    const auto vocabulary = parsed(bytes, extension);
    EXPECT_EQ(vocabulary->end_id(), 1);
    EXPECT_EQ(vocabulary->unknown_id(), 3);
    EXPECT_EQ(vocabulary->size(), 4);
  }
  EXPECT_THROW(parsed("a: 0\n<stop>: 1\n", "yml"), Error);
  EXPECT_THROW(parsed("a\nb\n", "txt"), Error);
}

TEST(WordVocabulary, FaultsInListsNameTheEntry) {
  EXPECT_THAT(error_of(R"(["</s>", 1])", "json"), HasSubstr("entry 1 of the list is '1'"));
  EXPECT_THAT(error_of(R"(["</s>", null])", "json"), HasSubstr("entry 1 of the list is 'null'"));
  EXPECT_THAT(error_of(R"([{"</s>": 1}])", "json"), HasSubstr("entry 0 of the list"));
  EXPECT_THAT(error_of(R"(["</s>", []])", "json"), HasSubstr("entry 1 of the list"));
  EXPECT_THAT(error_of(R"(["</s>", "a", "a"])", "json"), HasSubstr("'a' occurs twice"));
  EXPECT_THAT(error_of(R"(["</s>", "a")", "json"), HasSubstr("not valid JSON at byte 13"));
  EXPECT_THAT(error_of(R"(["a"])", "json"), HasSubstr("no end symbol </s>"));
  EXPECT_THAT(error_of("[]", "json"), HasSubstr("has no words"));
}

TEST(WordVocabulary, FaultsInTextNameTheLineOrWord) {
  EXPECT_THAT(error_of("</s>\n<unk>\n\na\n", "txt"), HasSubstr("line 3 is empty"));
  EXPECT_THAT(error_of("</s>\n<unk>\na\na\n", "txt"), HasSubstr("'a' occurs twice"));
  EXPECT_THAT(error_of("eos\nUNK\na\n", "txt"), HasSubstr("no end symbol </s>"));
  EXPECT_THAT(error_of("", "txt"), HasSubstr("has no words"));
}

TEST(WordVocabulary, FaultsInMappingsNameTheWord) {
  EXPECT_THAT(error_of("a: 0\nb: 1\n", "yml"), HasSubstr("no end symbol </s>"));
  EXPECT_THAT(error_of("</s>: 0\nb: 1\n", "yml"), HasSubstr("no unknown symbol <unk>"));
  EXPECT_THAT(error_of("</s>: 0\n", "yml"), HasSubstr("no unknown symbol <unk>"));
  EXPECT_THAT(error_of("", "yml"), HasSubstr("has no words"));
  EXPECT_THAT(error_of("{}", "json"), HasSubstr("has no words"));
  for (const std::string extension : {"yml", "json"}) {
    const auto with = [&](const std::string& value) {
      return error_of(R"({"</s>": 0, "<unk>": 1, "cat": )" + value + "}", extension);
    };
    EXPECT_THAT(with("-2"), AllOf(HasSubstr("'cat'"), HasSubstr("-2")));
    EXPECT_THAT(with("10000001"), AllOf(HasSubstr("'cat'"), HasSubstr("10000001")));
    EXPECT_THAT(with("18446744073709551615"), AllOf(HasSubstr("'cat'"), HasSubstr("1844674")));
    EXPECT_THAT(with("2.5"), AllOf(HasSubstr("'cat'"), HasSubstr("'2.5'")));
    EXPECT_THAT(with("null"), AllOf(HasSubstr("'cat'"), HasSubstr("'null'")));
    EXPECT_THAT(with("\"x\""), AllOf(HasSubstr("'cat'"), HasSubstr("'x'")));
    EXPECT_THAT(with("[2]"), HasSubstr("v.yml"));
    EXPECT_THAT(with("{}"), HasSubstr("v.yml"));
    EXPECT_THAT(with("1"), AllOf(HasSubstr("id 1"), HasSubstr("'<unk>'"), HasSubstr("'cat'")));
    EXPECT_THAT(with("2, \"cat\": 3"), HasSubstr("'cat' occurs twice"));
  }
}

TEST(WordVocabulary, OtherYamlIsRefused) {
  EXPECT_THAT(error_of("- a\n- b\n", "yml"), HasSubstr("not a mapping"));
  EXPECT_THAT(error_of("word", "yml"), HasSubstr("not a mapping"));
  EXPECT_THAT(error_of("[1]", "yml"), HasSubstr("not a mapping"));
  EXPECT_THAT(error_of("a: &x 5\nb: *x\n", "yml"), AllOf(HasSubstr("line 2"), HasSubstr("alias")));
  EXPECT_THAT(error_of("a: 1\n---\nb: 2\n", "yml"), HasSubstr("second document"));
  EXPECT_THAT(error_of("a: 1\n@@: 2\n", "yml"),
              AllOf(HasSubstr("line 2"), HasSubstr("not valid YAML")));
  EXPECT_THAT(error_of(R"({"a": 1, "b")", "json"), HasSubstr("not valid JSON at byte 13"));
  EXPECT_THAT(error_of(std::string(100000, '['), "json"), HasSubstr("v.yml"));
  EXPECT_THAT(error_of("a: " + std::string(100000, '{'), "yml"), HasSubstr("v.yml"));
}

TEST(WordVocabulary, LoadsTheReferenceFileByExtension) {
  const auto vocabulary = load_vocabulary(FUSELAGE_TEST_DATA "/vocab.yml");
  EXPECT_EQ(vocabulary->size(), 1000);
  EXPECT_EQ(vocabulary->word(0), "</s>");
  EXPECT_EQ(vocabulary->word(4), "s");
  for (WordId id = 0; id < vocabulary->size(); ++id)
    EXPECT_THAT(vocabulary->encode(vocabulary->word(id)), ElementsAre(id, 0)) << id;
}

}  // namespace
}  // namespace fuselage::word_vocabulary_test
