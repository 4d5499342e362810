#include <cstddef>
#include <limits>

#include "backends/cpu/kernels/families.h"
#include "backends/cpu/kernels/table.h"
#include "backends/cpu/kernels/targets.h"
#include "base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/k_best.cpp"
#include "hwy/foreach_target.h"
// Compiled once a target, so after that.
#include "backends/cpu/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {
namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();

// The k best so far, sorted. Columns arrive in order, so an equal value later on ranks below.
class Best {
 public:
  Best(std::size_t k, float* values, std::int32_t* ids) : k_(k), values_(values), ids_(ids) {}

  // What a value must exceed to enter.
  float threshold() const { return count_ < k_ ? kLowest : values_[k_ - 1]; }

  bool full() const { return count_ == k_; }

  void insert(float value, std::size_t id) {
    std::size_t i = count_ < k_ ? count_++ : k_ - 1;
    for (; i > 0 && values_[i - 1] < value; --i) {
      values_[i] = values_[i - 1];
      ids_[i] = ids_[i - 1];
    }
    values_[i] = value;
    ids_[i] = static_cast<std::int32_t>(id);
  }

  void append(float value, std::int32_t id) {
    values_[count_] = value;
    ids_[count_++] = id;
  }

 private:
  std::size_t k_;
  float* values_;
  std::int32_t* ids_;
  std::size_t count_ = 0;
};

void insert_larger(const float* x, std::size_t begin, std::size_t end, Best& best) {
  for (std::size_t i = begin; i < end; ++i)
    if (x[i] > best.threshold()) best.insert(x[i], i);
}

void k_best_row(const float* x, std::size_t cols, Best& best) {
  constexpr std::size_t kStep = 4 * kLanes;
  std::size_t i = 0;
  for (; i + kStep <= cols; i += kStep) {
    const Vector threshold = broadcast(best.threshold());
    const auto low =
        hn::Or(hn::Gt(load(x + i), threshold), hn::Gt(load(x + i + kLanes), threshold));
    const auto high = hn::Or(hn::Gt(load(x + i + 2 * kLanes), threshold),
                             hn::Gt(load(x + i + 3 * kLanes), threshold));
    if (!hn::AllFalse(Tag(), hn::Or(low, high))) insert_larger(x, i, i + kStep, best);
  }
  insert_larger(x, i, cols, best);
  // What is still missing are columns of -infinity or NaN, which never exceed a threshold.
  for (i = 0; i < cols && !best.full(); ++i)
    if (!(x[i] > kLowest)) best.append(kLowest, static_cast<std::int32_t>(i));
  while (!best.full()) best.append(kLowest, -1);
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
namespace fuselage::cpu {
namespace {
HWY_EXPORT(fill_k_best);
}
std::int64_t fill_k_best(KernelTable& table) { return HWY_DYNAMIC_DISPATCH(fill_k_best)(table); }
}  // namespace fuselage::cpu
#endif
