// k_best, and fused output layers, which do not store logits.

#include <algorithm>
#include <vector>

#include "backends/cpu/kernels/kernel_families.h"
#include "backends/cpu/kernels/product_operands.h"
#include "backends/cpu/runtime/parts.h"
#include "backends/cpu/runtime/weight_operands.h"
#include "backends/cpu/simd/table.h"
#include "fuselage/backends/cpu/runtime/make_kernel.h"
#include "fuselage/backends/cpu/runtime/operands.h"
#include "fuselage/backends/plan/refusals.h"
#include "fuselage/ops/fused/output.h"
#include "fuselage/ops/search/k_best.h"

namespace fuselage::cpu {
namespace {

void run_k_best(const PlannedInstruction& in, const Run& run) {
  run.kernels.k_best(rows_in(in, run, 0), rows_of(in, run),
                     static_cast<std::size_t>(in.operands[0].cols), cols_of(in),
                     result_at(in, run, 0), result_at<std::int32_t>(in, run, 1));
}

/// The operands of an output layer in one run.
struct Layer {
  RowsIn x;
  std::size_t rows;
  const PackedMatrix& matrix;
  const float* bias;
  bool log_softmax;
  std::size_t k;
  float* values;
  std::int32_t* ids;
  float* log_sums;  ///< null: not wanted

  void run(const KernelTable& kernels) const {
    kernels.linear_k_best(x, rows, matrix, bias, log_softmax, k, values, ids, log_sums);
  }
  Layer row(std::size_t r) const {
    return {rows_from(x, r),
            1,
            matrix,
            bias,
            log_softmax,
            k,
            values + r * k,
            ids + r * k,
            log_sums == nullptr ? nullptr : log_sums + r};
  }
};

/// Partial results of a layer, one part per thread.
class Parts {
 public:
  void make(const Layer& layer, std::size_t count) {
    const std::size_t places = layer.rows * layer.k;
    const std::size_t blocks = (layer.matrix.n() + kOutputBlock - 1) / kOutputBlock;
    values_.resize(std::max(values_.size(), count * places));
    ids_.resize(values_.size());
    if (layer.log_softmax) sums_.resize(std::max(sums_.size(), blocks * layer.rows));
    parts_.resize(count);
    for (std::size_t p = 0; p < count; ++p) {
      const std::size_t first = blocks * p / count;
      parts_[p] = {.first = first,
                   .last = blocks * (p + 1) / count,
                   .values = values_.data() + p * places,
                   .ids = ids_.data() + p * places,
                   .sums = layer.log_softmax ? sums_.data() + first * layer.rows : nullptr};
    }
  }

  const std::vector<OutputPart>& all() const { return parts_; }

 private:
  std::vector<OutputPart> parts_;
  std::vector<float> values_;
  std::vector<std::int32_t> ids_;
  std::vector<ExpSum> sums_;
};

void run_in_parts(const Layer& layer, const Run& run) {
  static thread_local Parts parts;
  parts.make(layer, run.team->size());
  const std::vector<OutputPart>& all = parts.all();
  run.team->run([&](std::size_t part) {
    run.kernels.output_part(layer.x, layer.rows, layer.matrix, layer.bias, layer.k, all[part]);
  });
  for (std::size_t r = 0; r < layer.rows; ++r) {
    const Layer row = layer.row(r);
    if (!run.kernels.join_output_parts(all, r, layer.rows, layer.matrix.n(), layer.k, row.values,
                                       row.ids, row.log_sums))
      row.run(run.kernels);
  }
}

/// linear_k_best.
class OutputLayer final : public Kernel {
 public:
  OutputLayer(const PlannedInstruction& in, const Binding& binding)
      : matrix_(packed_operand(in, binding, 1, packed_shape(binding))),
        log_softmax_(binding.node.as<op::Scores>().log_softmax) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    const Layer layer{.x = rows_in(in, run, 0),
                      .rows = rows_of(in, run),
                      .matrix = *matrix_,
                      .bias = in.operands.size() > 2 ? plain_in<const float>(in, run, 2) : nullptr,
                      .log_softmax = log_softmax_,
                      .k = cols_of(in),
                      .values = result_at(in, run, 0),
                      .ids = result_at<std::int32_t>(in, run, 1),
                      .log_sums = in.results.size() > 2 ? result_at(in, run, 2) : nullptr};
    if (is_worth_parts(run, work_of(layer.matrix, layer.rows)))
      run_in_parts(layer, run);
    else
      layer.run(run.kernels);
  }

 private:
  std::shared_ptr<const PackedMatrix> matrix_;
  bool log_softmax_;
};

}  // namespace

std::span<const KernelEntry> output_kernels() {
  using enum Reads;
  static constexpr KernelEntry kKernels[] = {
      {{.op = op::KBest::kName, .name = "k_best", .reads = {view}},
       make_kernel<PlainKernel<run_k_best>>},
      {{.op = op::LinearKBest::kName,
        .name = "output_layer",
        .reads = {view},
        .refuse = refuse_output_layer},
       make_kernel<OutputLayer>},
  };
  return kKernels;
}

}  // namespace fuselage::cpu
