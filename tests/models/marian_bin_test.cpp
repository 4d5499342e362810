#include "models/formats/marian_bin.h"

#include <gmock/gmock.h>

#include <cstring>

#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"
#include "tests/models/marian_bin_writer.h"
#include "tests/temp_path.h"

namespace fuselage::marian_bin_test {
namespace {

using support::BinItem;
using support::BinQuantizer;
using support::bytes_of;
using support::marian_bin;
using support::plain_item;
using support::quantized_item;
using support::table_item;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Different numbers of both signs, the largest in the middle.
Tensor numbers(std::vector<std::int64_t> shape) {
  Tensor tensor(DType::f32, std::move(shape));
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const auto x = static_cast<float>((i * 37 + 11) % 101 - 50);
    tensor.mutable_data<float>()[i] = x / (i == tensor.size() / 2 ? 20.0F : 40.0F);
  }
  return tensor;
}

MarianBinFile read(const std::vector<BinItem>& items) {
  return read_marian_bin(marian_bin(items), "m.bin");
}

std::string error_of(const std::string& bytes) {
  try {
    read_marian_bin(bytes, "m.bin");
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("m.bin"));
    EXPECT_THAT(error.what(), ::testing::Not(HasSubstr("\n")));
    return error.what();
  }
  return "";
}

std::string error_of(const std::vector<BinItem>& items) { return error_of(marian_bin(items)); }

BinItem small_item() { return plain_item("good", numbers({2, 3})); }

/// The numbers of a quantized matrix's columns, back in rows.
std::vector<float> rows_of(const Tensor& columns) {
  const Tensor wide = columns.to_f32();
  const std::int64_t n = columns.shape()[0], k = columns.shape()[1];
  std::vector<float> rows;
  for (std::int64_t r = 0; r < k; ++r)
    for (std::int64_t c = 0; c < n; ++c) rows.push_back(wide.data<float>()[c * k + r]);
  return rows;
}

std::vector<float> floats(const Tensor& tensor) {
  const Tensor wide = tensor.to_f32();
  return {wide.data<float>(), wide.data<float>() + wide.size()};
}

TEST(MarianBin, ReadsPlainTypes) {
  const MarianBinFile file =
      read({plain_item("f32", numbers({2, 3})),
            {"f64", 0x408, {1, 2}, bytes_of(0.5) + bytes_of(-3.0)},
            {"f16", 0x402, {2}, bytes_of(float_to_half(1.5F)) + bytes_of(float_to_half(-2))},
            {"i64", 0x108, {}, bytes_of<std::int64_t>(-7)},
            {"u16", 0x202, {1, 1, 1}, bytes_of<std::uint16_t>(65535)},
            {"none", 0x404, {1, 0}, ""}});
  EXPECT_EQ(file.tensors.size(), 6u);
  EXPECT_EQ(floats(file.tensors.at("f32")), floats(numbers({2, 3})));
  EXPECT_THAT(file.tensors.at("f32").shape(), ElementsAre(2, 3));
  EXPECT_THAT(floats(file.tensors.at("f64")), ElementsAre(0.5F, -3.0F));
  EXPECT_THAT(floats(file.tensors.at("f16")), ElementsAre(1.5F, -2.0F));
  EXPECT_THAT(floats(file.tensors.at("i64")), ElementsAre(-7.0F));
  EXPECT_THAT(floats(file.tensors.at("u16")), ElementsAre(65535.0F));
  EXPECT_THAT(file.tensors.at("none").shape(), ElementsAre(1, 0));
  EXPECT_EQ(file.config_yaml, "");
}

TEST(MarianBin, ReadsTheConfigurationUpToItsEnd) {
  const MarianBinFile file =
      read({small_item(),
            {"special:model.yml", 0x101, {20}, std::string("a: 1\n\0\0b", 8)},
            {"special:other", 0x999, {3}, "xyz"}});
  EXPECT_EQ(file.config_yaml, "a: 1\n");
  EXPECT_EQ(file.tensors.size(), 1u);
}

