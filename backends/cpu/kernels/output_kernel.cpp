#include "backends/cpu/kernels/output_kernel.h"

#include <algorithm>
#include <vector>

#include "backends/cpu/kernels/kernel_table.h"
#include "backends/cpu/kernels/product_kernels.h"
#include "backends/cpu/runtime/operands.h"
#include "backends/plan/refusals.h"

namespace fuselage::cpu {
namespace {

/// An output layer for the rows of a run.
struct Layer {
  RowsIn x;
  std::size_t rows;
  const PackedMatrix& matrix;
  const float* bias;
  bool log_softmax;
  std::size_t k;
  float* values;
  std::int32_t* ids;

  void run(const KernelTable& kernels) const {
    kernels.linear_k_best(x, rows, matrix, bias, log_softmax, k, values, ids);
  }
  Layer row(std::size_t r) const {
    return {rows_from(x, r), 1, matrix, bias, log_softmax, k, values + r * k, ids + r * k};
  }
};

/// What the parts of a layer come to, which are the threads' that take part.
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
                                       row.ids))
      row.run(run.kernels);
  }
}

}  // namespace

void bind_output_layer(Instruction& in, const Binding& binding) {
  const Type& x = binding.graph.value(binding.node.operands[0]).type;
  in.matrix =
      packed_operand(in, binding, 1,
                     {.k = x.dims.back(),
                      .n = matrix_columns(binding.graph, binding.node.operands[1], x.dims.back()),
                      .transposed = binding.node.attr<bool>("transposed"),
                      .dtype = packed_type(binding.graph, binding.node)});
  in.integer = binding.node.attr<bool>("log_softmax");
}

void run_output_layer(const Instruction& in, const Run& run) {
  const Layer layer{.x = rows_in(in, run, 0),
                    .rows = rows_of(in, run),
                    .matrix = *in.matrix,
                    .bias = in.operands.size() > 2 ? plain_in<const float>(in, run, 2) : nullptr,
                    .log_softmax = in.integer != 0,
                    .k = cols_of(in),
                    .values = result_at(in, run, 0),
                    .ids = result_at<std::int32_t>(in, run, 1)};
  if (is_worth_parts(run, work_of(layer.matrix, layer.rows)))
    run_in_parts(layer, run);
  else
    layer.run(run.kernels);
}

}  // namespace fuselage::cpu
