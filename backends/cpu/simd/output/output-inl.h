// Shared by output layers: blocks of logits, and their rankings and sums. Compiled once per target,
// hence the unusual guard.
#if defined(FUSELAGE_CPU_KERNELS_OUTPUT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_OUTPUT_INL_H_
#undef FUSELAGE_CPU_KERNELS_OUTPUT_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_OUTPUT_INL_H_
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "backends/cpu/simd/elementwise/math-inl.h"
#include "backends/cpu/simd/output/best.h"
#include "backends/cpu/simd/output/logits-inl.h"
#include "backends/cpu/simd/output/output_part.h"
#include "fuselage/backends/cpu/simd/rows.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

/// The results to compute from the logits.
enum class Wanted : std::uint8_t {
  best,           // the k best
  best_and_sum,   // and the sum of their exponentials
  lowest_columns  // columns of -infinity or NaN for free places among the best
};

/// A row's logits for a block of columns, padded with -infinity to a multiple of kSumLanes.
struct Logits {
  float* data = nullptr;
  std::size_t column = 0;  // the first
  std::size_t count = 0;   // such a multiple
  const TopLanes* tops = nullptr;
  float top = kLowest;
};

static_assert(std::tuple_size_v<decltype(ExpSum::lanes)> == kSumLanes);

/// The reference of exponentials: the largest logit, or 0 while that is -infinity.
inline float center_of(float top) { return top == kLowest ? 0.0f : top; }

/// Adds a block's sum, which is relative to the block's largest logit, lane by lane. The sum of a
/// single block is the block's sum unchanged.
HWY_INLINE void add_to(ExpSum& sum, const LaneSum& block, float block_top) {
  const float top = block_top > sum.top ? block_top : sum.top;
  const float center = center_of(top);
  const Vector factor = exp_of_nonpositive(broadcast(sum.top - center));
  const Vector block_factor = exp_of_nonpositive(broadcast(block_top - center));
  for (std::size_t v = 0; v < LaneSum::kVectors; ++v) {
    float* lanes = &sum.lanes[v * kLanes];
    store(mul_add(load(lanes), factor, hn::Mul(block.parts[v], block_factor)), lanes);
  }
  sum.top = top;
}

inline LaneSum lanes_of(const ExpSum& sum) {
  LaneSum lanes;
  for (std::size_t v = 0; v < LaneSum::kVectors; ++v) lanes.parts[v] = load(&sum.lanes[v * kLanes]);
  return lanes;
}

inline float value_of(const ExpSum& sum) { return lanes_of(sum).total(); }

/// Adds the exponentials of kCount vectors of logits, relative to `center`.
template <std::size_t kCount>
HWY_INLINE void add_exps(const float* logits, Vector center, LaneSum& sum) {
  static_assert(kCount % LaneSum::kVectors == 0);
  Vector exps[kCount];
  HWY_UNROLL(8)
  for (std::size_t v = 0; v < kCount; ++v) exps[v] = hn::Sub(load(logits + v * kLanes), center);
  exp_of_nonpositive(exps);
  HWY_UNROLL(8)
  for (std::size_t v = 0; v < kCount; ++v) {
    Vector& part = sum.parts[v % LaneSum::kVectors];
    part = hn::Add(part, exps[v]);
  }
}

/// Adds the exponentials of a block's logits.
HWY_NOINLINE inline void add_exps(const Logits& logits, ExpSum& sum) {
  // Vectors at a time, three registers each: all lanes of the sum.
  constexpr std::size_t kTogether = std::max<std::size_t>(4, LaneSum::kVectors);
  const Vector center = broadcast(center_of(logits.top));
  LaneSum block;
  std::size_t i = 0;
  for (; i + kTogether * kLanes <= logits.count; i += kTogether * kLanes)
    add_exps<kTogether>(logits.data + i, center, block);
  for (; i < logits.count; i += kSumLanes)
    add_exps<LaneSum::kVectors>(logits.data + i, center, block);
  add_to(sum, block, logits.top);
}

/// The k best of the columns of a row seen so far.
struct Ranking {
  Best best;

