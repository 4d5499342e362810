#include <gmock/gmock.h>

#include <limits>

#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "text/sentencepiece/model.h"
#include "text/sentencepiece/protobuf.h"
#include "text/sentencepiece/vocabulary.h"

namespace fuselage {
namespace {

using namespace std::string_view_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr const char* kHostile = FUSELAGE_TEST_DATA "/hostile/";

std::string piece(std::string_view text, float score, std::uint64_t type) {
  ProtobufWriter writer;
  writer.add_bytes(1, text);
  writer.add_float(2, score);
  writer.add_varint(3, type);
  return writer.message();
}

/// <unk>, </s>, and what is given.
std::string model_of(const std::vector<std::string>& pieces, std::string_view trainer = "") {
  ProtobufWriter writer;
  writer.add_bytes(1, piece("<unk>", 0, 2));
  writer.add_bytes(1, piece("</s>", 0, 3));
  for (const std::string& more : pieces) writer.add_bytes(1, more);
  writer.add_bytes(2, trainer);
  return writer.message();
}

void refuses(const std::string& bytes, const std::string& why) {
  EXPECT_THAT([&] { parse_sentencepiece_vocabulary(bytes, "v.spm"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("v.spm"), HasSubstr(why))));
}

/// Asks for texts of many kinds, which a sanitizer may watch.
void use(const Vocabulary& vocabulary) {
  for (const std::string_view line :
       {"Tom is A cat ﬁ é É Ａ"sv, ""sv, "   "sv, "\xFF\xC3"sv, "a\0b"sv, "漢字😀\u0301 ﷺ"sv,
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"sv})
    vocabulary.decode(vocabulary.encode(line));
}

TEST(SentencePieceModel, TablesThatLeadTheLibraryAstrayAreRefused) {
  const std::pair<const char*, const char*> files[] = {
      {"has_leaf.spm", "a leaf of its normalization table leads astray"},
      {"root_leaf.spm", "a branch of its normalization table leads astray"},
      {"group.spm", "field 150 has the wire type 3"},
      {"overlong_tag.spm", "it has a field 536870914"}};
  for (const auto& file : files) {
    const std::string name = file.first;
    const std::string bytes = read_file(kHostile + name);
    EXPECT_THAT([&] { use(*parse_sentencepiece_vocabulary(bytes, name)); },
                ThrowsMessage<Error>(AllOf(HasSubstr(name), HasSubstr(file.second))));
  }
  const std::string group = read_file(kHostile + std::string("group.spm"));
  refuses(group.substr(4), "a leaf of its normalization table leads astray");
}

TEST(SentencePieceModel, TheLibraryReadsWhatWasChecked) {
  const std::string bytes = read_file(kHostile + std::string("valid.spm"));
  const auto vocabulary = parse_sentencepiece_vocabulary(bytes, "valid.spm");
  // As the library gives them for the file itself; the last one is the end.
  const std::vector<WordId> expected = {3, 0,  14, 12, 3, 4, 6, 3, 9, 7,
                                        3, 10, 4,  3,  5, 3, 5, 3, 0, 2};
  EXPECT_EQ(vocabulary->encode("Tom is A cat ﬁ é É Ａ"), expected);
  const std::string again = print_sentencepiece_model(parse_sentencepiece_model(bytes));
  EXPECT_EQ(print_sentencepiece_model(parse_sentencepiece_model(again)), again);
}

TEST(SentencePieceModel, AnyPrefixIsHarmless) {
  const std::string whole = read_file(kHostile + std::string("valid.spm"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    try {
      use(*parse_sentencepiece_vocabulary(whole.substr(0, size), "v.spm"));
    } catch (const Error&) {
    }
  }
}

TEST(SentencePieceModel, AnyChangedByteIsHarmless) {
  const std::string whole = read_file(kHostile + std::string("valid.spm"));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int bit : {0, 3, 7}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ 1 << bit);
      try {
        use(*parse_sentencepiece_vocabulary(changed, "v.spm"));
      } catch (const Error&) {
      }
    }
  }
}

TEST(SentencePieceModel, OfRepeatedFieldsTheLastOneCounts) {
  ProtobufWriter twice;
  twice.add_bytes(1, "x");
  twice.add_bytes(1, "y");
  ProtobufWriter bpe, suffix;
  bpe.add_varint(3, 2);
  suffix.add_varint(24, 1);
  suffix.add_varint(3, 4);
  ProtobufWriter message;
  message.add_bytes(1, twice.message());
  message.add_bytes(2, bpe.message());
  message.add_bytes(2, suffix.message());
  const std::string bytes = message.message();
  const SentencePieceModel model = parse_sentencepiece_model(bytes);
  ASSERT_EQ(model.pieces.size(), 1u);
  EXPECT_EQ(model.pieces[0].text, "y");
  EXPECT_EQ(model.type, SentencePieceModel::Type::character);
  EXPECT_TRUE(model.treat_whitespace_as_suffix);
}

TEST(SentencePieceModel, FieldsHaveTheirTypes) {
  ProtobufWriter number;
  number.add_varint(1, 5);
  refuses(number.message(), "field 1 has the wire type 0, not 2");
  ProtobufWriter trainer;
  trainer.add_bytes(35, "yes");
  refuses(model_of({}, trainer.message()), "field 35 has the wire type 2, not 0");
  ProtobufWriter type;
  type.add_varint(3, 5);
  refuses(model_of({}, type.message()), "the type of the model is 5; types are 1 to 4");
  refuses(model_of({piece("a", 0, 7)}), "piece 2: the type of the piece is 7; types are 1 to 6");
  refuses(model_of({piece("a", 0, 0)}), "piece 2: the type of the piece is 0");
}

TEST(SentencePieceModel, PiecesThatNoTrainingGivesAreRefused) {
  const float infinity = std::numeric_limits<float>::infinity();
  refuses(model_of({piece("a", infinity, 1)}), "piece 2: its score is inf, no finite number");
  refuses(model_of({piece("a", std::numeric_limits<float>::quiet_NaN(), 1)}), "no finite number");
  refuses(model_of({piece("a\0b"sv, 0, 1)}), "piece 2: a text is not valid UTF-8, or has NUL");
  refuses(model_of({piece("\xC3", 0, 1)}), "piece 2: a text is not valid UTF-8");
  refuses(model_of({piece(std::string(2049, 'a'), 0, 1)}), "a text has 2049 bytes, more than 2048");
  refuses(model_of({piece("", 0, 1)}), "v.spm");
  refuses(model_of({piece("a", 0, 1), piece("a", 0, 1)}), "already defined");
  refuses(model_of({piece("<unknown>", 0, 2)}), "unk is already defined");
  refuses(model_of({piece("<0x00>", 0, 6)}), "v.spm");
}

TEST(SentencePieceModel, LongPiecesDoNoHarm) {
  std::vector<std::string> pieces;
  for (const std::uint64_t type : {1, 4, 5})
    pieces.push_back(piece(std::string(2047, 'a') + static_cast<char>('a' + type), 0, type));
  for (std::uint64_t type = 1; type <= 4; ++type) {
    ProtobufWriter trainer;
    trainer.add_varint(3, type);
    use(*parse_sentencepiece_vocabulary(model_of(pieces, trainer.message()), "v.spm"));
  }
}

TEST(SentencePieceModel, SymbolsThatBeginAlikeAreBounded) {
  std::vector<std::string> pieces;
  for (std::size_t size = 1; size <= 64; ++size)
    pieces.push_back(piece(std::string(size, 'a'), 0, 4));
  pieces.push_back(piece("b", 0, 4));
  use(*parse_sentencepiece_vocabulary(model_of(pieces), "v.spm"));
  pieces.push_back(piece(std::string(65, 'a'), 0, 4));
  refuses(model_of(pieces), "more than 64 user-defined symbols begin alike");
}

TEST(SentencePieceVocabulary, RunsOfUnknownCharactersAreOneUnknownWord) {
  std::string line;
  while (line.size() < 600000) line += "漢字";
  for (std::uint64_t type = 1; type <= 4; ++type) {
    ProtobufWriter trainer;
    trainer.add_varint(3, type);
    const auto vocabulary = parse_sentencepiece_vocabulary(
        model_of({piece("▁", -1, 1), piece("a", -1, 1)}, trainer.message()), "v.spm");
    EXPECT_EQ(vocabulary->size(), 4);
    EXPECT_EQ(vocabulary->encode("a漢字a漢").back(), 1);
    EXPECT_LE(vocabulary->encode(line).size(), 3u);
  }
}

TEST(SentencePieceVocabulary, PiecesMayBeCalledLikeBytes) {
  const auto vocabulary = parse_sentencepiece_vocabulary(
      model_of({piece("▁", -1, 1), piece("<0x0A>", 0, 4), piece("a", -1, 1)}), "v.spm");
  const std::vector<WordId> expected = {2, 4, 0, 3, 1};
  EXPECT_EQ(vocabulary->encode("a漢字<0x0A>"), expected);
  EXPECT_EQ(vocabulary->decode(std::vector<WordId>{2, 4, 3}), "a<0x0A>");
}

}  // namespace
}  // namespace fuselage
