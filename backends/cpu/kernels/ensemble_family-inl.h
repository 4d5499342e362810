// The output layers of several models in one kernel: products, biases, normalizers, and the k best
// of the weighted sum. Compiled once a target, hence the unusual guard.
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

#include "backends/cpu/kernels/output-inl.h"
#include "backends/cpu/kernels/table.h"
#include "base/error.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

// Of all members, for the rows that go over a panel together.
inline constexpr std::size_t kMaxSums = 4 * kMaxRows;
static_assert(kMaxEnsemble <= kMaxSums);

struct alignas(64) MemberRow {
  ExpSum sum;
};

struct Member {
  RowsIn a;  // prepared for the layer's matrix
  Layer layer;
  float weight = 0;
};

// What is known of up to kMaxRows rows after some of their columns.
struct Rows {
  std::span<Ranking> rankings;
  std::span<MemberRow> sums;  // those of the first member, then those of the second
  float* combined;            // what members gave for the panels at hand: kMaxRows * kPanel floats
};

// Logits of one member, to be added to what those before it gave.
class TakeMember {
 public:
  TakeMember() = default;
  // The rows from `row` on. `first` and `last`: whether the member is.
  TakeMember(Wanted wanted, const Member& member, bool first, bool last, MemberRow* sums,
             Ranking* rankings, float* combined)
      : wanted_(wanted),
        first_(first),
        last_(last),
        weight_(member.weight),
        columns_(member.layer.b->n()),
        row_(sums),
        ranking_(rankings),
        combined_(combined) {}

  void begin_block(std::size_t rows) {
    if (wanted_ == Wanted::best_and_sum)
      for (std::size_t r = 0; r < rows; ++r) row_[r].sum.end_block();
  }

  HWY_INLINE void operator()(Vector logits, float* scratch, std::size_t column) {
    if (wanted_ == Wanted::best_and_sum) {
      ExpSum& sum = row_->sum;
      if (HWY_UNLIKELY(sum.any_larger(logits))) {
        store(logits, scratch);
        sum.add_larger(scratch, column);
      } else {
        sum.add(logits, column);
      }
    }
    // Not fused, so that the sums have the bits of separate kernels.
    Vector combined = hn::Mul(logits, broadcast(weight_));
    if (!first_) combined = hn::Add(load(combined_), combined);
    if (last_)
      rank(combined, scratch, column);
    else
      store(combined, combined_);
    combined_ += kLanes;
  }

  HWY_INLINE void next_row() {
    ++row_;
    ++ranking_;
  }

  HWY_INLINE void prefetch_next_row() const {
    hwy::Prefetch(row_[1].sum.block.data());
    hwy::Prefetch(&row_[1].sum.top);
    hwy::Prefetch(&ranking_[1].threshold);
  }

 private:
  HWY_INLINE void rank(Vector combined, float* scratch, std::size_t column) {
    if (wanted_ == Wanted::lowest_columns) {
      store(combined, scratch);
      ranking_->append_lowest(scratch, column, columns_);
    } else if (HWY_UNLIKELY(ranking_->any_larger(combined))) {
      store(combined, scratch);
      take_larger(scratch, column, *ranking_);
    }
  }

  HWY_NOINLINE static void take_larger(const float* values, std::size_t column, Ranking& ranking) {
    ranking.take_larger(values, column);
  }

  Wanted wanted_ = Wanted::best;
  bool first_ = false, last_ = false;
  float weight_ = 0;
  std::size_t columns_ = 0;
  MemberRow* row_ = nullptr;
  Ranking* ranking_ = nullptr;
  float* combined_ = nullptr;
};

