#include <fmt/format.h>
#include <gmock/gmock.h>

#include <sstream>

#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "tests/temp_path.h"
#include "text/tokenizers/vocabulary.h"

namespace fuselage::tokenizer_vocabulary_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// A tokenizer.json with a model and, before it, other members.
std::string file_of(const std::string& model, const std::string& members = "",
                    const std::string& tokens = "") {
  return fmt::format(R"({{"version": "1.0", "added_tokens": [{}], {} "model": {}}})", tokens,
                     members, model);
}

std::string token(int id, const std::string& content, const std::string& properties = "") {
  return fmt::format(R"({{"id": {}, "content": "{}"{}}})", id, content, properties);
}

constexpr const char* kUnigram =
    R"({"type": "Unigram", "unk_id": 1, "vocab": [["</s>", 0.0], ["<unk>", 0], ["▁", -3],
        ["a", -4], ["b", -4.5], ["ab", -5], ["▁a", -4.25], ["▁ab", -9e0]]})";
constexpr const char* kMetaspace =
    R"("pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
       "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},)";

std::unique_ptr<const Vocabulary> parsed(const std::string& text,
                                         const VocabularyOptions& options = {}) {
  return parse_tokenizer_vocabulary(text, "tokenizer.json", options);
}

#define EXPECT_REFUSED(text, message) \
  EXPECT_THAT([&] { parsed(text); }, ThrowsMessage<Error>(message))

/// Lines with the ids and the text that the library `tokenizers` gives, written by
/// scripts/compare_tokenizers.py.
class RecordedTokenizer : public ::testing::TestWithParam<const char*> {};

TEST_P(RecordedTokenizer, GivesTheIdsAndTheTextOfTheLibrary) {
  const std::string name = std::string(FUSELAGE_TEST_DATA "/tokenizers/") + GetParam();
  const auto vocabulary = load_vocabulary(name + ".json");
  std::istringstream cases(read_file(name + ".cases"));
  int count = 0;
  for (std::string line, ids, text;
       std::getline(cases, line) && std::getline(cases, ids) && std::getline(cases, text);
       ++count) {
    std::vector<WordId> expected;
    std::istringstream numbers(ids);
    for (WordId id = 0; numbers >> id;) expected.push_back(id);
    if (line.find("</s>") == std::string::npos) {
      EXPECT_EQ(vocabulary->decode(expected), text) << line;
    }
    expected.push_back(vocabulary->end_id());
    EXPECT_EQ(vocabulary->encode(line), expected) << line;
    EXPECT_EQ(vocabulary->texts(line).size() + 1, expected.size()) << line;
  }
  EXPECT_GT(count, 100);
}

INSTANTIATE_TEST_SUITE_P(Kinds, RecordedTokenizer,
                         ::testing::Values("mbart", "t5_new", "nllb", "byte_fallback",
                                           "unknown_apart", "byte_level"),
                         [](const auto& kind) { return std::string(kind.param); });

TEST(TokenizerVocabulary, IsRecognizedByItsContent) {
  EXPECT_TRUE(is_tokenizer_file(file_of(kUnigram)));
  EXPECT_TRUE(is_tokenizer_file(R"({"model": {}, "added_tokens": []})"));
  EXPECT_TRUE(is_tokenizer_file(R"({"added_tokens": [1], "model": {"vocab")"));
  EXPECT_FALSE(is_tokenizer_file(R"({"model": 0, "added_tokens": 1})"));
  EXPECT_FALSE(is_tokenizer_file(R"({"a": {"model": {}, "added_tokens": []}})"));
  EXPECT_FALSE(is_tokenizer_file("[]"));
  EXPECT_FALSE(is_tokenizer_file(""));
  const std::string path = temp_path("words.json");
  write_file_atomically(path, R"({"</s>": 0, "<unk>": 1, "model": 2, "added_tokens": 3})");
  EXPECT_EQ(load_vocabulary(path)->find("model"), 2);
}

TEST(TokenizerVocabulary, SplitsByTheLargestScore) {
  const auto vocabulary = parsed(file_of(kUnigram, kMetaspace));
  EXPECT_EQ(vocabulary->size(), 8);
  EXPECT_EQ(vocabulary->end_id(), 0);
  EXPECT_EQ(vocabulary->unknown_id(), 1);
  EXPECT_TRUE(vocabulary->splits_text());
  EXPECT_THAT(vocabulary->encode("ab a\r"), ElementsAre(2, 5, 6, 0));
  EXPECT_THAT(vocabulary->encode(""), ElementsAre(0));
  EXPECT_THAT(vocabulary->encode("xyb"), ElementsAre(2, 1, 4, 0));
  EXPECT_THAT(vocabulary->texts("xyb  ab"), ElementsAre("", "xy", "b", "", "", "ab"));
  EXPECT_EQ(vocabulary->normalized("xyb  ab"), "xyb  ab");
  EXPECT_EQ(vocabulary->decode(std::vector<WordId>{6, 4, 2, 0, 99, -1}), "ab ");
  EXPECT_EQ(
      vocabulary->decode(std::vector<WordId>{6, 1, 4}, std::vector<std::string>{"", "▁x", ""}),
      "a▁xb");
  EXPECT_TRUE(vocabulary->continues_word(4));
  EXPECT_FALSE(vocabulary->continues_word(6));
  EXPECT_EQ(vocabulary->encode("\xff"), (std::vector<WordId>{2, 1, 0}));
}

