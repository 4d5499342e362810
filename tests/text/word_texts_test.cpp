// The texts of words, and texts in the place of words, for all kinds of vocabularies.

#include <gmock/gmock.h>

#include <fstream>

#include "tests/temporary_folder.h"
#include "text/text_splitter.h"
#include "text/vocabulary.h"

namespace fuselage {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

class WordTexts : public ::testing::Test {
 protected:
  std::string written(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  std::unique_ptr<const Vocabulary> words() const {
    return load_vocabulary(written("words.txt", "</s>\n<unk>\na\nb\nc@@\nd\n"));
  }

  support::TemporaryFolder folder_;
};

TEST_F(WordTexts, OfWordsAreThoseOfTheLine) {
  const auto vocabulary = words();
  EXPECT_THAT(vocabulary->texts("a  xyz b\r"), ElementsAre("a", "xyz", "b"));
  const std::vector<WordId> ids = vocabulary->encode("a xyz b");
  EXPECT_EQ(vocabulary->decode(ids, std::vector<std::string>{"", "XYZ", "", ""}), "a XYZ b");
  EXPECT_EQ(vocabulary->decode(ids), "a <unk> b");
}

TEST_F(WordTexts, OfSubwordsAreThoseOfTheSplitLine) {
  const auto vocabulary =
      with_splitter(words(), load_splitter(written("codes", "#version: 0.2\na b\n")));
  const std::vector<std::string> texts = vocabulary->texts("cd q");
  EXPECT_THAT(texts, ElementsAre("c@@", "d", "q"));
  const std::vector<WordId> ids = vocabulary->encode("cd q");
  ASSERT_THAT(ids, SizeIs(4));
  EXPECT_EQ(vocabulary->decode(ids, std::vector<std::string>{"", "", "name", ""}), "cd name");
}

TEST_F(WordTexts, OfPiecesAreTheirSurfaces) {
  for (const bool encode : {true, false}) {
    const auto vocabulary =
        load_vocabulary(std::string(FUSELAGE_TEST_DATA) + "/vocab.spm",
                        {.sentencepiece_encode = encode, .sentencepiece_decode = true});
    const std::string line = encode ? "Tom Ωξ is" : "▁Tom ▁ Ωξ ▁is";
    const std::vector<WordId> ids = vocabulary->encode(line);
    std::vector<std::string> texts = vocabulary->texts(line);
    ASSERT_EQ(texts.size() + 1, ids.size());
    const auto unknown = std::find(ids.begin(), ids.end(), vocabulary->unknown_id()) - ids.begin();
    ASSERT_LT(unknown, std::ssize(texts));
    EXPECT_EQ(texts[static_cast<std::size_t>(unknown)], "Ωξ");
    for (std::ptrdiff_t i = 0; i < std::ssize(texts); ++i)
      if (i != unknown) texts[static_cast<std::size_t>(i)].clear();
    texts.emplace_back();
    EXPECT_EQ(vocabulary->decode(ids, texts), "Tom Ωξ is");
    texts[static_cast<std::size_t>(unknown)] = "New </s> York";
    EXPECT_EQ(vocabulary->decode(ids, texts), "Tom New </s> York is");
  }
}

TEST_F(WordTexts, OfWordsThatSentencePieceSplitsAreSurfaces) {
  const auto vocabulary =
      with_splitter(load_vocabulary(written("words.txt", "</s>\n<unk>\n>>deu<<\n▁is\n")),
                    load_splitter(std::string(FUSELAGE_TEST_DATA) + "/vocab.spm"));
  const std::string line = ">>deu<< Tom is";
  const std::vector<WordId> ids = vocabulary->encode(line);
  std::vector<std::string> texts = vocabulary->texts(line);
  ASSERT_EQ(texts.size() + 1, ids.size());
  EXPECT_EQ(texts.front(), ">>deu<<");
  std::string joined;
  for (std::size_t i = 1; i < texts.size(); ++i) joined += texts[i];
  EXPECT_EQ(joined, "Tomis");
  const std::vector<WordId> words{3, 1, 3, 0};
  EXPECT_EQ(vocabulary->decode(words, std::vector<std::string>{"", " New York", "", ""}),
            "is New York is");
}

}  // namespace
}  // namespace fuselage
