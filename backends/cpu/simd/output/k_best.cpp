#include <cstddef>

#include "backends/cpu/simd/output/best.h"
#include "backends/cpu/simd/table.h"
#include "backends/cpu/simd/targets.h"
#include "fuselage/base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/simd/output/k_best.cpp"
#include "hwy/foreach_target.h"
// Compiled once per target: included after foreach_target.h.
#include "backends/cpu/simd/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {
namespace {

void k_best_row(const float* x, std::size_t cols, Best& best) {
  constexpr std::size_t kStep = 4 * kLanes;
  std::size_t i = 0;
  for (; i + kStep <= cols; i += kStep) {
    const Vector threshold = broadcast(best.threshold());
    const auto low =
        hn::Or(hn::Gt(load(x + i), threshold), hn::Gt(load(x + i + kLanes), threshold));
    const auto high = hn::Or(hn::Gt(load(x + i + 2 * kLanes), threshold),
                             hn::Gt(load(x + i + 3 * kLanes), threshold));
    if (!hn::AllFalse(Tag(), hn::Or(low, high))) best.insert_larger(x + i, kStep, i);
  }
  best.insert_larger(x + i, cols - i, i);
  // Fill free places with columns of -infinity or NaN, which never exceed a threshold.
  best.append_lowest(x, cols, 0);
}

void k_best(const RowsIn& in, std::size_t rows, std::size_t cols, std::size_t k, float* values,
            std::int32_t* ids) {
  if (k == 0) return;
  check(in.columns == cols, "k_best: column counts differ");
  for (std::size_t r = 0; r < rows; ++r) {
    Best best(k, values + r * k, ids + r * k);
    k_best_row(row_of(in, r, cols), cols, best);
  }
}

}  // namespace

std::int64_t fill_k_best(KernelTable& table) {
  table.k_best = k_best;
  return HWY_TARGET;
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
FUSELAGE_DISPATCH_FAMILY(fill_k_best)
#endif
