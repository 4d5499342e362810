#include <gmock/gmock.h>

#include "fuselage/base/error.h"
#include "models/ctranslate2/model_bin.h"
#include "tests/models/ctranslate2_writer.h"

namespace fuselage::ctranslate2_file_test {
namespace {

using support::bytes_of;
using support::ctranslate2_bin;
using support::ctranslate2_text;
using support::Ctranslate2Item;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Ctranslate2Item kPair = {"pair", {2}, 0, bytes_of(1.5F) + bytes_of(-2.0F)};
const Ctranslate2Item kFlag = {"flag", {}, 1, bytes_of(std::int8_t{1})};

std::string error_of(const std::string& bytes) {
  try {
    read_ctranslate2_file(bytes, "m/model.bin");
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("m/model.bin"), ::testing::Not(HasSubstr("\n"))));
    return error.what();
  }
  return "";
}

TEST(Ctranslate2File, HasTheVariables) {
  for (const std::uint32_t version : {2U, 3U, 4U, 5U, 6U}) {
    const std::string bytes = ctranslate2_bin({kPair, kFlag}, {}, {version, "TransformerBase", 3});
    const Ctranslate2File file = read_ctranslate2_file(bytes, "model.bin");
    EXPECT_EQ(file.version, version);
    EXPECT_EQ(file.kind, "TransformerBase");
    EXPECT_EQ(file.revision, 3U);
    ASSERT_EQ(file.variables.size(), 2U);
    const Tensor pair = file.variables.at("pair").tensor();
    EXPECT_EQ(pair.dtype(), DType::f32);
    EXPECT_THAT(pair.shape(), ElementsAre(2));
    EXPECT_EQ(pair.data<float>()[1], -2);
    EXPECT_EQ(file.find("flag")->dtype, DType::i8);
    EXPECT_TRUE(file.find("flag")->shape.empty());
  }
}

TEST(Ctranslate2File, HasAllTypes) {
  constexpr DType kTypes[] = {DType::f32, DType::i8,  DType::i16,
                              DType::i32, DType::f16, DType::bf16};
  for (std::uint8_t type = 0; type < 6; ++type) {
    const std::string bytes =
        ctranslate2_bin({{"v", {3}, type, std::string(3 * size_of(kTypes[type]), '\1')}});
    EXPECT_EQ(read_ctranslate2_file(bytes, "model.bin").find("v")->dtype, kTypes[type]);
  }
  EXPECT_THAT(error_of(ctranslate2_bin({{"v", {1}, 6, "1234"}})),
              AllOf(HasSubstr("'v'"), HasSubstr("type 6 is not known")));
}

TEST(Ctranslate2File, HasAliasesOfVariablesAndTheirScales) {
  const Ctranslate2Item weight = {"a/weight", {1, 1}, 1, "\1"};
  const Ctranslate2Item scale = {"a/weight_scale", {1}, 0, bytes_of(2.0F)};
  const std::string bytes = ctranslate2_bin({weight, scale}, {{"b/weight", "a/weight"}});
  const Ctranslate2File file = read_ctranslate2_file(bytes, "model.bin");
  EXPECT_EQ(file.stored_name("b/weight"), "a/weight");
  EXPECT_EQ(file.stored_name("b/weight_scale"), "a/weight_scale");
  EXPECT_EQ(file.find("b/weight_scale"), file.find("a/weight_scale"));
  EXPECT_EQ(file.stored_name("a/weight"), "a/weight");
  EXPECT_EQ(file.find("c"), nullptr);
}

TEST(Ctranslate2File, IsRefusedWhereItIsCut) {
  const std::string bytes = ctranslate2_bin({kPair, kFlag}, {{"other", "pair"}});
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THAT(error_of(bytes.substr(0, size)), HasSubstr("truncated")) << size;
  EXPECT_EQ(error_of(bytes), "");
  EXPECT_THAT(error_of(bytes + "x"), HasSubstr("1 bytes follow the last entry"));
}