TEST(TokenizerVocabulary, AddedTokensAreFoundBeforeTheTextIsSplit) {
  const std::string tokens = token(0, "</s>", R"(, "special": true)") + "," +
                             token(8, "<x>", R"(, "lstrip": true)") + "," +
                             token(9, "ab", R"(, "single_word": true)") + "," +
                             token(10, "<pad>", R"(, "special": true, "normalized": false)");
  EXPECT_REFUSED(file_of(kUnigram, kMetaspace, tokens),
                 HasSubstr("'ab' has the id 9 as an added token, but 5 as a piece"));
  const std::string usual = token(8, "<x>", R"(, "lstrip": true, "normalized": false)") + "," +
                            token(9, "ba", R"(, "single_word": true)") + "," +
                            token(10, "<pad>", R"(, "special": true, "normalized": false)");
  const auto vocabulary = parsed(file_of(kUnigram, kMetaspace, usual));
  EXPECT_THAT(vocabulary->encode("a <x>b"), ElementsAre(6, 8, 2, 4, 0));
  EXPECT_THAT(vocabulary->encode("ba aba"), ElementsAre(9, 2, 5, 3, 0));
  EXPECT_EQ(vocabulary->find("<pad>"), 10);
  EXPECT_EQ(vocabulary->word(9), "ba");
  EXPECT_EQ(vocabulary->decode(std::vector<WordId>{10, 6, 8, 10, 4}), "a<x>b");
}

TEST(TokenizerVocabulary, TheOptionsAddWordsAndStateSymbols) {
  const auto vocabulary =
      parsed(file_of(kUnigram, kMetaspace),
             {.end = "b", .unknown = "a", .added_words = {{9, "deu"}, {12, "ab c"}}});
  EXPECT_EQ(vocabulary->end_id(), 4);
  EXPECT_EQ(vocabulary->unknown_id(), 3);
  EXPECT_EQ(vocabulary->size(), 13);
  EXPECT_EQ(vocabulary->word(9), "deu");
  EXPECT_EQ(vocabulary->word(10), "");
  EXPECT_EQ(vocabulary->find("ab c"), 12);
  EXPECT_EQ(vocabulary->find("no"), std::nullopt);
  EXPECT_EQ(vocabulary->decode(std::vector<WordId>{9, 6, 12}), "a");
  const auto limited = parsed(file_of(kUnigram, kMetaspace), {.limit = 4, .least_size = 6});
  EXPECT_THAT(limited->encode("ab"), ElementsAre(2, 1, 0));
  EXPECT_EQ(limited->size(), 6);
  EXPECT_EQ(limited->stored_size(), 8);
  EXPECT_THAT([&] { parsed(file_of(kUnigram), {.end = "nothing"}); },
              ThrowsMessage<Error>(HasSubstr("has no end symbol 'nothing'")));
}

TEST(TokenizerVocabulary, SplitTextIsTakenAsItIs) {
  const auto vocabulary = parsed(file_of(kUnigram, kMetaspace),
                                 {.sentencepiece_encode = false, .sentencepiece_decode = false});
  EXPECT_THAT(vocabulary->encode("▁a b nothing"), ElementsAre(6, 4, 1, 0));
  EXPECT_EQ(vocabulary->decode(std::vector<WordId>{6, 4, 0}), "▁a b");
}

TEST(TokenizerVocabulary, NamesWhatIsNotSupported) {
  const auto with = [](const std::string& members) { return file_of(kUnigram, members); };
  EXPECT_REFUSED(with(R"("normalizer": {"type": "BertNormalizer"},)"),
                 HasSubstr("tokenizer.json: normalizer: the normalizer 'BertNormalizer' is not"));
  EXPECT_REFUSED(
      with(
          R"("normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "X"}]},)"),
      HasSubstr("tokenizer.json: normalizer.normalizers[1]: the normalizer 'X'"));
  EXPECT_REFUSED(
      with(R"("normalizer": {"type": "Replace", "pattern": {"Regex": "a|b"}, "content": ""},)"),
      HasSubstr("regular expression 'a|b' is not supported"));
  EXPECT_REFUSED(with(R"("normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAA"},)"),
                 HasSubstr("is not Base64"));
  EXPECT_REFUSED(with(R"("normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"},)"),
                 HasSubstr("normalization table"));
  EXPECT_REFUSED(with(R"("pre_tokenizer": {"type": "Digits"},)"),
                 HasSubstr("the pre-tokenizer 'Digits' is not supported"));
  EXPECT_REFUSED(with(R"("decoder": {"type": "CTC"},)"), HasSubstr("the decoder 'CTC'"));
  EXPECT_REFUSED(with(R"("decoder": {"type": 5},)"), HasSubstr("'type' is missing or not a text"));
  EXPECT_REFUSED(file_of(R"({"type": "WordPiece", "vocab": {"</s>": 0}})"),
                 HasSubstr("the model 'WordPiece' is not supported"));
}

