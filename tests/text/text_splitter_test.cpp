#include "text/text_splitter.h"

#include <gmock/gmock.h>

#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "tests/temp_path.h"
#include "text/sentencepiece/splitter.h"
#include "text/words/word_vocabulary.h"

namespace fuselage::text_splitter_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr const char* kModel = FUSELAGE_TEST_DATA "/vocab.spm";
constexpr const char* kWords = FUSELAGE_TEST_DATA "/vocab.yml";

TEST(TextSplitter, OfEitherKindMayBeCalledModel) {
  const std::string pieces = temp_path("pieces.model"), codes = temp_path("codes.model");
  write_file_atomically(pieces, read_file(kModel));
  write_file_atomically(codes, "#version: 0.2\na b\n");
  EXPECT_EQ(load_splitter(pieces)->split("Tom is"), load_splitter(kModel)->split("Tom is"));
  EXPECT_EQ(load_splitter(codes)->split("abc"), "ab@@ c");
}

TEST(SentencePieceSplitter, SplitsAsTheVocabularyDoes) {
  const auto splitter = load_splitter(kModel);
  const auto vocabulary = load_vocabulary(kModel);
  for (const std::string line : {"Tom is my friend.", "  two  spaces ", "", "Ünïcödé", "▁"}) {
    std::string pieces;
    for (const WordId id : vocabulary->encode(line)) {
      if (id == vocabulary->end_id()) continue;
      if (!pieces.empty()) pieces += ' ';
      pieces += vocabulary->word(id);
    }
    if (pieces.find("<unk>") == std::string::npos) {
      EXPECT_EQ(splitter->split(line), pieces);
    }
  }
  EXPECT_EQ(splitter->split(""), "");
  EXPECT_EQ(splitter->join(splitter->split("Tom is my friend.")), "Tom is my friend.");
  EXPECT_EQ(splitter->join(""), "");
}

TEST(SentencePieceSplitter, KeepsARunOfUnknownCharactersAsAWord) {
  const auto splitter = load_splitter(kModel);
  EXPECT_THAT(splitter->split("Tom 漢字😀 is"), AllOf(HasSubstr("▁Tom "), HasSubstr(" 漢字😀 ")));
  EXPECT_THAT(splitter->join("▁Tom ▁ 漢字 ▁is"), HasSubstr("漢字"));
  // In linear time.
  std::string long_line;
  for (int i = 0; i < 40'000; ++i) long_line += "漢";
  EXPECT_THAT(splitter->split(long_line), HasSubstr(long_line));
}

TEST(SplitVocabulary, HasTheIdsOfTheWords) {
  const std::shared_ptr<const TextSplitter> splitter = load_splitter(kModel);
  const auto words = load_vocabulary(kWords);
  const auto vocabulary = with_splitter(load_vocabulary(kWords), splitter);
  const auto spm = load_vocabulary(kModel);
  const std::string text = "Tom is my friend.";
  EXPECT_EQ(vocabulary->encode(text + "\r"), spm->encode(text));
  EXPECT_EQ(vocabulary->decode(vocabulary->encode(text)), text);
  EXPECT_EQ(vocabulary->size(), words->size());
  EXPECT_EQ(vocabulary->end_id(), words->end_id());
  EXPECT_EQ(vocabulary->unknown_id(), words->unknown_id());
  EXPECT_EQ(vocabulary->word(5), words->word(5));
  const auto pieces = with_splitter(load_vocabulary(kWords), splitter, {.split = false});
  EXPECT_EQ(pieces->encode(splitter->split(text)), spm->encode(text));
  EXPECT_EQ(
      with_splitter(load_vocabulary(kWords), splitter, {.join = false})->decode(spm->encode(text)),
      splitter->split(text));
}

TEST(SplitVocabulary, KeepsLanguageTokensAtTheBeginningOfALine) {
  const std::shared_ptr<const TextSplitter> splitter = load_splitter(kModel);
  const auto vocabulary = with_splitter(
      parse_word_vocabulary("</s>\n<unk>\n▁Tom\n>>deu<<\n>>nld<<\n", "txt", "words"), splitter);
  EXPECT_THAT(vocabulary->encode(">>deu<< Tom"), ElementsAre(3, 2, 0));
  EXPECT_THAT(vocabulary->encode("  >>deu<<Tom"), ElementsAre(3, 2, 0));
  EXPECT_THAT(vocabulary->encode(">>deu<< >>nld<< Tom"), ElementsAre(3, 4, 2, 0));
  EXPECT_THAT(vocabulary->encode(">>deu<<"), ElementsAre(3, 0));
  EXPECT_EQ(vocabulary->encode(">>fra<< Tom")[0], 1);
  // Neither within a line nor of another form.
  EXPECT_THAT(vocabulary->encode("Tom >>deu<<"), ::testing::Not(::testing::Contains(3)));
  for (const char* line : {">> Tom", ">><< Tom", ">>a b<<", ">>", "<<"})
    EXPECT_NO_THROW(vocabulary->encode(line));
}

TEST(LoadSplitter, RefusesOtherFiles) {
  EXPECT_THAT([] { load_splitter("/no/such.spm"); },
              ThrowsMessage<Error>(HasSubstr("/no/such.spm")));
  const std::string path = temp_path("bad.spm");
  for (const std::string& bytes :
       {std::string(), std::string("x"), read_file(kModel).substr(0, 1000)}) {
    write_file_atomically(path, bytes);
    EXPECT_THAT([&] { load_splitter(path); },
                ThrowsMessage<Error>(AllOf(HasSubstr(path), HasSubstr("SentencePiece"))));
  }
  EXPECT_THROW(load_splitter(kModel, {.digest = ListedDigest{sha256("other"), "SHA256SUMS"}}),
               Error);
  EXPECT_THAT([] { load_splitter(kModel, {.glossaries = {"a"}}); },
              ThrowsMessage<Error>(HasSubstr("no glossaries")));
}

}  // namespace
}  // namespace fuselage::text_splitter_test
