#include "fuselage/models/formats/safetensors.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/files/file.h"
#include "base/files/mapped_memory.h"
#include "fuselage/base/error.h"
#include "tests/temp_path.h"
#include "tests/temporary_folder.h"

namespace fuselage::safetensors_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string file(const std::string& header, const std::string& data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 0xFF);
  return bytes + header + data;
}

std::string error_of(const std::string& bytes) {
  try {
    read_safetensors_file(bytes, "m.safetensors");
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("m.safetensors"));
    EXPECT_THAT(error.what(), ::testing::Not(HasSubstr("\n")));
    return error.what();
  }
  return "";
}

/// The error for a header with one tensor described by `fields`.
std::string error_of_tensor(const std::string& fields, const std::string& data) {
  return error_of(file(R"({"x":{)" + fields + "}}", data));
}

Tensor ramp(DType dtype, std::vector<std::int64_t> shape) {
  Tensor tensor(dtype, std::move(shape));
  for (std::size_t i = 0; i < tensor.size_bytes(); ++i)
    tensor.mutable_bytes()[i] = static_cast<std::byte>(i * 7 + 1);
  return tensor;
}

TEST(Safetensors, ReadsAHandMadeFile) {
  const SafetensorsFile result = read_safetensors_file(
      file(R"( {"b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]},"__metadata__":{"k":"v"},)"
           R"("a":{"dtype":"U8","shape":[2,1],"data_offsets":[0,2]}}   )",
           std::string("\x05\x06\x00\x00\x80\x3f", 6))
          .replace(8, 1, "{")
          .replace(9, 1, " "),
      "m.safetensors");
  ASSERT_EQ(result.tensors.size(), 2u);
  EXPECT_EQ(result.tensors.at("b").data<float>()[0], 1.0f);
  EXPECT_THAT(result.tensors.at("a").shape(), ElementsAre(2, 1));
  EXPECT_EQ(result.tensors.at("a").data<std::uint8_t>()[1], 6);
  EXPECT_EQ(result.metadata.at("k"), "v");
}

TEST(Safetensors, RoundTripsEveryTypeAndShape) {
  TensorMap tensors;
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64, DType::i8, DType::i16,
                            DType::i32, DType::i64, DType::u8, DType::u16, DType::u32, DType::u64})
    tensors[std::string(to_string(dtype))] = ramp(dtype, {3, 5});
  tensors["scalar"] = ramp(DType::f32, {});
  tensors["none"] = ramp(DType::f32, {1, 0});
  tensors["big"] = ramp(DType::f32, {64, 16});
  const std::string path = temp_path("roundtrip.safetensors");
  const std::map<std::string, std::string> metadata = {{"format", "pt"}, {"ключ", "\"\n"}};
  write_safetensors(path, tensors, metadata);
  const SafetensorsFile back = read_safetensors_file(path);
  EXPECT_EQ(back.metadata, metadata);
  ASSERT_EQ(back.tensors.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    const Tensor& other = back.tensors.at(name);
    EXPECT_EQ(other.dtype(), tensor.dtype()) << name;
    EXPECT_EQ(other.shape(), tensor.shape()) << name;
    EXPECT_EQ(std::memcmp(other.bytes(), tensor.bytes(), tensor.size_bytes()), 0) << name;
  }
}

TEST(Safetensors, AlignsTheDataAndPutsAlignedTensorsFirst) {
  TensorMap tensors;
  tensors["a"] = ramp(DType::u8, {3});
  tensors["b"] = ramp(DType::f32, {5});
  tensors["c"] = ramp(DType::f32, {4, 16});
  const std::string path = temp_path("aligned.safetensors");
  write_safetensors(path, tensors, {});
  const std::string bytes = read_file(path);
  EXPECT_EQ(
      (8 + static_cast<unsigned char>(bytes[0]) + 256 * static_cast<unsigned char>(bytes[1])) % 64,
      0);
  EXPECT_THAT(bytes, HasSubstr(R"("data_offsets":[0,256])"));
  EXPECT_THAT(bytes, HasSubstr(R"("data_offsets":[256,276])"));
  EXPECT_THAT(bytes, HasSubstr(R"("data_offsets":[276,279])"));
}

