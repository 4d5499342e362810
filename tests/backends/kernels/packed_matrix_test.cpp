#include "backends/cpu/simd/gemm/packed_matrix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "tests/backends/kernels/quantized_vectors.h"
#include "tests/backends/kernels/support.h"

namespace fuselage::cpu {
namespace {

class PackedMatrixTest : public KernelTest {};

/// The packed bytes by the definition: each integer is put at its place among zeros.
std::vector<std::byte> packed_by_definition(DType dtype, const QuantizedVectors& w) {
  const PackedMatrix matrix(dtype, w.k(), w.count());
  const std::size_t panel = matrix.panel();
  const std::size_t group = dtype == DType::qlog4   ? PackedMatrix::kLog4Group
                            : dtype == DType::qint8 ? matrix.layout().qint8_group
                                                    : 2;
  const std::size_t group_bytes = dtype == DType::qlog4 ? group / 2 : group * size_of(dtype);
  std::vector<std::byte> bytes(matrix.size_bytes());
  const std::size_t padded = matrix.panel_count() * panel;
  std::byte* const scales = bytes.data() + padded * matrix.groups() * group_bytes;
  for (std::size_t c = 0; c < w.count(); ++c) {
    std::int64_t correction = 0;
    for (std::size_t i = 0; i < w.k(); ++i) {
      const std::int32_t q = w.at(c, i);
      correction -= dtype == DType::qlog4 ? std::min(q, 0) : 128 * q;
      const std::size_t term = i % group;
      std::byte* const to =
          bytes.data() +
          (c / panel * matrix.groups() * panel + i / group * panel + c % panel) * group_bytes;
      if (dtype == DType::qlog4)
        put_nibble(to, static_cast<std::int64_t>(term % 4 * 2 + term / 4), q < 0,
                   std::countr_zero(static_cast<std::uint32_t>(q)));
      else
        std::memcpy(to + term * size_of(dtype), &q, size_of(dtype));
    }
    const float scale = w.scale(c);
    std::memcpy(scales + c * sizeof scale, &scale, sizeof scale);
    const auto wrapped = static_cast<std::int32_t>(correction);
    std::memcpy(scales + (padded + c) * sizeof wrapped, &wrapped, sizeof wrapped);
  }
  return bytes;
}

/// The vectors' bytes with ones in the bits behind their last integers.
std::vector<std::byte> with_other_padding(DType dtype, const QuantizedVectors& w) {
  const std::size_t stride = vector_bytes(dtype, static_cast<std::int64_t>(w.k()));
  std::vector<std::byte> bytes(w.data(), w.data() + w.count() * stride);
  const std::size_t integers = dtype == DType::qlog4 ? w.k() / 2 : w.k() * size_of(dtype);
  for (std::size_t c = 0; c < w.count(); ++c) {
    std::byte* const vector = bytes.data() + c * stride;
    const bool half = dtype == DType::qlog4 && w.k() % 2 == 1;
    if (half) vector[sizeof(float) + integers] |= std::byte{0xf0};
    std::fill(vector + sizeof(float) + integers + (half ? 1 : 0), vector + stride, std::byte{0xff});
  }
  return bytes;
}

TEST_P(PackedMatrixTest, PlacesEachIntegerAmongZeros) {
  for (const DType dtype : kQuantized)
    for (const std::size_t k : {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 66, 131})
      for (const std::size_t n : {1, 7, 15, 16, 17, 63, 64, 65, 150}) {
        SCOPED_TRACE(::testing::Message() << to_string(dtype) << " k " << k << " n " << n);
        const auto w = QuantizedVectors::random(dtype, n, k, largest_of(dtype), 1, 0);
        const std::vector<std::byte> want = packed_by_definition(dtype, w);
        const std::vector<std::byte> vectors = with_other_padding(dtype, w);
        const auto packed = PackedMatrix::pack_quantized(dtype, vectors.data(), k, n);
        ASSERT_EQ(packed.size_bytes(), want.size());
        EXPECT_EQ(std::memcmp(packed.bytes(), want.data(), want.size()), 0);
      }
}

TEST_P(PackedMatrixTest, TakesColumnsByTheirNumbers) {
  const std::int32_t numbers[] = {4, 0, 8, 8, 3, 1};
  for (const DType dtype : kQuantized) {
    constexpr std::size_t kDepth = 37;
    const auto w = QuantizedVectors::random(dtype, 9, kDepth, largest_of(dtype), 1, 0);
    const std::size_t stride = vector_bytes(dtype, kDepth);
    std::vector<std::byte> taken;
    for (const std::int32_t number : numbers) {
      const std::byte* column = w.data() + static_cast<std::size_t>(number) * stride;
      taken.insert(taken.end(), column, column + stride);
    }
    const auto want = PackedMatrix::pack_quantized(dtype, taken.data(), kDepth, 6);
    const auto packed = PackedMatrix::pack_quantized(dtype, {w.data(), stride, numbers}, kDepth, 6);
    EXPECT_EQ(std::memcmp(packed.bytes(), want.bytes(), want.size_bytes()), 0) << to_string(dtype);
  }
}

TEST_P(PackedMatrixTest, IsMadeInTheMemoryThatIsGiven) {
  const auto w = QuantizedVectors::random(DType::qint8, 70, 9, 127, 1, 0);
  const auto alone = PackedMatrix::pack_quantized(DType::qint8, w.data(), 9, 70);
  constexpr std::align_val_t kAlignment{64};
  const PackedMatrix::Bytes memory(
      static_cast<std::byte*>(::operator new(alone.size_bytes(), kAlignment)),
      [](std::byte* p) { ::operator delete(p, kAlignment); });
  std::memset(memory.get(), 0xff, alone.size_bytes());
  const auto packed = PackedMatrix::pack_quantized(DType::qint8, w.data(), 9, 70, memory);
  EXPECT_EQ(packed.bytes(), memory.get());
  EXPECT_EQ(std::memcmp(packed.bytes(), alone.bytes(), alone.size_bytes()), 0);
}

FUSELAGE_TEST_EVERY_LEVEL(PackedMatrixTest);

}  // namespace
}  // namespace fuselage::cpu
