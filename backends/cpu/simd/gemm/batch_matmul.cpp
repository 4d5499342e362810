#include <cstddef>

#include "backends/cpu/simd/table.h"
#include "backends/cpu/simd/targets.h"
#include "fuselage/base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/simd/gemm/batch_matmul.cpp"
#include "hwy/foreach_target.h"
// Compiled once per target: included after foreach_target.h.
#include "backends/cpu/simd/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {
namespace {

// Rows of a that share the loads of b.
constexpr std::size_t kRowsTogether = 4;

// A vector of columns of kRows rows of c = a b; b and c point at its first column.
template <std::size_t kRows, class Lanes>
HWY_INLINE void multiply_block(const float* a, const float* b, std::size_t k, std::size_t n,
                               Lanes lanes, float* c) {
  Vector sums[kRows];
  HWY_UNROLL(4)
  for (Vector& sum : sums) sum = hn::Zero(Tag());
  for (std::size_t l = 0; l < k; ++l) {
    const Vector from = read(b + l * n, lanes);
    HWY_UNROLL(4)
    for (std::size_t i = 0; i < kRows; ++i)
      sums[i] = mul_add(broadcast(a[i * k + l]), from, sums[i]);
  }
  HWY_UNROLL(4)
  for (std::size_t i = 0; i < kRows; ++i) write(sums[i], c + i * n, lanes);
}

void multiply(const float* a, const float* b, const BatchMatmulShape& shape, float* c) {
  const auto m = static_cast<std::size_t>(shape.m), k = static_cast<std::size_t>(shape.k);
  const auto n = static_cast<std::size_t>(shape.n);
  std::size_t i = 0;
  for (; i + kRowsTogether <= m; i += kRowsTogether)
    for_each_vector(n, [&](std::size_t j, auto lanes) HWY_ATTR {
      multiply_block<kRowsTogether>(a + i * k, b + j, k, n, lanes, c + i * n + j);
    });
  for (; i < m; ++i)
    for_each_vector(n, [&](std::size_t j, auto lanes) HWY_ATTR {
      multiply_block<1>(a + i * k, b + j, k, n, lanes, c + i * n + j);
    });
}

HWY_INLINE float dot(const float* a, const float* b, std::size_t n) {
  LaneSum sum;
  sum.add(n, [&](std::size_t i, auto lanes, Vector part)
                 HWY_ATTR { return mul_add(read(a + i, lanes), read(b + i, lanes), part); });
  return sum.total();
}

void multiply_transposed(const float* a, const float* b, const BatchMatmulShape& shape, float* c) {
  const auto m = static_cast<std::size_t>(shape.m), k = static_cast<std::size_t>(shape.k);
  const auto n = static_cast<std::size_t>(shape.n);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) c[i * n + j] = dot(a + i * k, b + j * k, k);
}

void batch_matmul(const RowsIn& a, const RowsIn& b, const BatchMatmulShape& shape, std::size_t rows,
                  const RowsOut& out) {
  const auto count = static_cast<std::size_t>(shape.count);
  const auto a_size = static_cast<std::size_t>(shape.m * shape.k);
  const auto b_size = static_cast<std::size_t>(shape.k * shape.n);
  const auto c_size = static_cast<std::size_t>(shape.m * shape.n);
  check(a.columns == count * a_size && b.columns == count * b_size,
        "batch_matmul: column counts differ");
  // One column is its own transpose.
  const auto product = shape.transposed || shape.n == 1 ? multiply_transposed : multiply;
  for (std::size_t r = 0; r < rows; ++r) {
    const float* left = row_of(a, r, a.columns);
    const float* right = row_of(b, r, b.columns);
    float* to = out.data + r * out.stride;
    for (std::size_t i = 0; i < count; ++i)
      product(left + i * a_size, right + i * b_size, shape, to + i * c_size);
  }
}

}  // namespace

std::int64_t fill_batch_matmul(KernelTable& table) {
  table.batch_matmul = batch_matmul;
  return HWY_TARGET;
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
FUSELAGE_DISPATCH_FAMILY(fill_batch_matmul)
#endif