TEST(MarianBin, ReadsAFile) {
  const std::string path = temp_path("m.bin");
  write_file_atomically(path, marian_bin({small_item()}));
  EXPECT_EQ(read_marian_bin(path).tensors.count("good"), 1u);
}

TEST(MarianBin, MakesTheMatricesOfAFileAtTheirFirstUse) {
  const std::string path = temp_path("m.bin");
  const std::vector<BinItem> items = {quantized_item("x_W", numbers({64, 24}), 0x11001, 32),
                                      quantized_item("y_W", numbers({5, 3}), 0x10001),
                                      table_item("Wemb", numbers({5, 3}), 0x4101), small_item()};
  write_file_atomically(path, marian_bin(items));
  const MarianBinFile file = read_marian_bin(path), at_once = read(items);
  EXPECT_EQ(file.tensors.at("good").source(), nullptr);
  EXPECT_NE(file.tensors.at("x_W").source()->conversion,
            file.tensors.at("y_W").source()->conversion);
  for (const std::string name : {"x_W", "y_W", "Wemb"}) {
    const Tensor& tensor = file.tensors.at(name);
    const Tensor& other = at_once.tensors.at(name);
    ASSERT_NE(tensor.source(), nullptr) << name;
    EXPECT_EQ(tensor.source()->stored.size(), static_cast<std::size_t>(tensor.size()) + 4);
    EXPECT_EQ(tensor.shape(), other.shape());
    EXPECT_EQ(std::memcmp(tensor.bytes(), other.bytes(), other.size_bytes()), 0) << name;
  }
}

TEST(MarianBin, RefusesTheNumbersOfAFileAtTheirFirstUse) {
  const std::string path = temp_path("m.bin");
  write_file_atomically(path, marian_bin({{"x_W", 0x10001, {1, 2}, "\x01\x80" + bytes_of(2.0F)}}));
  const Tensor tensor = read_marian_bin(path).tensors.at("x_W");
  EXPECT_THAT([&tensor] { tensor.bytes(); },
              ::testing::ThrowsMessage<Error>(
                  AllOf(HasSubstr("m.bin"), HasSubstr("'x_W'"), HasSubstr("holds -128"))));
}

struct Layout {
  std::uint64_t type;
  std::int64_t width;
  DType dtype;
};

class MarianBinLayout : public ::testing::TestWithParam<Layout> {};

/// Sizes that are no multiple of what the type packs, where it packs, are refused in another test.
TEST_P(MarianBinLayout, ColumnsAreQuantizedVectors) {
  const auto [type, width, dtype] = GetParam();
  const std::vector<std::int64_t> shape =
      width == 0 ? std::vector<std::int64_t>{7, 5} : std::vector<std::int64_t>{3 * width, 24};
  const Tensor matrix = numbers(shape);
  const MarianBinFile file = read({quantized_item("x_W", matrix, type, width), small_item()});
  const Tensor& columns = file.tensors.at("x_W");
  EXPECT_EQ(columns.dtype(), dtype);
  EXPECT_THAT(columns.shape(), ElementsAre(shape[1], shape[0]));
  EXPECT_EQ(rows_of(columns), floats(BinQuantizer{type}.rounded(matrix)));
  EXPECT_EQ(floats(file.tensors.at("good")), floats(numbers({2, 3})));
}

INSTANTIATE_TEST_SUITE_P(
    All, MarianBinLayout,
    ::testing::Values(Layout{0x10001, 0, DType::qint8}, Layout{0x10002, 0, DType::qint16},
                      Layout{0x4101, 0, DType::qint8}, Layout{0x4102, 0, DType::qint16},
                      Layout{0x18001, 16, DType::qint8}, Layout{0x11001, 32, DType::qint8},
                      Layout{0x12001, 64, DType::qint8}, Layout{0x13001, 64, DType::qint8},
                      Layout{0x14002, 8, DType::qint16}, Layout{0x11002, 16, DType::qint16},
                      Layout{0x12002, 32, DType::qint16}));