TEST(Ctranslate2File, HasCountsAndSizesThatFit) {
  std::string bytes = ctranslate2_bin({kPair});
  const std::size_t count = 4 + ctranslate2_text("TransformerSpec").size() + 4;
  bytes[count] = 2;
  EXPECT_THAT(error_of(bytes), HasSubstr("does not end"));
  bytes[count + 3] = '\x7f';
  EXPECT_THAT(error_of(bytes), HasSubstr("at most 65536 are read"));
  const auto of_shape = [](std::vector<std::uint32_t> shape, const std::string& data) {
    return error_of(ctranslate2_bin({{"v", std::move(shape), 0, data}}));
  };
  EXPECT_THAT(of_shape({3}, "12345678"),
              HasSubstr("its shape [3] of f32 does not fit its 8 bytes"));
  EXPECT_THAT(of_shape({1}, "12345678"), HasSubstr("does not fit"));
  EXPECT_THAT(of_shape({2, 0}, "12345678"), HasSubstr("does not fit"));
  EXPECT_THAT(of_shape({0x40000000, 4, 0x40000000, 4}, ""), HasSubstr("does not fit"));
  EXPECT_THAT(of_shape({0x80000000, 2, 1, 0x80000000, 2}, "1234"), HasSubstr("does not fit"));
  EXPECT_EQ(of_shape({2, 0}, ""), "");
  EXPECT_THAT(of_shape(std::vector<std::uint32_t>(9, 1), "1234"), HasSubstr("9 dimensions"));
}

TEST(Ctranslate2File, HasNamesThatEnd) {
  std::string bytes = ctranslate2_bin({kPair});
  bytes[bytes.find("pair") + 4] = 'x';
  EXPECT_THAT(error_of(bytes), HasSubstr("does not end where its length of 5 says"));
  bytes = ctranslate2_bin({kPair});
  bytes[bytes.find("pair") + 1] = '\0';
  EXPECT_THAT(error_of(bytes), HasSubstr("does not end"));
  bytes = ctranslate2_bin({kPair});
  bytes[bytes.find("pair") + 1] = '\n';
  EXPECT_THAT(error_of(bytes), HasSubstr("has a control character"));
  bytes[bytes.rfind('p') - 2] = 0;
  EXPECT_THAT(error_of(bytes), HasSubstr("damaged"));
}

TEST(Ctranslate2File, HasEachNameOnce) {
  EXPECT_THAT(error_of(ctranslate2_bin({kPair, kPair})), HasSubstr("two variables of that name"));
  EXPECT_THAT(error_of(ctranslate2_bin({kPair}, {{"x", "y"}})),
              AllOf(HasSubstr("'x'"), HasSubstr("it stands for 'y'")));
  EXPECT_THAT(error_of(ctranslate2_bin({kPair}, {{"pair", "pair"}})), HasSubstr("twice"));
  EXPECT_THAT(error_of(ctranslate2_bin({kPair}, {{"x", "pair"}, {"x", "pair"}})),
              HasSubstr("twice"));
  EXPECT_THAT(error_of(ctranslate2_bin({kPair}, {{"x", "pair"}, {"y", "x"}})), HasSubstr("'x'"));
}

TEST(Ctranslate2File, HasAKnownVersion) {
  EXPECT_THAT(error_of(ctranslate2_bin({kPair}, {}, {1})), HasSubstr("only 2 to 6"));
  EXPECT_THAT(error_of(ctranslate2_bin({kPair}, {}, {7})), HasSubstr("version 7"));
  std::string bytes = ctranslate2_bin({kPair}, {}, {2});
  // The size of a number, before the count of two.
  bytes[bytes.size() - 8 - 5] = 8;
  EXPECT_THAT(error_of(bytes), HasSubstr("no numbers of 8 bytes"));
}

}  // namespace
}  // namespace fuselage::ctranslate2_file_test
