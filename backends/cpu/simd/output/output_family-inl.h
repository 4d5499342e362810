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

#include "backends/cpu/simd/output/output-inl.h"
#include "backends/cpu/simd/table.h"
#include "fuselage/base/error.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

// The state of a row after some of its columns.
struct alignas(64) Row {
  ExpSum sum;
  Ranking ranking;
};

// Computes the logits of up to kMaxRows prepared rows for blocks `first` to `last`, and calls
// take(logits, row) for each row.
template <class Take>
void take_blocks(const RowsIn& a, std::size_t rows, const PackedMatrix& b, const float* bias,
                 std::size_t first, std::size_t last, const Take& take) {
  LogitBlock logits;
  for (std::size_t block = first; block < last; ++block) {
    logits.multiply(a, rows, b, bias, block * kBlock);
    for (std::size_t r = 0; r < rows; ++r) take(logits.logits(r), r);
  }
}

inline std::size_t block_count(const PackedMatrix& b) { return (b.n() + kBlock - 1) / kBlock; }

inline void take_rows(const RowsIn& a, const PackedMatrix& b, const float* bias, Wanted wanted,
                      std::span<Row> rows) {
  take_blocks(a, rows.size(), b, bias, 0, block_count(b), [&](const Logits& logits, std::size_t r) {
    rows[r].ranking.take(logits, wanted, b.n());
    if (wanted == Wanted::best_and_sum) add_exps(logits, rows[r].sum);
  });
}

// Converts logits to log-probabilities as log_softmax does: first the largest logit is subtracted,
// then the logarithm, since their sum would round away the logarithm beside a large logit. A row
// without probabilities (all NaN or -infinity to k_best) gets the first of its `columns`.
// `log_sum_exp`, unless null, takes the normalizer.
inline void finish_scores(const ExpSum& exp_sum, std::size_t columns, std::size_t k, float* values,
                          std::int32_t* ids, float* log_sum_exp) {
  const float sum = value_of(exp_sum);
  const bool none = exp_sum.top == kLowest || std::isnan(sum);
  const float log_sum = log_of(sum);
  for (std::size_t i = 0; i < k; ++i) {
    values[i] = none ? kLowest : (values[i] - exp_sum.top) - log_sum;
    if (none) ids[i] = i < columns ? static_cast<std::int32_t>(i) : -1;
  }
  if (log_sum_exp != nullptr) *log_sum_exp = exp_sum.top + log_sum;
}

inline void output_rows(const RowsIn& a, const PackedMatrix& b, const float* bias, bool log_softmax,
                        std::size_t k, std::span<Row> rows, float* values, std::int32_t* ids,
                        float* log_sums) {
  for (std::size_t r = 0; r < rows.size(); ++r)
    rows[r] = {.sum = {}, .ranking = {Best(k, values + r * k, ids + r * k)}};
  take_rows(a, b, bias, log_softmax ? Wanted::best_and_sum : Wanted::best, rows);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    // Columns of -infinity or NaN never exceed a threshold. They are rarely needed, so recomputing
    // the products costs less than storing them.
    if (rows[r].ranking.best.threshold() == kLowest)
      take_rows(rows_from(a, r), b, bias, Wanted::lowest_columns, rows.subspan(r, 1));
    if (log_softmax)
      finish_scores(rows[r].sum, b.n(), k, values + r * k, ids + r * k,
                    log_sums == nullptr ? nullptr : log_sums + r);
  }
}

inline void linear_k_best(const RowsIn& a, std::size_t rows, const PackedMatrix& b,
                          const float* bias, bool log_softmax, std::size_t k, float* values,
                          std::int32_t* ids, float* log_sums) {
  check(log_sums == nullptr || (log_softmax && k > 0),
        "linear_k_best: no normalizers without scores");
  check(a.columns == b.row_elements(),
        "linear_k_best: a.columns is not what a row of the matrix takes");
  if (k == 0) return;
  std::array<Row, kMaxRows> state;
  for_each_share(rows, kMaxRows, [&](std::size_t begin, std::size_t count) {
    output_rows(prepared_for(b, rows_from(a, begin), count), b, bias, log_softmax, k,
                {state.data(), count}, values + begin * k, ids + begin * k,
                log_sums == nullptr ? nullptr : log_sums + begin);
  });
}

// --- In parts ---

inline void output_part(const RowsIn& a, std::size_t rows, const PackedMatrix& b, const float* bias,
                        std::size_t k, const OutputPart& part) {
  check(a.columns == b.row_elements() && k > 0, "output_part: no such rows, or none of the best");
  std::array<Ranking, kMaxRows> rankings;
  for_each_share(rows, kMaxRows, [&](std::size_t begin, std::size_t count) {
    for (std::size_t r = 0; r < count; ++r)
      rankings[r] = {Best(k, part.values + (begin + r) * k, part.ids + (begin + r) * k)};
    take_blocks(prepared_for(b, rows_from(a, begin), count), count, b, bias, part.first, part.last,
                [&](const Logits& logits, std::size_t r) {
                  rankings[r].take(logits, Wanted::best, b.n());
                  if (!part.sums) return;
                  ExpSum& sum = part.sums[(logits.column / kBlock - part.first) * rows + begin + r];
                  sum = ExpSum();
                  add_exps(logits, sum);
                });
  });
}

inline bool join_output_parts(std::span<const OutputPart> parts, std::size_t row, std::size_t rows,
                              std::size_t columns, std::size_t k, float* values, std::int32_t* ids,
                              float* log_sum) {
  Best best(k, values, ids);
  ExpSum total;
  for (const OutputPart& part : parts) {
    for (std::size_t i = row * k; i < (row + 1) * k && part.values[i] > best.threshold(); ++i)
      best.insert(part.values[i], static_cast<std::size_t>(part.ids[i]));
    for (std::size_t block = 0; part.sums && block < part.last - part.first; ++block) {
      const ExpSum& sum = part.sums[block * rows + row];
      add_to(total, lanes_of(sum), sum.top);
    }
  }
  if (best.threshold() == kLowest) return false;
  if (parts[0].sums) finish_scores(total, columns, k, values, ids, log_sum);
  return true;
}

inline void set_output(KernelTable& table) {
  table.linear_k_best = linear_k_best;
  table.output_part = output_part;
  table.join_output_parts = join_output_parts;
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_OUTPUT_FAMILY_INL_H_