TEST(Safetensors, TensorsAreTheirPlacesInTheMappedFile) {
  TensorMap tensors;
  tensors["floats"] = ramp(DType::f32, {4, 17});
  tensors["others"] = ramp(DType::f32, {3});
  const std::string path = temp_path("mapped.safetensors");
  write_safetensors(path, tensors, {});
  const TensorMap read = read_safetensors(path);
  for (const auto& [name, tensor] : read) {
    EXPECT_EQ(tensor.mapped_bytes().size(), tensor.size_bytes()) << name;
    give_back_mapped(tensor.mapped_bytes());
    EXPECT_EQ(std::memcmp(tensor.bytes(), tensors[name].bytes(), tensor.size_bytes()), 0) << name;
    EXPECT_EQ(static_cast<const void*>(tensor.bytes()), tensor.mapped_bytes().data()) << name;
  }
  EXPECT_TRUE(
      read_safetensors_file(read_file(path), path).tensors.at("floats").mapped_bytes().empty());
}

TEST(Safetensors, ElementsThatAreNotAlignedInTheFileAreCopied) {
  const std::string header = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                             R"("b":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}})";
  const std::string path = temp_path("odd.safetensors");
  const float number = 2.5F;
  std::string data = "x";
  data.append(reinterpret_cast<const char*>(&number), sizeof number);
  write_file_atomically(path, file(header, data));
  const Tensor tensor = read_safetensors(path).at("b");
  EXPECT_TRUE(tensor.mapped_bytes().empty());
  EXPECT_EQ(*tensor.data<float>(), number);
}

TEST(Safetensors, AnEmptyFileOfTensorsIsAllowed) {
  const std::string path = temp_path("none.safetensors");
  write_safetensors(path, {}, {});
  EXPECT_TRUE(read_safetensors(path).empty());
}

TEST(Safetensors, RefusesToWriteWhatCannotBeRead) {
  const std::string path = temp_path("bad.safetensors");
  TensorMap tensors;
  tensors["\xff"] = ramp(DType::u8, {1});
  EXPECT_THROW(write_safetensors(path, tensors, {}), Error);
  tensors = {{"__metadata__", ramp(DType::u8, {1})}};
  EXPECT_THROW(write_safetensors(path, tensors, {}), Error);
}

TEST(Safetensors, EveryTruncationIsAnError) {
  const std::string whole =
      file(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", "abcd");
  EXPECT_EQ(error_of(whole), "");
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_THAT(error_of(whole.substr(0, length)), HasSubstr("truncated")) << length;
  EXPECT_THAT(error_of(whole + "e"), HasSubstr("take 4 bytes but the data has 5"));
}

TEST(Safetensors, HeadersMustBeOneJsonObject) {
  EXPECT_THAT(error_of("PK\x03\x04 this is a zip"), HasSubstr("not a .safetensors file"));
  EXPECT_THAT(error_of(file("[]", "")), HasSubstr("does not begin with '{'"));
  EXPECT_THAT(error_of(file("{", "")), HasSubstr("invalid JSON"));
  EXPECT_THAT(error_of(file("{}x", "")), HasSubstr("invalid JSON"));
  EXPECT_THAT(error_of(file(R"({"x":1e9999})", "")), HasSubstr("out of range"));
  EXPECT_THAT(error_of(file("{\"\xff\":1}", "")), HasSubstr("invalid JSON"));
  EXPECT_THAT(error_of(file(R"({"x":1})", "")), HasSubstr("not an object"));
  EXPECT_THAT(error_of(file(R"({"__metadata__":{"a":1}})", "")), HasSubstr("not a string"));
  EXPECT_THAT(error_of(file(R"({"__metadata__":[]})", "")), HasSubstr("not an object"));
}

TEST(Safetensors, ARepeatedNameIsAnError) {
  const std::string x = R"("x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  EXPECT_THAT(error_of(file("{" + x + "," + x + "}", "")), HasSubstr("the key 'x' is given twice"));
}

TEST(Safetensors, TensorsMustBeDescribedInFull) {
  EXPECT_THAT(error_of_tensor(R"("shape":[0],"data_offsets":[0,0])", ""), HasSubstr("'dtype'"));
  EXPECT_THAT(error_of_tensor(R"("dtype":"U8","data_offsets":[0,0])", ""), HasSubstr("'shape'"));
  EXPECT_THAT(error_of_tensor(R"("dtype":"U8","shape":[0])", ""), HasSubstr("'data_offsets'"));
  EXPECT_THAT(error_of_tensor(R"("dtype":"BOOL","shape":[1],"data_offsets":[0,1])", "a"),
              AllOf(HasSubstr("'x'"), HasSubstr("'BOOL'"), HasSubstr("F32")));
  for (const std::string shape : {"[-1]", "[1.5]", "3", "[\"1\"]", "null"})
    EXPECT_THAT(
        error_of_tensor(R"("dtype":"U8","shape":)" + shape + R"(,"data_offsets":[0,1])", "a"),
        HasSubstr("'shape' is not"))
        << shape;
  for (const std::string offsets : {"[0]", "[0,1,2]", "[1,0]", "[-1,0]", "{}"})
    EXPECT_THAT(error_of_tensor(R"("dtype":"U8","shape":[1],"data_offsets":)" + offsets, "a"),
                HasSubstr("'data_offsets' is not a pair"))
        << offsets;
}

TEST(Safetensors, ShapesMustMatchTheirBytes) {
  EXPECT_THAT(error_of_tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])", "abcd"),
              AllOf(HasSubstr("needs 8 bytes"), HasSubstr("hold 4")));
  EXPECT_THAT(error_of_tensor(
                  R"("dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,0])", ""),
              HasSubstr("needs too many bytes"));
  EXPECT_THAT(
      error_of_tensor(R"("dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,0])", ""),
      HasSubstr("does not fit"));
  EXPECT_THAT(error_of_tensor(
                  R"("dtype":"U8","shape":[1000000000000],"data_offsets":[0,1000000000000])", ""),
              HasSubstr("truncated"));
}

