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

// Goes over the logits of up to kMaxRows rows, which are prepared for the matrix.
inline void take_rows(const RowsIn& a, const PackedMatrix& b, const float* bias, Wanted wanted,
                      std::span<Row> rows) {
  BlockPipeline pipeline;
  for (std::size_t column = 0; column < b.n(); column += kBlock) {
    pipeline.multiply(a, rows.size(), b, bias, column);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const Logits logits = pipeline.logits(r);
      rows[r].ranking.take(logits, wanted, b.n());
      if (wanted == Wanted::best_and_sum) pipeline.sum_up(logits, rows[r].sum);
    }
  }
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

inline void output_rows(const RowsIn& a, const PackedMatrix& b, const float* bias, bool log_softmax,
                        std::size_t k, std::span<Row> rows, float* values, std::int32_t* ids) {
  for (std::size_t r = 0; r < rows.size(); ++r)
    rows[r] = {.sum = {}, .ranking = {Best(k, values + r * k, ids + r * k)}};
  take_rows(a, b, bias, log_softmax ? Wanted::best_and_sum : Wanted::best, rows);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    // Columns of -infinity or NaN never exceed a threshold. They are rarely wanted, so that
    // multiplying once more costs less than to keep them.
    if (rows[r].ranking.best.threshold() == kLowest)
      take_rows(rows_from(a, r), b, bias, Wanted::lowest_columns, rows.subspan(r, 1));
    if (log_softmax) finish_scores(rows[r], b.n(), k, values + r * k, ids + r * k);
  }
}

inline void linear_k_best(const RowsIn& a, std::size_t rows, const PackedMatrix& b,
                          const float* bias, bool log_softmax, std::size_t k, float* values,
                          std::int32_t* ids) {
  check(a.columns == b.row_elements(),
        "linear_k_best: a.columns is not what a row of the matrix takes");
  if (k == 0) return;
  std::array<Row, kMaxRows> state;
  for_each_share(rows, kMaxRows, [&](std::size_t begin, std::size_t count) {
    output_rows(prepared_for(b, rows_from(a, begin), count), b, bias, log_softmax, k,
                {state.data(), count}, values + begin * k, ids + begin * k);
  });
}

inline void set_output(KernelTable& table) { table.linear_k_best = linear_k_best; }

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_OUTPUT_FAMILY_INL_H_
