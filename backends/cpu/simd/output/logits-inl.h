// The logits of some rows and a block of columns, and their epilogue in registers. Compiled once
// per target, hence the unusual guard.
#if defined(FUSELAGE_CPU_KERNELS_LOGITS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_LOGITS_INL_H_
#undef FUSELAGE_CPU_KERNELS_LOGITS_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_LOGITS_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>

#include "backends/cpu/simd/gemm/gemm_family-inl.h"
#include "backends/cpu/simd/output/best.h"
#include "backends/cpu/simd/output/output_part.h"
#include "fuselage/backends/cpu/simd/rows.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

inline constexpr float kLowest = Best::kLowest;

// Columns per block of logits. The sum of a block's exponentials does not depend on other blocks,
// and sums over a vocabulary keep their precision.
inline constexpr std::size_t kBlock = kOutputBlock;

// Rows per block of logits. A panel stays in the L1 cache for all of them, and their blocks fit the
// L2 cache.
inline constexpr std::size_t kMaxRows = 64;

/// The largest logit of a row in each lane of LaneSum, ignoring NaN.
class TopLanes {
 public:
  TopLanes() { std::fill_n(tops_, kSumLanes, kLowest); }

  /// Updates the maxima with kCount vectors from `column` on.
  template <std::size_t kCount>
  HWY_INLINE void take(const Vector (&logits)[kCount], std::size_t column) {
    constexpr std::size_t kVectors = std::min(kCount, LaneSum::kVectors);
    const std::size_t first = column % kSumLanes;
    Vector tops[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) tops[v] = load(at(first, v));
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < kCount; ++v)
      tops[v % kVectors] = max_of(logits[v], tops[v % kVectors]);
    for (std::size_t v = 0; v < kVectors; ++v) store(tops[v], at(first, v));
  }

  float largest() const {
    Vector top = load(tops_);
    for (std::size_t i = kLanes; i < kSumLanes; i += kLanes) top = max_of(load(tops_ + i), top);
    return max_lanes(top);
  }

  /// The k-th largest of the lanes, or -infinity if there are fewer.
  float nth_largest(std::size_t k) const {
    if (k > kSumLanes) return kLowest;
    std::array<float, kSumLanes> sorted;
    std::copy_n(tops_, kSumLanes, sorted.begin());
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(k) - 1,
                     sorted.end(), std::greater<>());
    return sorted[k - 1];
  }

 private:
  HWY_INLINE float* at(std::size_t first, std::size_t v) {
    return tops_ + (first + v * kLanes) % kSumLanes;
  }

  HWY_ALIGN float tops_[kSumLanes];
};

/// The sums of the weighted logits of an ensemble's members, for kMaxRows rows and kBlock columns.
/// WeightedSums uses no fused multiply-add, so that its sums equal the sums of separate kernels bit
/// for bit.
struct WeightedSums {
  float* sums;
  TopLanes* tops;    // of the sums of each row
  float weight;      // of the member whose logits are added
  bool first, last;  // whether it is the first or the last member

  /// Adds kCount vectors of row `row` from `column` on.
  template <std::size_t kCount>
  HWY_INLINE void add(const Vector (&logits)[kCount], std::size_t row, std::size_t column) const {
    float* to = sums + row * kBlock + column;
    Vector added[kCount];
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < kCount; ++v) added[v] = hn::Mul(logits[v], broadcast(weight));
    if (!first) {
      HWY_UNROLL(8)
      for (std::size_t v = 0; v < kCount; ++v) added[v] = hn::Add(load(to + v * kLanes), added[v]);
    }
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < kCount; ++v) store(added[v], to + v * kLanes);
    if (last) tops[row].take(added, column);
  }
};

/// Epilogue that converts products to logits.
struct LogitEpilogue {
  const float* bias;                       // or null
  TopLanes* tops;                          // of each row
  const WeightedSums* ensemble = nullptr;  // sums that take the logits too; or null

  template <std::size_t kCount>
  HWY_INLINE void operator()(Vector (&products)[kCount], std::size_t row,
                             std::size_t column) const {
    if (bias) {
      HWY_UNROLL(8)
      for (std::size_t v = 0; v < kCount; ++v)
        products[v] = hn::Add(products[v], load(bias + column + v * kLanes));
    }
    tops[row].take(products, column);
    if (ensemble) ensemble->add(products, row, column);
  }
};

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_LOGITS_INL_H_