TEST(MarianBin, TablesOfTheForkKeepTheirRows) {
  const Tensor table = numbers({5, 3});
  const MarianBinFile file = read({table_item("decoder_Wemb", table, 0x4101),
                                   table_item("Wemb_QuantMultA", numbers({1, 1}), 0x4101),
                                   quantized_item("other_W1", table, 0x4101)});
  EXPECT_THAT(file.tensors.at("decoder_Wemb").shape(), ElementsAre(5, 3));
  EXPECT_EQ(floats(file.tensors.at("decoder_Wemb")), floats(BinQuantizer{0x4101}.rounded(table)));
  EXPECT_FLOAT_EQ(floats(file.tensors.at("Wemb_QuantMultA"))[0], floats(numbers({1, 1}))[0]);
  EXPECT_THAT(file.tensors.at("other_W1").shape(), ElementsAre(3, 5));
}

TEST(MarianBin, DataOfAnyAlignmentIsRead) {
  BinItem odd = quantized_item("a_W", numbers({3, 5}), 0x10001);
  std::string file = marian_bin({odd, small_item()});
  // Take the padding behind the first item out, and correct its length.
  const std::size_t begin = file.find(odd.data);
  file.erase(begin + odd.data.size(), support::bin_padding(odd.data.size()).size());
  file.replace(16 + 24, 8, bytes_of<std::uint64_t>(odd.data.size()));
  const MarianBinFile read = read_marian_bin(file, "m.bin");
  EXPECT_EQ(rows_of(read.tensors.at("a_W")),
            floats(BinQuantizer{0x10001}.rounded(numbers({3, 5}))));
  EXPECT_EQ(floats(read.tensors.at("good")), floats(numbers({2, 3})));
}

// --- What is refused ---

TEST(MarianBin, RefusesEveryTruncation) {
  const std::string file = marian_bin({small_item(), quantized_item("a_W", numbers({3, 5}), 0x4101),
                                       support::config_item("type: s2s\n")});
  for (std::size_t size = 0; size < file.size(); ++size)
    EXPECT_THAT(error_of(file.substr(0, size)), HasSubstr("truncated")) << size;
  EXPECT_THAT(error_of(file + "x"), HasSubstr("1 bytes follow the last item"));
}

TEST(MarianBin, RefusesOtherVersions) {
  EXPECT_THAT(error_of(marian_bin({small_item()}, 2)), HasSubstr("encrypted"));
  EXPECT_THAT(error_of(marian_bin({small_item()}, 3)), HasSubstr("version 3"));
  EXPECT_THAT(error_of("PK\x03\x04 something else"), HasSubstr("not a Marian .bin file"));
}

TEST(MarianBin, RefusesSizesThatLie) {
  const std::string file = marian_bin({small_item()});
  const auto with = [&](std::size_t at, std::uint64_t number) {
    return error_of(std::string(file).replace(at, 8, bytes_of(number)));
  };
  EXPECT_THAT(with(8, std::uint64_t{1} << 60), HasSubstr("items take"));
  EXPECT_THAT(with(16, std::uint64_t{1} << 63), HasSubstr("the name of an item takes"));
  EXPECT_THAT(with(16, 3), HasSubstr("does not end where its length of 3 says"));
  EXPECT_THAT(with(32, std::uint64_t{1} << 62),
              AllOf(HasSubstr("'good'"), HasSubstr("4611686018427387904 dimensions")));
  EXPECT_THAT(with(40, ~std::uint64_t{0}), AllOf(HasSubstr("'good'"), HasSubstr("truncated")));
}