TEST(TokenizerVocabulary, RefusesDamagedFiles) {
  EXPECT_REFUSED("", HasSubstr("tokenizer.json: invalid JSON at byte"));
  EXPECT_REFUSED("[]", HasSubstr("not an object"));
  EXPECT_REFUSED(R"({"added_tokens": [)" + std::string(100, '['), HasSubstr("nest deeper than 32"));
  EXPECT_REFUSED(R"({"model": {"vocab": {"a": [1]}}})", HasSubstr("entry 0 of model.vocab"));
  EXPECT_REFUSED(R"({"model": {"vocab": [["a", 1, 2]]}})", HasSubstr("entry 1 of model.vocab"));
  EXPECT_REFUSED(R"({"model": {"vocab": [["a"]]}})", HasSubstr("entry 0 of model.vocab"));
  EXPECT_REFUSED(R"({"model": {"vocab": {"a": -1}}})", HasSubstr("the piece 'a' has the id -1"));
  EXPECT_REFUSED(R"({"model": {"vocab": {"a": 10000001}}})", HasSubstr("ids are 0 to 10000000"));
  EXPECT_REFUSED(R"({"model": {"merges": ["a b c"]}})", HasSubstr("entry 0 of model.merges"));
  EXPECT_REFUSED(R"({"model": {"merges": [["a", "b"], ["c"]]}})",
                 HasSubstr("entry 1 of model.merges"));
  EXPECT_REFUSED(R"({"model": {"vocab": {}, "vocab": {}}})", HasSubstr("given twice"));
  EXPECT_REFUSED(R"({"decoder": {"a": 1, "a": 2}})", HasSubstr("the key 'a' is given twice"));
  EXPECT_REFUSED(file_of(R"({"type": "BPE", "vocab": {"</s>": 0, "<unk>": 1, "a": 1}})"),
                 HasSubstr("id 1 belongs to two words"));
  EXPECT_REFUSED(file_of(R"({"type": "BPE", "vocab": {"</s>": 0, "<unk>": 1}, "merges": ["a b"]})"),
                 HasSubstr("merge 0 joins 'a' and 'b', but 'vocab' has no piece"));
  EXPECT_REFUSED(file_of(R"({"type": "BPE", "vocab": {"a": 0}})"),
                 HasSubstr("no end symbol '</s>'"));
  EXPECT_REFUSED(file_of(R"({"type": "BPE", "vocab": {"</s>": 0}})"),
                 HasSubstr("no unknown symbol '<unk>'"));
  EXPECT_REFUSED(file_of(R"({"type": "Unigram", "unk_id": 5, "vocab": [["</s>", 0]]})"),
                 HasSubstr("'unk_id' is 5, but there are 1 pieces"));
  EXPECT_REFUSED(file_of(kUnigram, "", token(3, "x")), HasSubstr("id 3 belongs to two words"));
  EXPECT_REFUSED(file_of(kUnigram, "", token(8, "")), HasSubstr("an added token has 0 bytes"));
}

TEST(TokenizerVocabulary, IdsMayHaveHoles) {
  const auto vocabulary =
      parsed(file_of(R"({"vocab": {"</s>": 5, "<unk>": 2, "b": 9000000}, "merges": []})"));
  EXPECT_EQ(vocabulary->size(), 9000001);
  EXPECT_EQ(vocabulary->word(7), "");
  EXPECT_THAT(vocabulary->encode("b"), ElementsAre(9000000, 5));
}

TEST(TokenizerVocabulary, LongLinesTakeLinearTime) {
  const auto vocabulary = parsed(file_of(kUnigram, kMetaspace));
  std::string line;
  for (int i = 0; i < 200'000; ++i) line += "漢";
  EXPECT_EQ(vocabulary->encode(line).size(), 3u);
  const auto pairs = parsed(file_of(R"({"type": "BPE", "unk_token": "<unk>", "fuse_unk": true,
                  "vocab": {"</s>": 0, "<unk>": 1, "a": 2, "aa": 3, "aaaa": 4},
                  "merges": ["a a", "aa aa"]})"));
  EXPECT_EQ(pairs->encode(std::string(400'000, 'a')).size(), 100'001u);
}

}  // namespace
}  // namespace fuselage::tokenizer_vocabulary_test
