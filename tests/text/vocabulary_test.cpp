#include "text/vocabulary.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "tests/temp_path.h"
#include "text/sentencepiece/vocabulary.h"

namespace fuselage::vocabulary_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kModel = FUSELAGE_TEST_DATA "/vocab.spm";

template <typename Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(LoadVocabulary, AMissingFileIsReportedAsMissing) {
  for (const std::string path : {"/no/such.yml", "/no/such.spm", "/no/such.txt"})
    EXPECT_EQ(error_of([&] { load_vocabulary(path); }),
              "cannot open " + path + ": No such file or directory");
}

TEST(LoadVocabulary, FactoredVocabulariesAreRefusedByName) {
  EXPECT_THAT(error_of([] { load_vocabulary("/no/such.fsv"); }),
              AllOf(HasSubstr("/no/such.fsv"), HasSubstr("factored")));
}

TEST(LoadVocabulary, AnyOtherExtensionIsText) {
  const std::string path = temp_path("vocabulary.en");
  write_file_atomically(path, "</s>\n<unk>\nhello\n");
  EXPECT_EQ(load_vocabulary(path)->word(2), "hello");
}

TEST(LoadVocabulary, FilesBeyondTheBoundAreRefusedUnread) {
  for (const char* name : {"large.yml", "large.spm", "large.txt"}) {
    const std::string path = temp_path(name);
    write_file_atomically(path, "");
    std::filesystem::resize_file(path, kMaxVocabularyBytes + 1);
    EXPECT_THAT(error_of([&] { load_vocabulary(path); }),
                AllOf(HasSubstr(path), HasSubstr("67108865 bytes, more than 67108864")));
    std::filesystem::remove(path);
  }
}

TEST(SentencePieceVocabulary, AgreesWithTheSameVocabularyInYaml) {
  const auto pieces = load_vocabulary(kModel);
  const auto words = load_vocabulary(FUSELAGE_TEST_DATA "/vocab.yml");
  ASSERT_EQ(pieces->size(), words->size());
  EXPECT_EQ(pieces->end_id(), words->end_id());
  EXPECT_EQ(pieces->unknown_id(), words->unknown_id());
  for (WordId id = 0; id < words->size(); ++id) EXPECT_EQ(pieces->word(id), words->word(id));
}

TEST(SentencePieceVocabulary, RoundTripsRawText) {
  const auto vocabulary = load_vocabulary(kModel);
  const std::vector<WordId> ids = vocabulary->encode("Tom is happy.");
  ASSERT_GT(ids.size(), 1u);
  EXPECT_EQ(ids.back(), vocabulary->end_id());
  EXPECT_EQ(vocabulary->decode(ids), "Tom is happy.");
  EXPECT_EQ(vocabulary->encode("Tom is happy.\r"), ids);
  EXPECT_THAT(vocabulary->encode(""), ElementsAre(vocabulary->end_id()));
  EXPECT_EQ(vocabulary->decode({}), "");
}

TEST(SentencePieceVocabulary, AnEmptyPieceIsRefused) {
  const std::string unknown = "\x0a\x09\x0a\x05<unk>\x18\x02";
  const std::string empty = std::string("\x0a\x02\x0a") + '\0';
  EXPECT_THAT([&] { parse_sentencepiece_vocabulary(unknown + empty, "empty.spm"); },
              ::testing::ThrowsMessage<Error>(
                  ::testing::HasSubstr("empty.spm: the file is truncated or not a SentencePiece")));
}

TEST(SentencePieceVocabulary, ADamagedNormalizationTableIsRefused) {
  std::string model = read_file(std::string(FUSELAGE_TEST_DATA) + "/vocab.spm");
  // The trie's units fill most of the table, which is most of the file's second half.
  const std::size_t middle = model.size() - 100000;
  for (std::size_t i = 0; i < 4; ++i) model[middle / 4 * 4 + i] = '\x7f';
  EXPECT_THAT([&] { parse_sentencepiece_vocabulary(model, "damaged.spm"); },
              ::testing::ThrowsMessage<Error>(::testing::HasSubstr("normalization table")));
}

TEST(SentencePieceVocabulary, OptionsLeavePiecesAlone) {
  VocabularyOptions options;
  options.sentencepiece_encode = false;
  options.sentencepiece_decode = false;
  const auto pieces = load_vocabulary(kModel, options);
  const auto whole = load_vocabulary(kModel);
  const std::vector<WordId> ids = whole->encode("Tom is happy.");
  const std::string split = pieces->decode(ids);
  EXPECT_THAT(split, HasSubstr("▁Tom"));
  EXPECT_EQ(pieces->encode(split), ids);
  EXPECT_THAT(pieces->encode(" no-such-piece \r"),
              ElementsAre(pieces->unknown_id(), pieces->end_id()));
}

TEST(SentencePieceVocabulary, TheLimitTurnsHigherIdsIntoUnknown) {
  VocabularyOptions options;
  options.limit = 3;
  const auto vocabulary = load_vocabulary(kModel, options);
  EXPECT_EQ(vocabulary->size(), 3);
  for (const WordId id : vocabulary->encode("Tom is happy.")) EXPECT_LT(id, 3);
  options.limit = 1;
  EXPECT_THAT(error_of([&] { load_vocabulary(kModel, options); }), HasSubstr("limit of 1"));
}