TEST(Safetensors, BoundsTheHeader) {
  std::string length(8, '\0');
  length[3] = 1;  // 2^24 bytes
  EXPECT_THAT(error_of(length), HasSubstr("truncated"));
  length[0] = 1;
  EXPECT_THAT(error_of(length), HasSubstr("a header of 16777217 bytes, at most 16777216"));
  const auto tensors = [](int count) {
    std::string header = "{";
    for (int i = 0; i < count; ++i)
      header += fmt::format(R"({}"t{}":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
                            i == 0 ? "" : ",", i);
    return file(header + "}", "");
  };
  EXPECT_EQ(error_of(tensors(65'536)), "");
  EXPECT_THAT(error_of(tensors(65'537)), HasSubstr("names 65537 tensors, at most 65536 are read"));
}

TEST(Safetensors, IsWrittenInLinearTime) {
  const support::TemporaryFolder folder;
  const std::string path = folder / "many.safetensors";
  TensorMap tensors;
  for (int i = 0; i < 60'000; ++i)
    tensors.emplace(fmt::format("decoder.layer.{}.weight", i), Tensor(DType::u8, {1}));
  const auto seconds = [](const auto& work) {
    double best = 1e9;
    for (int i = 0; i < 3; ++i) {
      const auto start = std::chrono::steady_clock::now();
      work();
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      best = std::min(best, took.count());
    }
    return best;
  };
  const double writing = seconds([&] { write_safetensors(path, tensors, {{"a", "b"}}); });
  const double reading = seconds([&] { read_safetensors_file(path); });
  EXPECT_LT(writing, 5 * reading);
}

TEST(Safetensors, TensorsMustNeitherOverlapNorLeaveHoles) {
  const auto two = [](const std::string& first, const std::string& second) {
    return file(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":)" + first +
                    R"(},"b":{"dtype":"U8","shape":[2],"data_offsets":)" + second + "}}",
                "abcd");
  };
  EXPECT_EQ(error_of(two("[2,4]", "[0,2]")), "");
  EXPECT_THAT(error_of(two("[0,2]", "[1,3]")), HasSubstr("begins at byte 1"));
  EXPECT_THAT(error_of(two("[1,3]", "[3,5]")), HasSubstr("begins at byte 1"));
  EXPECT_THAT(error_of(two("[0,2]", "[0,2]")), HasSubstr("begins at byte 0"));
}

}  // namespace
}  // namespace fuselage::safetensors_test
