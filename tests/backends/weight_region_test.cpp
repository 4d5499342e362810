#include "backends/cpu/weights/weight_region.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <cstring>
#include <numeric>

#include "base/files/file.h"
#include "base/files/mapped_memory.h"
#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"
#include "tests/temp_path.h"

namespace fuselage::cpu {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Tensor counting(std::vector<std::int64_t> shape, float first) {
  Tensor tensor(DType::f32, std::move(shape));
  std::iota(tensor.mutable_data<float>(), tensor.mutable_data<float>() + tensor.size(), first);
  return tensor;
}

WeightType declared(const std::string& name, std::vector<std::int64_t> shape,
                    DType dtype = DType::f32) {
  return {.name = name, .dtype = dtype, .shape = std::move(shape), .where = "%x = param"};
}

std::vector<float> numbers_of(const Tensor& tensor) {
  return {tensor.data<float>(), tensor.data<float>() + tensor.size()};
}

const MatrixShape kShape{.k = 3, .n = 37};

TEST(WeightRegion, HoldsEachFormOnceInTheOrderOfTheFirstRequest) {
  WeightRegion region;
  const auto bias = region.stored(declared("b", {5}));
  const auto packed = region.packed(declared("w", {3, 37}), kShape);
  const auto columns = region.columns(declared("w", {3, 37}), 3, 37);
  const auto whole = region.stored(declared("w", {3, 37}));
  EXPECT_EQ(region.packed(declared("w", {3, 37}), kShape), packed);
  EXPECT_EQ(region.stored(declared("b", {5})), bias);
  EXPECT_EQ(region.columns(declared("w", {3, 37}), 3, 37), columns);
  const Tensor w = counting({3, 37}, 10);
  region.make({{"w", w}, {"b", counting({5}, 1)}, {"unused", counting({2}, 0)}});

  EXPECT_THAT(numbers_of(*bias), ElementsAreArray({1, 2, 3, 4, 5}));
  EXPECT_THAT(numbers_of(*whole), ElementsAreArray(numbers_of(w)));
  EXPECT_EQ(columns->shape(), (std::vector<std::int64_t>{37, 3}));
  EXPECT_EQ(columns->data<float>()[4], w.data<float>()[38]);
  const PackedMatrix alone = pack(w.bytes(), kShape);
  ASSERT_EQ(packed->size_bytes(), alone.size_bytes());
  EXPECT_EQ(std::memcmp(packed->bytes(), alone.bytes(), alone.size_bytes()), 0);

  const auto offset = [&](const std::byte* at) { return at - bias->bytes(); };
  const auto aligned = [](std::size_t bytes) {
    return static_cast<std::ptrdiff_t>((bytes + 63) / 64 * 64);
  };
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bias->bytes()) % 64, 0u);
  EXPECT_EQ(offset(packed->bytes()), 64);
  EXPECT_EQ(offset(columns->bytes()), 64 + aligned(packed->size_bytes()));
  EXPECT_EQ(offset(whole->bytes()), offset(columns->bytes()) + aligned(4 * 37 * 3));
  EXPECT_EQ(static_cast<std::ptrdiff_t>(region.size_bytes()),
            offset(whole->bytes()) + aligned(4 * 37 * 3));
}

TEST(WeightRegion, HoldsAWeightInEachTypeThatIsAskedFor) {
  WeightRegion region;
  WeightType half = declared("w", {3, 38});
  half.dtype = DType::f16;
  const auto floats = region.stored(declared("w", {3, 38})), halves = region.stored(half);
  const Tensor w = counting({3, 38}, 10).to_f16();
  region.make({{"w", w}});
  EXPECT_EQ(halves->dtype(), DType::f16);
  EXPECT_EQ(std::memcmp(halves->bytes(), w.bytes(), w.size_bytes()), 0);
  EXPECT_THAT(numbers_of(*floats), ElementsAreArray(numbers_of(w.to_f32())));
}

TEST(WeightRegion, StaysAsLongAsWhatLiesInIt) {
  std::shared_ptr<const Tensor> kept;
  {
    WeightRegion region;
    kept = region.stored(declared("b", {5}));
    region.make({{"b", counting({5}, 1)}});
  }
  EXPECT_EQ(numbers_of(*kept).back(), 5);
}

