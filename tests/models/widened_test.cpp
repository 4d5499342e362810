#include "models/formats/widened.h"

#include <gmock/gmock.h>

#include <cstring>
#include <limits>

#include "fuselage/base/error.h"
#include "fuselage/models/formats/safetensors.h"
#include "tests/temp_path.h"

namespace fuselage::widened_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Tensor numbers() {
  Tensor tensor(DType::f32, {300, 150});
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    tensor.mutable_data<float>()[i] = 0.25F * static_cast<float>(i % 15);
  return tensor;
}

Tensor in_file(const Tensor& tensor) {
  const std::string path = temp_path("halves.safetensors");
  write_safetensors(path, {{"t", tensor}}, {});
  return read_safetensors(path).at("t");
}

bool has_numbers(const Tensor& tensor) {
  return tensor.dtype() == DType::f32 && tensor.shape() == numbers().shape() &&
         std::memcmp(tensor.bytes(), numbers().bytes(), tensor.size_bytes()) == 0;
}

TEST(Widened, HalvesOfAFileAreWidenedWhenTheyAreRead) {
  for (const Tensor& halves : {numbers().to_bf16(), numbers().to_f16()}) {
    const Tensor late = widened(in_file(halves), "t", "m");
    ASSERT_NE(late.source(), nullptr);
    EXPECT_EQ(late.source()->stored.size(), halves.size_bytes());
    EXPECT_TRUE(late.mapped_bytes().empty()) << "the file has other bytes";
    EXPECT_TRUE(has_numbers(late));
    EXPECT_TRUE(has_numbers(widened(halves, "t", "m"))) << "in memory";
  }
  EXPECT_FALSE(widened(in_file(numbers()), "t", "m").mapped_bytes().empty());
}

TEST(Widened, AVectorIsWidenedAtOnce) {
  const Tensor halves = in_file(Tensor(DType::bf16, {1024}));
  EXPECT_EQ(widened(halves, "t", "m").source(), nullptr);
}

TEST(Widened, HalvesAreCheckedAtOnce) {
  Tensor bad = numbers();
  bad.mutable_data<float>()[7] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT([&] { widened(in_file(bad.to_bf16()), "t", "m"); },
              ThrowsMessage<Error>(HasSubstr("m: parameter 't' holds nan at element 7")));
}

}  // namespace
}  // namespace fuselage::widened_test