TEST(MarianBin, RefusesShapesThatDoNotFit) {
  const std::string data(24, '\0');
  EXPECT_THAT(error_of({{"w", 0x404, {8, 9}, data}}),
              AllOf(HasSubstr("item 'w'"), HasSubstr("[8, 9] of f32 needs 288 bytes"),
                    HasSubstr("has 256")));
  EXPECT_THAT(error_of({{"w", 0x4101, {11, 23}, data}}), HasSubstr("needs 257 bytes"));
  EXPECT_THAT(error_of({{"w", 0x404, {2, -3}, data}}), HasSubstr("[2, -3] has a negative"));
  EXPECT_THAT(error_of({{"w", 0x404, {1 << 30, 1 << 30, 1 << 30}, data}}),
              HasSubstr("more than the"));
  EXPECT_THAT(error_of({{"w", 0x404, {1 << 30, 1 << 30, 0}, data}}), HasSubstr("more than the"));
  EXPECT_THAT(error_of({{"x_W", 0x10001, {0, 5}, data}}), HasSubstr("is no matrix"));
  EXPECT_THAT(error_of({{"x_W", 0x10001, {}, data}}), HasSubstr("is no matrix"));
}

TEST(MarianBin, RefusesMatricesThatCannotBePacked) {
  EXPECT_THAT(error_of({{"x_W", 0x11001, {32, 12}, std::string(500, '\0')}}),
              AllOf(HasSubstr("intgemm8avx2"), HasSubstr("multiples of 32 by 8"),
                    HasSubstr("not 32 by 12")));
  EXPECT_THAT(error_of({{"x_W", 0x14002, {12, 8}, std::string(500, '\0')}}),
              HasSubstr("multiples of 8 by 8"));
}

TEST(MarianBin, RefusesNumbersThatNoQuantizerMade) {
  const auto item = [](float multiplier, std::int8_t q) {
    return std::vector<BinItem>{
        {"x_W", 0x10001, {1, 2}, bytes_of(q) + bytes_of(q) + bytes_of(multiplier)}};
  };
  EXPECT_EQ(error_of(item(2.0F, -127)), "");
  for (const float m : {0.0F, -1.0F, INFINITY, NAN, 1e-44F, 1e-39F})
    EXPECT_THAT(error_of(item(m, 1)), AllOf(HasSubstr("'x_W'"), HasSubstr("multiplier"))) << m;
  EXPECT_THAT(error_of(item(2.0F, -128)), HasSubstr("holds -128"));
}

TEST(MarianBin, RefusesTypesByName) {
  const auto of_type = [](std::uint64_t type) {
    return error_of({{"x_W", type, {1, 1}, std::string(300, '\0')}});
  };
  EXPECT_THAT(of_type(0x802), AllOf(HasSubstr("packed16"), HasSubstr("give the .npz")));
  EXPECT_THAT(of_type(0x1801), HasSubstr("packed8avx2"));
  EXPECT_THAT(of_type(0x2801), HasSubstr("packed8avx512"));
  EXPECT_THAT(of_type(0x777), HasSubstr("type 0x777 is not known"));
  EXPECT_THAT(error_of({{"special:model.yml", 0x404, {1}, "abcd"}}),
              HasSubstr("have type 0x404, bytes"));
}

TEST(MarianBin, RefusesTwinsAndNothing) {
  EXPECT_THAT(error_of({small_item(), small_item()}), HasSubstr("two items of that name"));
  EXPECT_THAT(error_of(std::vector<BinItem>{}), HasSubstr("no parameter"));
  EXPECT_THAT(error_of({{"", 0x404, {1}, "abcd"}}), HasSubstr("does not end where"));
}

TEST(MarianBin, BoundsTheNumberOfItems) {
  std::string bytes = bytes_of(std::uint64_t{1}) + bytes_of(std::uint64_t{65537});
  bytes.resize(bytes.size() + 65'537 * 32, '\0');
  EXPECT_THAT(error_of(bytes), HasSubstr("has 65537 items, at most 65536 are read"));
}

}  // namespace
}  // namespace fuselage::marian_bin_test
