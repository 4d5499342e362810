// The output layers of several models in one kernel: products, biases, normalizers, and the k best
// of the weighted sum. Compiled once per target, hence the unusual guard.
#if defined(FUSELAGE_CPU_KERNELS_ENSEMBLE_FAMILY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_ENSEMBLE_FAMILY_INL_H_
#undef FUSELAGE_CPU_KERNELS_ENSEMBLE_FAMILY_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_ENSEMBLE_FAMILY_INL_H_
#endif

#include <algorithm>
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

struct Member {
  RowsIn a;  // prepared for the matrix
  const PackedMatrix* b = nullptr;
  const float* bias = nullptr;
  float weight = 0;
  std::array<ExpSum, kMaxRows> sums;
};

// The weighted sums of the members' logits for some rows and a block of columns.
class CombinedBlock {
 public:
  void clear(std::size_t rows) { std::fill_n(tops_.begin(), rows, TopLanes()); }

  WeightedSums sums_for(float weight, bool first, bool last) {
    return {sums_, tops_.data(), weight, first, last};
  }

  // The sums of a row, complete after the last member, whose `logits` cover the same columns.
  Logits sums(std::size_t row, const Logits& logits, std::size_t columns) {
    float* sums = sums_ + row * kBlock;
    // -infinity times a weight can be anything.
    const std::size_t end = std::min(columns - logits.column, logits.count);
    std::fill(sums + end, sums + logits.count, kLowest);
    return {sums, logits.column, logits.count, &tops_[row], tops_[row].largest()};
  }

 private:
  HWY_ALIGN float sums_[kMaxRows * kBlock];
  std::array<TopLanes, kMaxRows> tops_;
};

// Processes the logits of some rows, starting at row `begin` of each member.
inline void take_rows(std::span<Member> members, Wanted wanted, std::size_t begin,
                      std::span<Ranking> rankings) {
  LogitBlock block;
  CombinedBlock combined;
  const std::size_t columns = members[0].b->n();
  for (std::size_t column = 0; column < columns; column += kBlock) {
    combined.clear(rankings.size());
    for (std::size_t m = 0; m < members.size(); ++m) {
      Member& member = members[m];
      const bool last = m + 1 == members.size();
      const WeightedSums sums = combined.sums_for(member.weight, m == 0, last);
      block.multiply(rows_from(member.a, begin), rankings.size(), *member.b, member.bias, column,
                     &sums);
      for (std::size_t r = 0; r < rankings.size(); ++r) {
        const Logits logits = block.logits(r);
        if (last) rankings[r].take(combined.sums(r, logits, columns), wanted, columns);
        if (wanted == Wanted::best_and_sum) add_exps(logits, member.sums[r]);
      }
    }
  }
}

// Converts weighted sums of logits to weighted sums of log-probabilities. As in log_softmax, the
// largest logits are subtracted first, then the logarithms. A row in which a member has no
// probabilities (all NaN to k_best) gets its first columns.
inline void finish_scores(std::span<const Member> members, std::size_t r, std::size_t k,
                          float* values, std::int32_t* ids) {
  float tops = 0, logs = 0;
  for (const Member& member : members) {
    tops += member.weight * member.sums[r].top;
    logs += member.weight * log_of(value_of(member.sums[r]));
  }
  const bool none = !std::isfinite(tops + logs);
  const std::size_t columns = members[0].b->n();
  for (std::size_t i = 0; i < k; ++i) {
    values[i] = none ? kLowest : (values[i] - tops) - logs;
    if (none) ids[i] = i < columns ? static_cast<std::int32_t>(i) : -1;
  }
}

inline void output_rows(std::span<Member> members, std::size_t k, std::span<Ranking> rankings,
                        float* values, std::int32_t* ids) {
  for (std::size_t r = 0; r < rankings.size(); ++r)
    rankings[r] = {Best(k, values + r * k, ids + r * k)};
  for (Member& member : members) std::fill_n(member.sums.begin(), rankings.size(), ExpSum());
  take_rows(members, Wanted::best_and_sum, 0, rankings);
  for (std::size_t r = 0; r < rankings.size(); ++r) {
    // As with one model, columns that never exceed a threshold are searched only if they are
    // needed.
    if (rankings[r].best.threshold() == kLowest)
      take_rows(members, Wanted::lowest_columns, r, rankings.subspan(r, 1));
    finish_scores(members, r, k, values + r * k, ids + r * k);
  }
}

inline void ensemble_k_best(std::span<const WeightedLayer> ensemble, std::size_t rows,
                            std::size_t k, float* values, std::int32_t* ids) {
  check(!ensemble.empty() && ensemble.size() <= kMaxEnsemble,
        "ensemble_k_best: there are no members or too many");
  std::array<Member, kMaxEnsemble> all;
  const std::span<Member> members(all.data(), ensemble.size());
  for (std::size_t m = 0; m < members.size(); ++m) {
    const auto& [a, matrix, bias, weight] = ensemble[m];
    check(a.columns == matrix->row_elements(),
          "ensemble_k_best: a.columns is not what a row of a matrix takes");
    check(matrix->n() == ensemble[0].matrix->n(), "ensemble_k_best: column counts differ");
    members[m] = {.a = {}, .b = matrix, .bias = bias, .weight = weight, .sums = {}};
  }
  if (k == 0) return;
  std::array<Ranking, kMaxRows> rankings;
  for_each_share(rows, kMaxRows, [&](std::size_t begin, std::size_t count) {
    for (std::size_t m = 0; m < members.size(); ++m)
      members[m].a = prepared_for(*members[m].b, rows_from(ensemble[m].a, begin), count, m);
    output_rows(members, k, {rankings.data(), count}, values + begin * k, ids + begin * k);
  });
}

inline void set_ensemble_output(KernelTable& table) { table.ensemble_k_best = ensemble_k_best; }

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_ENSEMBLE_FAMILY_INL_H_
