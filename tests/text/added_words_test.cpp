#include "text/added_words.h"

#include <gmock/gmock.h>

#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "tests/temp_path.h"
#include "text/text_splitter.h"
#include "text/words/word_vocabulary.h"

namespace fuselage::added_words_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr const char* kModel = FUSELAGE_TEST_DATA "/vocab.spm";

/// Before the pieces of a model whose first ones are </s> and <unk>, and behind them.
std::vector<WordEntry> fairseq_words(WordId pieces) {
  return {{0, "<s>"},
          {1, "<pad>"},
          {2, "</s>"},
          {3, "<unk>"},
          {pieces + 2, "de_DE"},
          {pieces + 3, "en_XX"},
          {pieces + 4, "<mask>"}};
}

TEST(AddedWords, RefuseWhatIsNoWord) {
  const auto make = [](const std::vector<WordEntry>& words) { AddedWords(words, 0, "v"); };
  EXPECT_THAT([&] { make({{-1, "a"}}); }, ThrowsMessage<Error>(HasSubstr("has the id -1")));
  EXPECT_THAT([&] { make({{1, ""}}); }, ThrowsMessage<Error>(HasSubstr("has no text")));
  EXPECT_THAT(
      [&] {
        make({{1, "a"}, {1, "b"}});
      },
      ThrowsMessage<Error>(HasSubstr("id 1 belongs to two added words, 'a' and 'b'")));
  EXPECT_THAT([&] { make({{1, "a"}, {2, "a"}}); }, ThrowsMessage<Error>(HasSubstr("occurs twice")));
}

TEST(AddedWords, WordsOfAFileCanBeSymbols) {
  const auto vocabulary =
      parse_word_vocabulary(R"({"</s>": 0, "<unk>": 1, "a": 2, "<pad>": 3})", "json", "v",
                            {.added_words = {{3, "<pad>"}, {7, "__de__"}}});
  EXPECT_EQ(vocabulary->size(), 8);
  EXPECT_THAT(vocabulary->encode("a __de__ <pad>"), ElementsAre(2, 1, 1, 0));
  EXPECT_EQ(vocabulary->word(7), "__de__");
  EXPECT_EQ(vocabulary->find("__de__"), 7);
  EXPECT_EQ(vocabulary->find("<pad>"), 3);
  EXPECT_EQ(vocabulary->find("a"), 2);
  EXPECT_EQ(vocabulary->find("b"), std::nullopt);
  EXPECT_EQ(vocabulary->decode(std::vector<WordId>{3, 7, 2, 3, 0}), "a");
  EXPECT_THAT(
      [] {
        parse_word_vocabulary("</s>\n<unk>\na\n", "txt", "v", {.added_words = {{2, "b"}}});
      },
      ThrowsMessage<Error>(HasSubstr("id 2 belongs to 'a'")));
  EXPECT_THAT(
      [] {
        parse_word_vocabulary("</s>\n<unk>\na\n", "txt", "v", {.added_words = {{3, "a"}}});
      },
      ThrowsMessage<Error>(HasSubstr("the added word 'a' has the id 3, but 2 in the file")));
}

TEST(AddedWords, SymbolsCanBeStated) {
  const auto vocabulary = parse_word_vocabulary(
      "a\nb\nc\n", "txt", "v", {.end = "b", .unknown = "?", .added_words = {{4, "?"}}});
  EXPECT_THAT(vocabulary->encode("c d"), ElementsAre(2, 4, 1));
}

TEST(AddedWords, PiecesCanHaveAnOffset) {
  const auto plain = load_vocabulary(kModel);
  const auto shifted =
      load_vocabulary(kModel, {.added_words = fairseq_words(plain->size()), .piece_offset = 2});
  EXPECT_EQ(shifted->end_id(), 2);
  EXPECT_EQ(shifted->unknown_id(), 3);
  EXPECT_EQ(shifted->size(), plain->size() + 5);
  EXPECT_EQ(shifted->find("en_XX"), plain->size() + 3);
  const std::string line = "Tom is happy. 漢字";
  std::vector<WordId> expected = plain->encode(line);
  for (WordId& id : expected)
    id = id == plain->end_id() ? 2 : id == plain->unknown_id() ? 3 : id + 2;
  EXPECT_EQ(shifted->encode(line), expected);
  std::vector<WordId> ids = shifted->encode("Tom is happy.");
  ids.insert(ids.begin(), {1, *shifted->find("de_DE")});
  EXPECT_EQ(shifted->decode(ids), "Tom is happy.");
  EXPECT_EQ(shifted->word(ids[2]), plain->word(ids[2] - 2));
  EXPECT_EQ(shifted->find(shifted->word(ids[2])), ids[2]);
  EXPECT_THAT(
      [&] {
        load_vocabulary(kModel, {.added_words = {{9, "x"}}, .piece_offset = 2});
      },
      ThrowsMessage<Error>(HasSubstr("id 9 belongs to")));
}

TEST(AddedWords, SentencePieceModelsMayBeCalledModel) {
  const std::string path = temp_path("spiece.model");
  write_file_atomically(path, read_file(kModel));
  EXPECT_EQ(load_vocabulary(path)->encode("Tom"), load_vocabulary(kModel)->encode("Tom"));
  EXPECT_EQ(load_splitter(path)->split("Tom is"), load_splitter(kModel)->split("Tom is"));
  write_file_atomically(path, "#version: 0.2\nT o\nTo m</w>\n");
  EXPECT_EQ(load_splitter(path)->split("Tom"), "Tom");
}

TEST(AddedWords, SplittersSkipThem) {
  const std::shared_ptr<const Vocabulary> words = parse_word_vocabulary(
      "</s>\n<unk>\n▁Tom\n▁is\n▁\n", "txt", "v", {.added_words = {{7, "__de__"}}});
  const auto vocabulary = with_splitter(words, load_splitter(kModel));
  EXPECT_EQ(vocabulary->find("__de__"), 7);
  EXPECT_TRUE(vocabulary->is_added(7));
  EXPECT_EQ(vocabulary->decode(std::vector<WordId>{7, 2, 3, 4, 0}), "Tom is");
  EXPECT_EQ(vocabulary->decode(std::vector<WordId>{7, 2, 1}, std::vector<std::string>{"", "", "x"}),
            "Tomx");
}

}  // namespace
}  // namespace fuselage::added_words_test
