#include "models/formats/npz_writer.h"

#include <gmock/gmock.h>

#include <numeric>

#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "models/formats/npz.h"
#include "tests/temp_path.h"

namespace fuselage {
namespace {

using ::testing::HasSubstr;

Tensor counting(DType dtype, std::vector<std::int64_t> shape) {
  Tensor tensor(dtype, std::move(shape));
  auto* bytes = reinterpret_cast<unsigned char*>(tensor.mutable_bytes());
  std::iota(bytes, bytes + tensor.size_bytes(), static_cast<unsigned char>(1));
  return tensor;
}

void expect_same(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.dtype(), b.dtype());
  EXPECT_EQ(a.shape(), b.shape());
  ASSERT_EQ(a.size_bytes(), b.size_bytes());
  EXPECT_TRUE(std::equal(a.bytes(), a.bytes() + a.size_bytes(), b.bytes()));
}

TEST(NpzWriter, WritesArraysThatTheReaderReads) {
  const TensorMap tensors{{"scalar", counting(DType::f32, {})},
                          {"row", counting(DType::i64, {3})},
                          {"empty", counting(DType::f32, {0, 4})},
                          {"matrix.lengths", counting(DType::i32, {2, 5})},
                          {"bytes", counting(DType::u8, {70})}};
  const std::string path = temp_path("arrays.npz");
  write_npz(path, tensors);
  const NpzFile read = read_npz(path);
  ASSERT_EQ(read.tensors.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) expect_same(tensor, read.tensors.at(name));
  const std::string bytes = read_file(path);
  write_npz(path, tensors);
  EXPECT_EQ(bytes, read_file(path));
}

TEST(NpzWriter, WritesOneArray) {
  const std::string path = temp_path("array.npy");
  const Tensor tensor = counting(DType::f64, {2, 1, 3});
  write_npy(path, tensor);
  expect_same(tensor, read_npy(path));
  const std::string bytes = read_file(path);
  EXPECT_EQ((bytes.size() - tensor.size_bytes()) % 64, 0U);
  EXPECT_THROW(read_npy(std::string_view(bytes).substr(0, bytes.size() - 1), "x.npy"), Error);
  EXPECT_THROW(read_npy(bytes + "x", "x.npy"), Error);
  for (std::size_t cut = 0; cut < bytes.size() - tensor.size_bytes(); ++cut)
    EXPECT_THROW(read_npy(std::string_view(bytes).substr(0, cut), "x.npy"), Error) << cut;
}

TEST(NpzWriter, RefusesTypesThatNumpyLacks) {
  EXPECT_THAT([] { write_npy("x.npy", counting(DType::bf16, {2})); },
              ::testing::ThrowsMessage<Error>(HasSubstr("x.npy: numpy has no type bf16")));
}

}  // namespace
}  // namespace fuselage
