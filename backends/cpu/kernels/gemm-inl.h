// The matrix product, a tile at a time. Compiled once a target, hence the unusual guard.
#if defined(FUSELAGE_CPU_KERNELS_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_GEMM_INL_H_
#undef FUSELAGE_CPU_KERNELS_GEMM_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_GEMM_INL_H_
#endif

#include <cstddef>
#include <type_traits>

#include "backends/cpu/kernels/vector-inl.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

// 6 rows of one panel fill the accumulators: 24 of 32 registers, or 12 of 16.
inline constexpr std::size_t kTileRows = 6;
inline constexpr std::size_t kPanelVectors = HWY_CAP_GE512 ? 4 : 2;
inline constexpr std::size_t kPanel = kPanelVectors * kLanes;

// In floats.
inline constexpr std::size_t kCacheLine = 16;
inline constexpr std::size_t kAhead = 256 * kCacheLine;

// Few rows leave too few chains to hide the latency of a multiply-add, so they take several panels
// at a time. No sum depends on it: each output has its own chain.
constexpr std::size_t panels_together(std::size_t rows) {
  if (rows == 1) return 8 / kPanelVectors;
  return rows <= 3 ? 2 : 1;
}

/// Rows of the left operand and where their products go.
struct Block {
  const float* a[kTileRows];
  float* c[kTileRows];
};

/// What multiply does besides: nothing.
struct NoWork {
  static constexpr std::size_t parts() { return 0; }
  void operator()() const {}
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

// One stream at the hardware's own distance does not reach the memory's bandwidth.
HWY_INLINE void prefetch_ahead(const float* b) {
  HWY_UNROLL(4)
  for (std::size_t line = 0; line < kPanel; line += kCacheLine) hwy::Prefetch(b + kAhead + line);
}

/// kRows rows of `width` <= kPanels * kPanel columns from `column` on; b is the first panel. Calls
/// work() work.parts() times on the way, spread evenly: where the product waits for memory, such
/// work costs nothing.
template <std::size_t kRows, std::size_t kPanels, class Work>
void multiply(const Block& block, const float* b, std::size_t k, std::size_t column,
              std::size_t width, Work& work) {
  constexpr std::size_t kCount = kPanels * kPanelVectors;
  Vector sums[kRows][kCount];
  HWY_UNROLL(6)
  for (std::size_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < kCount; ++v) sums[r][v] = hn::Zero(Tag());
  }
  const float* a[kRows];
  HWY_UNROLL(6)
  for (std::size_t r = 0; r < kRows; ++r) a[r] = block.a[r];
  const std::size_t parts = work.parts();
  const std::size_t terms = parts > 0 ? k / parts : 0;
  std::size_t i = 0;
  for (std::size_t part = 0; part <= parts; ++part) {
    const std::size_t end = part == parts ? k : i + terms;
    for (; i < end; ++i, b += kPanel) {
      Vector right[kCount];
      HWY_UNROLL(8)
      for (std::size_t v = 0; v < kCount; ++v)
        right[v] =
            hn::Load(Tag(), b + (v / kPanelVectors) * k * kPanel + (v % kPanelVectors) * kLanes);
      if constexpr (kPanels == 1) prefetch_ahead(b);
      HWY_UNROLL(6)
      for (std::size_t r = 0; r < kRows; ++r) {
        const Vector left = broadcast(a[r][i]);
        HWY_UNROLL(8)
        for (std::size_t v = 0; v < kCount; ++v)
          sums[r][v] = hn::MulAdd(left, right[v], sums[r][v]);
      }
    }
    if (part == parts) break;
    // The stream goes on meanwhile: a gap in it costs as much as the work itself.
    if constexpr (kPanels == 1) prefetch_ahead(b);
    work();
  }
  HWY_UNROLL(6)
  for (std::size_t r = 0; r < kRows; ++r) store_panels<kCount>(sums[r], block.c[r] + column, width);
}

/// Calls f with a number of rows of a tile as a constant.
template <class F>
HWY_INLINE void with_tile_rows(std::size_t rows, const F& f) {
  switch (rows) {
    case 1:
      return f(std::integral_constant<std::size_t, 1>());
    case 2:
      return f(std::integral_constant<std::size_t, 2>());
    case 3:
      return f(std::integral_constant<std::size_t, 3>());
    case 4:
      return f(std::integral_constant<std::size_t, 4>());
    case 5:
      return f(std::integral_constant<std::size_t, 5>());
    default:
      return f(std::integral_constant<std::size_t, kTileRows>());
  }
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_GEMM_INL_H_