TEST(SentencePieceVocabulary, MayEndBeforeTheModelDoes) {
  VocabularyOptions options;
  options.least_size = 1400;  // beyond the pieces that spell unknown characters
  const auto vocabulary = load_vocabulary(kModel, options);
  EXPECT_EQ(vocabulary->size(), 1400);
  const auto usual = load_vocabulary(kModel);
  const std::string line = "Tom is \U0001F600\u0915.";
  EXPECT_EQ(vocabulary->encode(line), usual->encode(line));
  for (const WordId id : {1000, 1255, 1399}) EXPECT_EQ(vocabulary->word(id), "");
  std::vector<WordId> ids = usual->encode("Tom is happy.");
  ids.insert(ids.begin() + 1, 1399);
  EXPECT_EQ(vocabulary->decode(ids), "Tom is happy.");
}

TEST(SentencePieceVocabulary, NormalizesTextAsThePiecesSpellIt) {
  const auto vocabulary = load_vocabulary(kModel);
  const auto normalized = [&](const char* text) {
    const std::string result = vocabulary->normalized(text);
    return result.substr(std::min(result.find_first_not_of(' '), result.size()));
  };
  EXPECT_EQ(normalized("Tom is happy."), "Tom is happy.");
  EXPECT_EQ(normalized("\uFF34om\u00A0is  Mu\u0308ller \u0915"), "Tom is M\u00FCller \u0915");
  EXPECT_EQ(normalized(""), "");
}

TEST(SentencePieceVocabulary, OutOfRangeIdsAreHarmless) {
  const auto vocabulary = load_vocabulary(kModel);
  const std::vector<WordId> ids = {-1, 1000, 2000000000};
  EXPECT_EQ(vocabulary->decode(ids), "");
  EXPECT_EQ(vocabulary->word(-1), "");
  EXPECT_EQ(vocabulary->word(1000), "");
}

TEST(SentencePieceVocabulary, OtherBytesAreRefusedSilently) {
  ::testing::internal::CaptureStderr();
  for (const std::string bytes : {"", "hello", "</s>: 0\n"})
    EXPECT_THAT(error_of([&] { parse_sentencepiece_vocabulary(bytes, "v.spm"); }),
                AllOf(HasSubstr("v.spm"), HasSubstr("truncated or not a SentencePiece model")));
  const std::string whole = read_file(kModel);
  for (const std::size_t length : {1, 100, 1000, 100000})
    EXPECT_NE(error_of([&] { parse_sentencepiece_vocabulary(whole.substr(0, length), "v.spm"); }),
              "")
        << length;
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

/// A SentencePiece model given piece by piece, written out field by field.
class ModelWriter {
 public:
  void add(const std::string& piece, int type) {
    const std::string score("\x15\0\0\0\0", 5);
    const std::string body = "\x0a" + sized(piece) + score + "\x18" + static_cast<char>(type);
    model_ += "\x0a" + sized(body);
  }

  /// The model with the ids of its special pieces, unigram.
  std::string finish(const std::string& end, const std::string& unknown, bool bytes) const {
    std::string trainer;
    if (bytes) trainer += std::string("\x98\x02\x01", 3);  // byte_fallback
    trainer += "\xea\x02" + sized(unknown);                // unk_piece
    trainer += "\xf2\x02" + sized("<s>");                  // bos_piece
    trainer += "\xfa\x02" + sized(end);                    // eos_piece
    return model_ + "\x12" + sized(trainer);
  }

 private:
  static std::string sized(const std::string& bytes) {
    std::string length;
    std::size_t rest = bytes.size();
    for (; rest >= 0x80; rest >>= 7) length += static_cast<char>((rest & 0x7F) | 0x80);
    return length + static_cast<char>(rest) + bytes;
  }

  std::string model_;
};

constexpr int kNormal = 1, kUnknown = 2, kControl = 3, kByte = 6;

TEST(SentencePieceVocabulary, AModelWithoutEndSymbolIsRefused) {
  ModelWriter writer;
  writer.add("<unk>", kUnknown);
  writer.add("a", kNormal);
  EXPECT_THAT(error_of([&] {
                parse_sentencepiece_vocabulary(writer.finish("</s>", "<unk>", false), "v.spm");
              }),
              AllOf(HasSubstr("v.spm"), HasSubstr("no end symbol")));
}

TEST(SentencePieceVocabulary, ByteControlPiecesAreListed) {
  ModelWriter writer;
  writer.add("<unk>", kUnknown);
  writer.add("</s>", kControl);
  for (int byte = 0; byte < 256; ++byte) writer.add(fmt::format("<0x{:02X}>", byte), kByte);
  writer.add("▁a", kNormal);
  const auto vocabulary =
      parse_sentencepiece_vocabulary(writer.finish("</s>", "<unk>", true), "v.spm");
  EXPECT_EQ(vocabulary->end_id(), 1);
  EXPECT_EQ(vocabulary->unknown_id(), 0);
  ASSERT_EQ(vocabulary->control_ids().size(), 32u);
  EXPECT_EQ(vocabulary->control_ids().front(), 2);
  EXPECT_EQ(vocabulary->control_ids().back(), 33);
  EXPECT_THAT(load_vocabulary(kModel)->control_ids(), ElementsAre());
}

}  // namespace
}  // namespace fuselage::vocabulary_test