TEST(WeightRegion, TakesOtherTypesOfNumbersForFloats) {
  WeightRegion region;
  const auto stored = region.stored(declared("h", {7}));
  const auto packed = region.packed(declared("w", {3, 37}), kShape);
  const Tensor w = counting({3, 37}, 1);
  region.make({{"h", counting({7}, 1).to_f16()}, {"w", w.to_f16()}});
  EXPECT_THAT(numbers_of(*stored), ElementsAreArray({1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(std::memcmp(packed->bytes(), pack(w.bytes(), kShape).bytes(), packed->size_bytes()), 0);
}

TEST(WeightRegion, MovesQuantizedMatricesWithTheirScales) {
  const Tensor w = quantized({.to = DType::qint8}, counting({37, 3}, -20));
  const MatrixShape shape{.k = 3, .n = 37, .transposed = true, .dtype = DType::qint8};
  WeightRegion region;
  region.stored(declared("b", {5}));
  const auto packed = region.packed(declared("w", {37, 3}, DType::qint8), shape);
  region.make({{"w", w}, {"b", counting({5}, 1)}});
  EXPECT_EQ(packed->scales(0)[36], scale_of(w.bytes() + 36 * vector_bytes(DType::qint8, 3)));
  const PackedMatrix alone = pack(w.bytes(), shape);
  EXPECT_EQ(std::memcmp(packed->bytes(), alone.bytes(), alone.size_bytes()), 0);
}

TEST(WeightRegion, MadeApartLeavesWeightsWhereTheyAre) {
  WeightRegion region;
  const auto stored = region.stored(declared("b", {5}));
  const auto packed = region.packed(declared("w", {3, 37}), kShape);
  const Tensor b = counting({5}, 1);
  region.make_apart({{"w", counting({3, 37}, 0)}, {"b", b}});
  EXPECT_EQ(stored->bytes(), b.bytes());
  EXPECT_NE(packed->bytes(), nullptr);
}

/// A weight in a mapped file.
Tensor mapped(const Tensor& tensor) {
  const std::string path = temp_path("mapped.bin");
  write_file_atomically(
      path, std::string(reinterpret_cast<const char*>(tensor.bytes()), tensor.size_bytes()));
  const MappedFile file = map_file(path);
  const std::string_view stored(reinterpret_cast<const char*>(file.bytes.get()), file.size);
  const auto in_place = [=, shape = tensor.shape()] {
    return Tensor(DType::f32, shape, file.bytes);
  };
  return {DType::f32, tensor.shape(),
          DeferredTensor{.make = in_place, .stored = stored, .conversion = "", .is_mapped = true}};
}

TEST(WeightRegion, LeavesALargeTableInItsFile) {
  const Tensor large = counting({4 << 20, 1}, 0);
  for (const bool may_stay : {true, false}) {
    const Tensor table = mapped(large);
    WeightRegion region;
    const auto stored = region.stored(declared("t", large.shape()));
    const auto bias = region.stored(declared("b", {5}));
    region.make({{"t", table}, {"b", counting({5}, 1)}}, may_stay);
    EXPECT_EQ(stored->bytes() == table.bytes(), may_stay);
    EXPECT_EQ(region.size_bytes(), may_stay ? 64 : 64 + large.size_bytes());
    EXPECT_EQ(std::memcmp(stored->bytes(), large.bytes(), large.size_bytes()), 0);
    EXPECT_THAT(numbers_of(*bias), ElementsAreArray({1, 2, 3, 4, 5}));
  }
}

TEST(WeightRegion, CopiesATableThatIsNotTheFilesAnyMore) {
  Tensor table = mapped(counting({4 << 20, 1}, 0));
  table.mutable_data<float>()[7] = -1;
  WeightRegion region;
  const auto stored = region.stored(declared("t", table.shape()));
  region.make({{"t", table}}, /*may_stay=*/true);
  EXPECT_NE(stored->bytes(), table.bytes());
  EXPECT_EQ(stored->data<float>()[7], -1);
}

TEST(WeightRegion, MayBeEmpty) {
  WeightRegion region;
  region.make({{"w", counting({3}, 0)}});
  EXPECT_EQ(region.size_bytes(), 0u);
}

TEST(WeightRegion, RefusesWhatDoesNotFit) {
  const auto make = [](const WeightType& wanted, const Tensor& weight) {
    return [=] {
      WeightRegion region;
      region.stored(wanted);
      region.make({{"b", weight}});
    };
  };
  EXPECT_THAT(make(declared("a", {5}), counting({5}, 0)),
              ThrowsMessage<Error>("%x = param: weight 'a', a parameter of the graph, is missing"));
  EXPECT_THAT(make(declared("b", {5}), counting({6}, 0)),
              ThrowsMessage<Error>(HasSubstr("has shape [6], but the graph declares [5]")));
  EXPECT_THAT(make(declared("b", {5}, DType::i32), counting({5}, 0)),
              ThrowsMessage<Error>(HasSubstr("weight 'b' is f32, but the graph declares i32")));
  const Tensor integers = quantized({.to = DType::qint8}, counting({4, 6}, 0));
  EXPECT_THAT(make(declared("b", {6, 4}, DType::qint8), integers),
              ThrowsMessage<Error>(HasSubstr("has shape [4, 6], but the graph declares [6, 4]")));
}

}  // namespace
}  // namespace fuselage::cpu