  /// Inserts candidates from the logits of a block, of `columns` columns in all.
  HWY_INLINE void take(const Logits& logits, Wanted wanted, std::size_t columns) {
    if (wanted == Wanted::lowest_columns)
      append_lowest(logits, columns);
    else if (logits.top > best.threshold())
      take_larger(logits);
  }

 private:
  HWY_NOINLINE void take_larger(const Logits& logits) {
    // With fewer than k candidates, the k-th largest lane maximum is a lower bound of the k best.
    float threshold = best.threshold();
    if (threshold == kLowest)
      threshold = std::nextafter(logits.tops->nth_largest(best.k()), kLowest);
    for (std::size_t i = 0; i < logits.count; i += kLanes) {
      const auto larger = hn::Gt(load(logits.data + i), broadcast(threshold));
      if (hn::AllFalse(Tag(), larger)) continue;
      std::uint64_t bits = 0;
      hn::StoreMaskBits(Tag(), larger, reinterpret_cast<std::uint8_t*>(&bits));
      for (; bits != 0; bits &= bits - 1) {
        const std::size_t at = i + static_cast<std::size_t>(std::countr_zero(bits));
        if (logits.data[at] > best.threshold()) best.insert(logits.data[at], logits.column + at);
      }
      threshold = std::max(threshold, best.threshold());
    }
  }

  void append_lowest(const Logits& logits, std::size_t columns) {
    const std::size_t end = std::min(logits.column + logits.count, columns);
    best.append_lowest(logits.data, end - logits.column, logits.column);
  }
};

/// Calls f(first row, number of rows) for even shares of `rows` rows of at most `most` rows: 7 rows
/// with a maximum of 6 are shares of 3 and 4.
template <class F>
void for_each_share(std::size_t rows, std::size_t most, const F& f) {
  const std::size_t shares = (rows + most - 1) / most;
  for (std::size_t i = 0; i < shares; ++i) {
    const std::size_t begin = rows * i / shares;
    f(begin, rows * (i + 1) / shares - begin);
  }
}

/// Logits of up to kMaxRows rows, one block of columns at a time.
class LogitBlock {
 public:
  /// Multiplies prepared rows by the block of columns from `column` on, a multiple of kBlock, and
  /// adds the bias unless it is null.
  void multiply(const RowsIn& a, std::size_t rows, const PackedMatrix& b, const float* bias,
                std::size_t column, const WeightedSums* ensemble = nullptr) {
    const std::size_t columns = std::min(kBlock, b.n() - column);
    const std::size_t whole = (columns + kPanel - 1) / kPanel * kPanel;
    column_ = column;
    count_ = (whole + kSumLanes - 1) / kSumLanes * kSumLanes;
    std::fill_n(tops_.begin(), rows, TopLanes());
    if (bias) bias += column;
    const LogitEpilogue epilogue{columns < whole ? padded(bias, columns) : bias, tops_.data(),
                                 ensemble};
    with_arithmetic(b, [&](auto type) {
      multiply_rows<typename decltype(type)::type>(a, rows, b, column / kPanel, whole,
                                                   {products_, kBlock}, epilogue);
    });
    for (std::size_t r = 0; r < rows; ++r)
      std::fill(row_at(r) + whole, row_at(r) + count_, kLowest);
  }

  HWY_INLINE Logits logits(std::size_t row) {
    return {row_at(row), column_, count_, &tops_[row], tops_[row].largest()};
  }

 private:
  float* row_at(std::size_t row) { return products_ + row * kBlock; }

  // The bias, padded so that logits beyond the last column are -infinity.
  const float* padded(const float* bias, std::size_t columns) {
    std::fill_n(padded_bias_, kBlock, kLowest);
    if (bias)
      std::copy_n(bias, columns, padded_bias_);
    else
      std::fill_n(padded_bias_, columns, 0.0f);
    return padded_bias_;
  }

  HWY_ALIGN float products_[kMaxRows * kBlock];
  HWY_ALIGN float padded_bias_[kBlock];
  std::array<TopLanes, kMaxRows> tops_;
  std::size_t column_ = 0, count_ = 0;
};

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_OUTPUT_INL_H_
