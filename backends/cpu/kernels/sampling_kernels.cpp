// Random numbers, and words drawn by their probabilities.

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "backends/cpu/kernels/kernel_families.h"
#include "backends/cpu/runtime/parts.h"
#include "backends/cpu/simd/table.h"
#include "fuselage/backends/cpu/runtime/make_kernel.h"
#include "fuselage/backends/cpu/runtime/operands.h"
#include "fuselage/ops/search/sampling.h"
#include "ops/search/draw.h"
#include "ops/search/philox.h"

namespace fuselage::cpu {
namespace {

void run_uniform(const PlannedInstruction& in, const Run& run) {
  const RowsIn streams = rows_in(in, run, 0);
  const auto* positions = plain_in<const std::int32_t>(in, run, 1);
  const auto stride = static_cast<std::size_t>(in.operands[1].stride);
  const RowsOut out = rows_out(in, run);
  for (std::size_t r = 0; r < rows_of(in, run); ++r)
    out.data[r * out.stride] = uniform_number(stream_key(row_of(streams, r, 4)),
                                              static_cast<std::uint32_t>(positions[r * stride]));
}

constexpr float kNoScore = -std::numeric_limits<float>::infinity();

/// Memory of a thread for the probabilities of a row.
struct RowMemory {
  std::vector<float> numbers;
  std::vector<std::int32_t> order;

  std::span<float> row(std::size_t size) {
    if (numbers.size() < size) {
      numbers.resize(size);
      order.reserve(size);
    }
    return {numbers.data(), size};
  }
};

/// Work of a score, in multiply-adds, for the division among threads.
constexpr std::size_t kWorkOfScore = 8;

/// Draws from rows of scores.
class Drawing : public Kernel {
 public:
  explicit Drawing(const Binding& binding) : rule_(binding.node.as<op::Draw>()) {}

 protected:
  /// The index drawn by `u` from `scores`; -1: none. `leave_out(row)` sets the scores of words that
  /// are left out to -infinity.
  template <typename LeaveOut>
  std::int64_t draw_from(const Run& run, std::span<const float> scores, float u,
                         const LeaveOut& leave_out) const {
    static thread_local RowMemory memory;
    const std::size_t n = scores.size();
    const std::span<float> p = memory.row(n);
    const RowsOut out{p.data(), n};
    if (rule_.temperature == 1) {
      std::copy(scores.begin(), scores.end(), p.begin());
    } else {
      const auto temperature = static_cast<float>(rule_.temperature);
      run.kernels.binary(Binary::div, {.data = scores.data(), .stride = n, .columns = n},
                         {.data = &temperature, .columns = 1}, 1, n, out);
    }
    leave_out(p);
    run.kernels.softmax({.data = p.data(), .stride = n, .columns = n}, 1, n, out);
    return draw(p, rule_, static_cast<double>(u), memory.order);
  }

  const Dims& excluded() const { return rule_.excluded; }

 private:
  op::Draw rule_;
};

class Sample final : public Drawing {
 public:
  Sample(const PlannedInstruction&, const Binding& binding)
      : Drawing(binding), top_k_(binding.node.as<op::Sample>().top_k) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    const RowsIn scores = rows_in(in, run, 0);
    const RowsIn random = rows_in(in, run, 1);
    const bool listed = in.operands.size() > 2;
    const auto* words = listed ? plain_in<const std::int32_t>(in, run, 2) : nullptr;
    const auto stride = static_cast<std::size_t>(listed ? in.operands[2].stride : 0);
    const std::size_t n = scores.columns;
    in_parts(run, rows_of(in, run), rows_of(in, run) * n * kWorkOfScore,
             [&](std::size_t first, std::size_t last) {
               for (std::size_t r = first; r < last; ++r) {
                 const std::int32_t* own = words ? words + r * stride : nullptr;
                 const std::span<const float> row{row_of(scores, r, n), n};
                 const std::int64_t drawn = draw_row(run, row, own, row_of(random, r, 1)[0]);
                 result_at(in, run, 0)[r] =
                     drawn < 0 ? kNoScore : row[static_cast<std::size_t>(drawn)];
                 result_at<std::int32_t>(in, run, 1)[r] =
                     own && drawn >= 0 ? own[drawn] : static_cast<std::int32_t>(drawn);
               }
             });
  }

 private:
  std::int64_t draw_row(const Run& run, std::span<const float> scores, const std::int32_t* words,
                        float u) const {
    return draw_from(run, scores, u, [&](std::span<float> row) {
      if (words)
        leave_out(row, excluded(), top_k_, [words](std::size_t i) { return words[i]; });
      else
        leave_out(row, excluded());
    });
  }

  std::int64_t top_k_;
};

class SegmentSample final : public Drawing {
 public:
  SegmentSample(const PlannedInstruction&, const Binding& binding)
      : Drawing(binding),
        to_(binding.node.as<op::SegmentSample>().to.front()),
        words_(binding.node.as<op::SegmentSample>().words) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    const auto* x = data_at<const float>(in.operands[0], run, 0);
    const RowsIn random = rows_in(in, run, 1);
    const Segments pairs = segments_of(to_, run);
    const auto count = static_cast<std::size_t>(pairs.begin[pairs.count] - pairs.begin[0]);
    in_parts(run, pairs.count, count * kWorkOfScore, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) {
        const auto first = static_cast<std::size_t>(pairs.begin[r]);
        const std::span<const float> row{x + first,
                                         static_cast<std::size_t>(pairs.begin[r + 1]) - first};
        const std::int64_t drawn =
            draw_from(run, row, row_of(random, r, 1)[0], [&](std::span<float> scores) {
              leave_out(scores, excluded(), 0, [&](std::size_t i) {
                return follow(words_, run, static_cast<std::int64_t>(first + i));
              });
            });
        const auto at = static_cast<std::size_t>(drawn);
        result_at(in, run, 0)[r] = drawn < 0 ? kNoScore : row[at];
        result_at<std::int32_t>(in, run, 1)[r] =
            drawn < 0 ? -1
                      : static_cast<std::int32_t>(
                            follow(words_, run, static_cast<std::int64_t>(first + at)));
      }
    });
  }

 private:
  MapId to_;
  MapPath words_;
};

}  // namespace

std::span<const KernelEntry> sampling_kernels() {
  using enum Reads;
  static constexpr KernelEntry kKernels[] = {
      {{.op = op::Uniform::kName, .name = "uniform", .reads = {view}},
       make_kernel<PlainKernel<run_uniform>>},
      {{.op = op::Sample::kName, .name = "sample", .reads = {view, view}}, make_kernel<Sample>},
      {{.op = op::SegmentSample::kName, .name = "segment_sample", .reads = {whole, view}},
       make_kernel<SegmentSample>},
  };
  return kKernels;
}

}  // namespace fuselage::cpu
