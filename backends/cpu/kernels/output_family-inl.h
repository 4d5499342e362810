// The output layer of a model in one kernel: product, bias, normalizer and k best. Compiled once a
// target, hence the unusual guard.
#if defined(FUSELAGE_CPU_KERNELS_OUTPUT_FAMILY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_OUTPUT_FAMILY_INL_H_
#undef FUSELAGE_CPU_KERNELS_OUTPUT_FAMILY_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_OUTPUT_FAMILY_INL_H_
#endif

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/cpu/kernels/output-inl.h"
#include "backends/cpu/kernels/table.h"
#include "base/error.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

// What is known of a row after some of its columns.
struct alignas(64) Row {
  ExpSum sum;
  Ranking ranking;
};

// Logits are ranked as they are, so that the best of them is the top of their sum too.
class TakeLogits {
 public:
  TakeLogits() = default;
  TakeLogits(Wanted wanted, Row* row, std::size_t columns)
      : wanted_(wanted), row_(row), columns_(columns) {}

  void begin_block(std::size_t rows) {
    if (wanted_ == Wanted::best_and_sum)
      for (std::size_t r = 0; r < rows; ++r) row_[r].sum.end_block();
  }

  HWY_INLINE void operator()(Vector logits, float* scratch, std::size_t column) {
    if (wanted_ == Wanted::lowest_columns) {
      store(logits, scratch);
      row_->ranking.append_lowest(scratch, column, columns_);
      return;
    }
    if (HWY_UNLIKELY(row_->ranking.any_larger(logits))) {
      store(logits, scratch);
      take_larger(scratch, column, wanted_, *row_);
    } else if (wanted_ == Wanted::best_and_sum) {
      row_->sum.add(logits, column);
    }
  }

  HWY_INLINE void next_row() { ++row_; }

  HWY_INLINE void prefetch_next_row() const {
    hwy::Prefetch(row_[1].sum.block.data());
    hwy::Prefetch(&row_[1].ranking.threshold);
  }

 private:
  HWY_NOINLINE static void take_larger(const float* logits, std::size_t column, Wanted wanted,
                                       Row& row) {
    row.ranking.take_larger(logits, column);
    if (wanted == Wanted::best_and_sum) row.sum.add_larger(logits, column);
  }

  Wanted wanted_ = Wanted::best;
  Row* row_ = nullptr;
  std::size_t columns_ = 0;
};

// Goes over the logits of up to kMaxRows rows, which are prepared for the matrix.
inline void take_rows(const RowsIn& a, const Layer& layer, Wanted wanted, std::span<Row> rows) {
  TilePipeline<TakeLogits> pipeline;
  for_each_panels(rows.size(), 0, layer.b->panel_count(), [&](std::size_t p, std::size_t panels) {
    for_each_share(rows.size(), kTileRows, [&](std::size_t begin, std::size_t count) {
      pipeline.multiply_rows(a, begin, count, layer, p, panels,
                             TakeLogits(wanted, &rows[begin], layer.b->n()));
    });
  });
  pipeline.finish();
}

// From logits to logarithms of probabilities, as log_softmax has them: first the largest logit and
// then the logarithm is subtracted, since their sum would round it away beside a large logit.
// A row that has no probabilities, all NaN or -infinity to k_best, gets the first of its `columns`.
inline void finish_scores(const Row& row, std::size_t columns, std::size_t k, float* values,
                          std::int32_t* ids) {
  const float sum = row.sum.value();
  const bool none = row.sum.top == kLowest || std::isnan(sum);
  const float log_sum = log_of(sum);
  for (std::size_t i = 0; i < k; ++i) {
    values[i] = none ? kLowest : (values[i] - row.sum.top) - log_sum;
    if (none) ids[i] = i < columns ? static_cast<std::int32_t>(i) : -1;
  }
}

inline void output_rows(const RowsIn& a, const Layer& layer, bool log_softmax, std::size_t k,
                        std::span<Row> rows, float* values, std::int32_t* ids) {
  for (std::size_t r = 0; r < rows.size(); ++r)
    rows[r] = {.sum = {}, .ranking = {.best = Best(k, values + r * k, ids + r * k)}};
  take_rows(a, layer, log_softmax ? Wanted::best_and_sum : Wanted::best, rows);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    // Columns of -infinity or NaN never exceed a threshold. They are rarely wanted, so that
    // multiplying once more costs less than to keep them.
    if (rows[r].ranking.threshold == kLowest)
      take_rows(rows_from(a, r), layer, Wanted::lowest_columns, rows.subspan(r, 1));
    if (log_softmax) finish_scores(rows[r], layer.b->n(), k, values + r * k, ids + r * k);
  }
}

inline void linear_k_best(const RowsIn& a, std::size_t rows, const PackedMatrix& b,
                          const float* bias, bool log_softmax, std::size_t k, float* values,
                          std::int32_t* ids) {
  check(a.columns == b.row_elements(),
        "linear_k_best: a.columns is not what a row of the matrix takes");
  if (k == 0) return;
  const Layer layer(b, bias);
  std::array<Row, kMaxRows> state;
  for_each_share(rows, kMaxRows, [&](std::size_t begin, std::size_t count) {
    output_rows(prepared_for(b, rows_from(a, begin), count), layer, log_softmax, k,
                {state.data(), count}, values + begin * k, ids + begin * k);
  });
}

inline void set_output(KernelTable& table) { table.linear_k_best = linear_k_best; }

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_OUTPUT_FAMILY_INL_H_