// Goes over the logits of some rows, the first of which is row `begin` of each a, for all members.
// Each reads as many panels at a time as `combined` has room for: few rows wait for memory, where
// one stream is faster than several.
inline void take_rows(std::span<const Member> members, Wanted wanted, std::size_t begin,
                      const Rows& rows) {
  TilePipeline<TakeMember> pipeline;
  const std::size_t count = rows.rankings.size();
  const std::size_t panel_count = members[0].layer.b->panel_count();
  const std::size_t step = kMaxRows / count;
  for (std::size_t first = 0; first < panel_count; first += step) {
    const std::size_t end = std::min(first + step, panel_count);
    for (std::size_t m = 0; m < members.size(); ++m) {
      const Layer& layer = members[m].layer;
      float* combined = rows.combined;
      for_each_panels(count, first, end, [&](std::size_t p, std::size_t panels) {
        for_each_share(count, kTileRows, [&](std::size_t r, std::size_t n) {
          const TakeMember take(wanted, members[m], m == 0, m + 1 == members.size(),
                                &rows.sums[m * count + r], &rows.rankings[r], combined);
          pipeline.multiply_rows(members[m].a, begin + r, n, layer, p, panels, take);
          combined += n * panels * kPanel;
        });
      });
    }
  }
  pipeline.finish();
}

// From weighted sums of logits to those of logarithms of probabilities. As in log_softmax first the
// largest logits and then the logarithms are subtracted. A row in which a member has no
// probabilities, all NaN to k_best, gets its first columns.
inline void finish_scores(std::span<const Member> members, const Rows& rows, std::size_t r,
                          std::size_t k, float* values, std::int32_t* ids) {
  float tops = 0, logs = 0;
  for (std::size_t m = 0; m < members.size(); ++m) {
    const ExpSum& sum = rows.sums[m * rows.rankings.size() + r].sum;
    tops += members[m].weight * sum.top;
    logs += members[m].weight * log_of(sum.value());
  }
  const bool none = !std::isfinite(tops + logs);
  const std::size_t columns = members[0].layer.b->n();
  for (std::size_t i = 0; i < k; ++i) {
    values[i] = none ? kLowest : (values[i] - tops) - logs;
    if (none) ids[i] = i < columns ? static_cast<std::int32_t>(i) : -1;
  }
}

inline void output_rows(std::span<const Member> members, std::size_t k, const Rows& rows,
                        float* values, std::int32_t* ids) {
  const std::size_t count = rows.rankings.size();
  for (std::size_t r = 0; r < count; ++r)
    rows.rankings[r] = {.best = Best(k, values + r * k, ids + r * k)};
  std::fill(rows.sums.begin(), rows.sums.end(), MemberRow());
  take_rows(members, Wanted::best_and_sum, 0, rows);
  for (std::size_t r = 0; r < count; ++r) {
    // As with one model, columns that never exceed a threshold are looked for when they are wanted.
    if (rows.rankings[r].threshold == kLowest)
      take_rows(members, Wanted::lowest_columns, r,
                {rows.rankings.subspan(r, 1), rows.sums, rows.combined});
    finish_scores(members, rows, r, k, values + r * k, ids + r * k);
  }
}

inline void ensemble_k_best(std::span<const EnsembleMember> ensemble, std::size_t rows,
                            std::size_t k, float* values, std::int32_t* ids) {
  check(!ensemble.empty() && ensemble.size() <= kMaxEnsemble,
        "ensemble_k_best: there are no members or too many");
  std::array<Member, kMaxEnsemble> members;
  for (std::size_t m = 0; m < ensemble.size(); ++m) {
    const auto& [a, matrix, bias, weight] = ensemble[m];
    check(a.columns == matrix->row_elements(),
          "ensemble_k_best: a.columns is not what a row of a matrix takes");
    check(matrix->n() == ensemble[0].matrix->n(), "ensemble_k_best: column counts differ");
    members[m] = {a, Layer(*matrix, bias), weight};
  }
  if (k == 0) return;
  HWY_ALIGN float combined[kMaxRows * kPanel];
  std::array<Ranking, kMaxRows> rankings;
  std::array<MemberRow, kMaxSums> sums;
  const std::size_t most = std::min(kMaxRows, kMaxSums / ensemble.size());
  for_each_share(rows, most, [&](std::size_t begin, std::size_t count) {
    for (std::size_t m = 0; m < ensemble.size(); ++m)
      members[m].a = prepared_for(*ensemble[m].matrix, rows_from(ensemble[m].a, begin), count, m);
    output_rows({members.data(), ensemble.size()}, k,
                {{rankings.data(), count}, {sums.data(), count * ensemble.size()}, combined},
                values + begin * k, ids + begin * k);
  });
}

inline void set_ensemble_output(KernelTable& table) { table.ensemble_k_best = ensemble_k_best; }

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_ENSEMBLE_FAMILY_INL_H_
