// Scores of words against repetitions in a text.

#include <algorithm>
#include <limits>

#include "backends/cpu/kernels/kernel_families.h"
#include "backends/cpu/runtime/parts.h"
#include "fuselage/backends/cpu/runtime/make_kernel.h"
#include "fuselage/backends/cpu/runtime/operands.h"
#include "fuselage/backends/plan/refusals.h"
#include "fuselage/ops/search/repetition.h"
#include "ops/search/repeated_words.h"

namespace fuselage::cpu {
namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();

/// row_number.
class RowNumber final : public Kernel {
 public:
  RowNumber(const PlannedInstruction&, const Binding& binding)
      : op_(binding.node.as<op::RowNumber>()) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    const std::int64_t first = first_row(run, in.domain);
    const RowsOut out = rows_out(in, run);
    for (std::size_t r = 0; r < rows_of(in, run); ++r) {
      const std::int64_t row = follow(op_.via, run, first + static_cast<std::int64_t>(r));
      out.data[r * out.stride] = static_cast<float>(row < 0 ? op_.unmapped : row);
    }
  }

 private:
  op::RowNumber op_;
};

/// The texts of rows, as both ops read them.
class Texts : public Kernel {
 public:
  Texts(const PlannedInstruction&, const Binding& binding)
      : repeats_(binding.node.as<op::Repeats>()) {}

 protected:
  /// Calls seen(word) for each word of the text of row `r`, then never(word) for the words that
  /// would repeat an n-gram of it or complete a forbidden sequence.
  template <typename F, typename G>
  void for_words(const PlannedInstruction& in, const Run& run, std::size_t r, const F& seen,
                 const G& never) const {
    const Segments pairs = segments_of(repeats_.to.front(), run);
    const std::int64_t count = pairs.begin[r + 1] - pairs.begin[r];
    const auto via =
        run.rows.index(repeats_.via.front())
            .subspan(static_cast<std::size_t>(pairs.begin[r]), static_cast<std::size_t>(count));
    const RowsIn words = all_rows(in, run, 1);
    const auto word = [&](std::int64_t i) {
      const auto row = static_cast<std::size_t>(via[static_cast<std::size_t>(i)]);
      return static_cast<std::int64_t>(words.data[row * words.stride]);
    };
    if (repeats_.penalty != 1)
      for (std::int64_t i = 0; i < count; ++i)
        if (word(i) >= 0) seen(word(i));
    for_each_repeat(word, count, repeats_.ngram, never);
    for_each_completed(word, count, repeats_.forbidden, never);
  }

  float penalized_score(float score) const {
    return penalized(score, static_cast<float>(repeats_.penalty));
  }

 private:
  op::Repeats repeats_;
};

class PenalizeRepeats final : public Texts {
 public:
  using Texts::Texts;

  void run(const PlannedInstruction& in, const Run& run) const override {
    const RowsIn x = rows_in(in, run, 0);
    const std::size_t cols = cols_of(in);
    const RowsOut out = rows_out(in, run);
    in_parts(run, rows_of(in, run), rows_of(in, run) * cols,
             [&](std::size_t first, std::size_t last) {
               for (std::size_t r = first; r < last; ++r) {
                 const float* from = row_of(x, r, cols);
                 float* to = out.data + r * out.stride;
                 std::copy_n(from, cols, to);
                 const auto end = static_cast<std::int64_t>(cols);
                 for_words(
                     in, run, r,
                     [&](std::int64_t w) {
                       if (w < end) to[w] = penalized_score(from[w]);
                     },
                     [&](std::int64_t w) {
                       if (w < end) to[w] = kLowest;
                     });
               }
             });
  }
};

class SegmentPenalizeRepeats final : public Texts {
 public:
  SegmentPenalizeRepeats(const PlannedInstruction& in, const Binding& binding)
      : Texts(in, binding),
        row_(binding.node.as<op::SegmentPenalizeRepeats>().row.front()),
        listed_(binding.node.as<op::SegmentPenalizeRepeats>().listed) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    const float* x = plain_in<const float>(in, run, 0);
    float* out = result_at(in, run);
    const Segments lists = segments_of(row_, run);
    const auto right = run.rows.index(listed_[0]);
    const auto words = run.rows.index(listed_[1]);
    for (std::size_t r = 0; r < lists.count; ++r) {
      const auto first = static_cast<std::size_t>(lists.begin[r]);
      const auto count = static_cast<std::size_t>(lists.begin[r + 1]) - first;
      std::copy_n(x + first, count, out + first);
      if (count == 0) continue;
      // The words of a row are contiguous.
      const auto list = words.subspan(static_cast<std::size_t>(right[first]), count);
      const auto set = [&](std::int64_t word, const auto& score) {
        const auto at = std::ranges::lower_bound(list, static_cast<std::int32_t>(word));
        if (at == list.end() || *at != word) return;
        const std::size_t pair = first + static_cast<std::size_t>(at - list.begin());
        out[pair] = score(x[pair]);
      };
      for_words(
          in, run, r,
          [&](std::int64_t word) {
            set(word, [this](float score) { return penalized_score(score); });
          },
          [&](std::int64_t word) { set(word, [](float) { return kLowest; }); });
    }
  }

 private:
  MapId row_;
  MapPath listed_;  ///< from pairs through shortlists to words
};

}  // namespace

std::span<const KernelEntry> repetition_kernels() {
  using enum Reads;
  static constexpr KernelEntry kKernels[] = {
      {{.op = op::RowNumber::kName, .name = "row_number"}, make_kernel<RowNumber>},
      {{.op = op::PenalizeRepeats::kName, .name = "penalize_repeats"},
       make_kernel<PenalizeRepeats>},
      {{.op = op::SegmentPenalizeRepeats::kName,
        .name = "segment_penalize_repeats",
        .refuse = refuse_other_lists},
       make_kernel<SegmentPenalizeRepeats>},
  };
  return kKernels;
}

}  // namespace fuselage::cpu
