#include <algorithm>
#include <cstddef>

#include "backends/cpu/kernels/families.h"
#include "backends/cpu/kernels/table.h"
#include "backends/cpu/kernels/targets.h"
#include "base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/gemm.cpp"
#include "hwy/foreach_target.h"
// Compiled once a target, so after that.
#include "backends/cpu/kernels/vector-inl.h"
#include "hwy/cache_control.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {
namespace {

// 6 rows of one panel fill the accumulators: 24 of 32 registers, or 12 of 16.
constexpr std::size_t kMaxRows = 6;
constexpr std::size_t kVectors = HWY_CAP_GE512 ? 4 : 2;
constexpr std::size_t kPanel = kVectors * kLanes;

// In floats.
constexpr std::size_t kCacheLine = 16;
constexpr std::size_t kAhead = 256 * kCacheLine;

// Few rows leave too few chains to hide the latency of a multiply-add, so they take several panels
// at a time. No sum depends on it: each output has its own chain.
constexpr std::size_t panels_together(std::size_t rows) {
  if (rows == 1) return 8 / kVectors;
  return rows <= 3 ? 2 : 1;
}

struct Block {
  const float* a[kMaxRows];
  float* c[kMaxRows];
};

template <std::size_t kCount>
HWY_INLINE void store_panels(const Vector* sums, float* c, std::size_t width) {
  for (std::size_t v = 0; v < kCount; ++v) {
    const std::size_t column = v * kLanes;
    if (column + kLanes <= width)
      store(sums[v], c + column);
    else if (column < width)
      store_n(sums[v], c + column, width - column);
  }
}

// kRows rows of `width` <= kPanels * kPanel columns from `column` on; b is the first panel.
template <std::size_t kRows, std::size_t kPanels>
void multiply(const Block& block, const float* b, std::size_t k, std::size_t column,
              std::size_t width) {
  constexpr std::size_t kCount = kPanels * kVectors;
  Vector sums[kRows][kCount];
  HWY_UNROLL(6)
  for (std::size_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < kCount; ++v) sums[r][v] = hn::Zero(Tag());
  }
  const float* a[kRows];
  HWY_UNROLL(6)
  for (std::size_t r = 0; r < kRows; ++r) a[r] = block.a[r];
  for (std::size_t i = 0; i < k; ++i, b += kPanel) {
    Vector right[kCount];
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < kCount; ++v)
      right[v] = hn::Load(Tag(), b + (v / kVectors) * k * kPanel + (v % kVectors) * kLanes);
    // One stream at the hardware's own distance does not reach the memory's bandwidth.
    if constexpr (kPanels == 1) {
      HWY_UNROLL(4)
      for (std::size_t line = 0; line < kPanel; line += kCacheLine)
        hwy::Prefetch(b + kAhead + line);
    }
    HWY_UNROLL(6)
    for (std::size_t r = 0; r < kRows; ++r) {
      const Vector left = broadcast(a[r][i]);
      HWY_UNROLL(8)
      for (std::size_t v = 0; v < kCount; ++v) sums[r][v] = hn::MulAdd(left, right[v], sums[r][v]);
    }
  }
  HWY_UNROLL(6)
  for (std::size_t r = 0; r < kRows; ++r) store_panels<kCount>(sums[r], block.c[r] + column, width);
}

template <std::size_t kRows>
void multiply_panels(const Block& block, const PackedMatrix& b, std::size_t first,
                     std::size_t last) {
  constexpr std::size_t kTogether = panels_together(kRows);
  std::size_t p = first;
  for (; p + kTogether <= last; p += kTogether) {
    const std::size_t column = p * kPanel;
    multiply<kRows, kTogether>(block, b.panel_data(p), b.k(), column,
                               std::min(kTogether * kPanel, b.n() - column));
  }
  if constexpr (kTogether > 1)
    for (; p < last; ++p) {
      const std::size_t column = p * kPanel;
      multiply<kRows, 1>(block, b.panel_data(p), b.k(), column, std::min(kPanel, b.n() - column));
    }
}

void multiply_block(const Block& block, std::size_t rows, const PackedMatrix& b, std::size_t first,
                    std::size_t last) {
  switch (rows) {
    case 1:
      return multiply_panels<1>(block, b, first, last);
    case 2:
      return multiply_panels<2>(block, b, first, last);
    case 3:
      return multiply_panels<3>(block, b, first, last);
    case 4:
      return multiply_panels<4>(block, b, first, last);
    case 5:
      return multiply_panels<5>(block, b, first, last);
    default:
      return multiply_panels<6>(block, b, first, last);
  }
}

void gemm_panels(const RowsIn& a, std::size_t rows, const PackedMatrix& b, std::size_t first,
                 std::size_t last, const RowsOut& c) {
  check(b.panel() == kPanel, "gemm: the matrix was packed for another instruction set");
  check(a.columns == b.k(), "gemm: a.columns is not b.k()");
  if (rows == 0) return;
  const std::size_t blocks = (rows + kMaxRows - 1) / kMaxRows;
  // All rows go over a panel while it is in cache; a lone block has nothing to gain from that.
  const std::size_t step = blocks == 1 ? last - first : 1;
  for (std::size_t p = first; p < last; p += step)
    for (std::size_t i = 0; i < blocks; ++i) {
      // Even shares: 7 rows are 4 and 3.
      const std::size_t begin = rows * i / blocks;
      const std::size_t count = rows * (i + 1) / blocks - begin;
      Block block;
      for (std::size_t r = 0; r < count; ++r) {
        block.a[r] = row_of(a, begin + r, b.k());
        block.c[r] = c.data + (begin + r) * c.stride;
      }
      multiply_block(block, count, b, p, p + step);
    }
}

void gemm(const RowsIn& a, std::size_t rows, const PackedMatrix& b, const RowsOut& c) {
  gemm_panels(a, rows, b, 0, b.panel_count(), c);
}

}  // namespace

std::int64_t fill_gemm(KernelTable& table) {
  table.gemm_panel = kPanel;
  table.gemm = gemm;
  table.gemm_panels = gemm_panels;
  return HWY_TARGET;
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fuselage::cpu {
namespace {
HWY_EXPORT(fill_gemm);
}
std::int64_t fill_gemm(KernelTable& table) { return HWY_DYNAMIC_DISPATCH(fill_gemm)(table); }
}  // namespace fuselage::cpu
#endif
