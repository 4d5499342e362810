// The pairs of left rows, and the right rows that several of them share. Compiled once per target,
// hence the unusual guard.
#if defined(FUSELAGE_CPU_KERNELS_PAIRED_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_PAIRED_ROWS_INL_H_
#undef FUSELAGE_CPU_KERNELS_PAIRED_ROWS_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_PAIRED_ROWS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "backends/cpu/simd/vector-inl.h"
#include "fuselage/backends/cpu/simd/rows.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

struct Pairs {
  std::size_t begin;
  std::size_t end;
};

HWY_INLINE Pairs pairs_of(const Segments& segments, std::size_t i) {
  return {static_cast<std::size_t>(segments.begin[i]),
          static_cast<std::size_t>(segments.begin[i + 1])};
}

// --- Siblings ---

/// Maximum number of left rows processed together: their mixtures fill the registers.
inline constexpr std::size_t kSiblings = HWY_CAP_GE512 ? 6 : 2;

/// Calls f with the number of siblings as a compile-time constant.
template <class F>
HWY_INLINE void with_siblings(std::size_t count, const F& f) {
  const auto call = [&]<std::size_t... kI>(std::index_sequence<kI...>) HWY_ATTR {
    ((count == kI + 1 ? f(std::integral_constant<std::size_t, kI + 1>()) : void()), ...);
  };
  call(std::make_index_sequence<kSiblings>());
}

/// The number of left rows from row i on, at most `most`, that are paired with the same right rows,
/// as the hypotheses of a sentence are. They share the loads of right rows.
inline std::size_t siblings(const RowsIn& right, const Segments& segments, std::size_t i,
                            std::size_t most) {
  std::size_t count = 1;
  if (!right.rows) return count;
  const Pairs first = pairs_of(segments, i);
  for (; count < most && i + count < segments.count; ++count) {
    const Pairs next = pairs_of(segments, i + count);
    if (!std::equal(right.rows + first.begin, right.rows + first.end, right.rows + next.begin,
                    right.rows + next.end))
      break;
  }
  return count;
}

// --- Prefetching ---

/// Rows ahead at which scattered right rows are prefetched.
inline constexpr std::size_t kRowsAhead = 8;

HWY_INLINE void prefetch(const float* row, std::size_t n) {
  constexpr std::size_t kCacheLine = 64 / sizeof(float);
  for (std::size_t i = 0; i < n; i += kCacheLine) hwy::Prefetch(row + i);
}

/// Prefetches the row that is kRowsAhead after row r, if it is before row `end`. If rows are read
/// `whole`, those that follow row r in memory are left to the hardware, which is faster.
HWY_INLINE void prefetch_ahead(const RowsIn& x, std::size_t r, std::size_t end, bool whole) {
  if (r + kRowsAhead >= end) return;
  const float* ahead = row_of(x, r + kRowsAhead, x.columns);
  if (!whole || ahead != row_of(x, r, x.columns) + kRowsAhead * x.columns)
    prefetch(ahead, x.columns);
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_PAIRED_ROWS_INL_H_
