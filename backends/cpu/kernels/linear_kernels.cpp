// Products with a matrix, followed by an elementwise expression.

#include <algorithm>
#include <array>
#include <optional>

#include "backends/cpu/kernels/elementwise_tiles.h"
#include "backends/cpu/kernels/expression_operands.h"
#include "backends/cpu/kernels/kernel_families.h"
#include "backends/cpu/kernels/product_operands.h"
#include "backends/cpu/kernels/quantized_results.h"
#include "backends/cpu/runtime/parts.h"
#include "backends/cpu/runtime/weight_operands.h"
#include "backends/cpu/simd/table.h"
#include "fuselage/backends/cpu/runtime/make_kernel.h"
#include "fuselage/backends/cpu/runtime/operands.h"
#include "fuselage/backends/plan/refusals.h"
#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/ops/fused/chains.h"
#include "ops/fused/elementwise_expression.h"

namespace fuselage::cpu {
namespace {

using Argument = ElementwiseExpression::Argument;

/// An expression of a product, x0, divided into the part that the product's kernel computes in
/// registers, first a bias and then relu, and the rest.
class SplitExpression {
 public:
  /// `is_bias[i]`: operand i may be a bias.
  SplitExpression(ElementwiseExpression expression, const std::vector<bool>& is_bias)
      : rest_(std::move(expression)) {
    if (const auto step = only_reader(); step && is<op::Add>(*step)) {
      const auto& arguments = rest_.steps[*step].arguments;
      const Argument& other = arguments[is_product(arguments[0]) ? 1 : 0];
      if (other.kind == Argument::Kind::operand && is_bias[other.index]) {
        bias_ = other.index;
        replace_by_product(*step);
      }
    }
    if (const auto step = only_reader(); step && is<op::Relu>(*step)) {
      relu_ = true;
      replace_by_product(*step);
    }
  }

  /// The operand that is the bias; nullopt: none.
  std::optional<std::size_t> bias() const { return bias_; }
  bool relu() const { return relu_; }
  /// Without steps if the product is the result.
  const ElementwiseExpression& rest() const { return rest_; }

 private:
  static bool is_product(const Argument& argument) {
    return argument.kind == Argument::Kind::operand && argument.index == 0;
  }

  template <OpStruct Op>
  bool is(std::size_t step) const {
    return rest_.steps[step].op->name == Op::kName;
  }

  /// The only step that reads the product, and reads it once, if the step's value can take the
  /// product's place: the step is not a result of the expression, or it is the only step.
  std::optional<std::size_t> only_reader() const {
    std::optional<std::size_t> reader;
    for (std::size_t i = 0; i < rest_.steps.size(); ++i)
      for (const Argument& argument : rest_.steps[i].arguments) {
        if (!is_product(argument)) continue;
        if (reader) return std::nullopt;
        reader = i;
      }
    const auto is_reader = [&](const Argument& result) { return result.index == reader; };
    if (rest_.steps.size() > 1 &&
        std::any_of(rest_.results.begin(), rest_.results.end(), is_reader))
      return std::nullopt;
    return reader;
  }

  void replace_by_product(std::size_t step) {
    rest_.steps.erase(rest_.steps.begin() + static_cast<std::ptrdiff_t>(step));
    const auto replace = [step](Argument& argument) {
      if (argument.kind != Argument::Kind::step) return;
      if (argument.index == step)
        argument = {.kind = Argument::Kind::operand};
      else if (argument.index > step)
        --argument.index;
    };
    for (auto& other : rest_.steps)
      for (Argument& argument : other.arguments) replace(argument);
    for (Argument& result : rest_.results) replace(result);
  }

  ElementwiseExpression rest_;
  std::optional<std::size_t> bias_;
  bool relu_ = false;
};

/// Whether each operand of the expression is one vector for all rows.
std::vector<bool> bias_operands(const PlannedInstruction& in) {
  std::vector<bool> is_bias{false};
  for (std::size_t i = 2; i < in.operands.size(); ++i)
    is_bias.push_back(in.operands[i].stride == 0 && in.operands[i].index == kNone &&
                      in.operands[i].cols == in.results[0].cols);
  return is_bias;
}

/// For each operand of the expression; the product has the place of the matrix.
std::vector<bool> scalars_of_expression(const PlannedInstruction& in) {
  std::vector<bool> scalar = scalar_operands(in, 1);
  scalar[0] = false;
  return scalar;
}

class Linear : public Kernel {
 public:
  Linear(const PlannedInstruction& in, const Binding& binding)
      : Linear(in, binding, SplitExpression(expression_of(binding.node), bias_operands(in))) {}

 protected:
  /// Rows are quantized once all their columns are computed.
  void run_with(const PlannedInstruction& in, const Run& run, const PackedMatrix& matrix) const {
    constexpr std::size_t kRows = 96;
    const std::size_t rows = rows_of(in, run);
    const bool shared = is_worth_parts(run, work_of(matrix, rows));
    in_panels(run, matrix, rows, [&](std::size_t first, std::size_t last) {
      for (std::size_t r = 0; r < rows; r += kRows) {
        const std::size_t n = std::min(kRows, rows - r);
        run_rows(in, run, matrix, {first, last, r, n, shared});
        if (!shared) quantized_.quantize_block(in, run, 0, r, r + n);
      }
    });
    if (shared) quantized_.quantize(in, run);
  }

 private:
  /// Panels first … last - 1 for `count` rows from `row` on.
  struct Part {
    std::size_t first, last, row, count;
    bool in_place;  ///< rows of results in their own places
  };

  Linear(const PlannedInstruction& in, const Binding& binding, const SplitExpression& split)
      : relu_(split.relu()), quantized_(in, binding) {
    if (split.bias()) bias_ = *split.bias() + 1;
    if (!split.rest().steps.empty()) tiles_.emplace(split.rest(), scalars_of_expression(in));
  }

  RowsOut result_of(const PlannedInstruction& in, const Run& run, std::size_t result,
                    const Part& part) const {
    RowsOut rows = rows_out(in, run, result);
    rows.data += (part.in_place ? part.row : quantized_.place(result, 0, part.row)) * rows.stride;
    return rows;
  }

  /// Products, and the rest of the expression in tiles of columns while these are in the cache.
  void run_rows(const PlannedInstruction& in, const Run& run, const PackedMatrix& matrix,
                const Part& part) const {
    const RowsIn x = rows_from(rows_in(in, run, 0), part.row);
    const ProductEpilogue after{.bias = bias_ ? plain_in<const float>(in, run, *bias_) : nullptr,
                                .relu = relu_};
    const RowsOut product = result_of(in, run, 0, part);
    if (!tiles_) {
      run.kernels.gemm_panels(x, part.count, matrix, part.first, part.last, after, product);
      return;
    }
    constexpr std::size_t kColumns = 256;
    const std::size_t step = std::max<std::size_t>(kColumns / matrix.panel(), 1);
    std::array<RowsIn, kMaxExpressionOperands> operands;
    std::array<RowsOut, kMaxExpressionResults> results;
    for (std::size_t i = 0; i < tiles_->result_count(); ++i)
      results[i] = result_of(in, run, i, part);
    for (std::size_t i = 2; i < in.operands.size(); ++i)
      operands[i - 1] = rows_from(rows_in(in, run, i), part.row);
    operands[0] = {.data = product.data, .stride = product.stride, .columns = matrix.n()};
    for (std::size_t p = part.first; p < part.last; p += step) {
      const std::size_t end = std::min(p + step, part.last);
      const std::size_t column = p * matrix.panel();
      run.kernels.gemm_panels(x, part.count, matrix, p, end, after, product);
      tiles_->run_columns(operands.data(), part.count, column,
                          std::min(end * matrix.panel(), matrix.n()) - column, results.data());
    }
  }

  std::optional<std::size_t> bias_;  ///< number of the operand
  bool relu_;
  std::optional<ElementwiseTiles> tiles_;  ///< the rest of the expression
  QuantizedResults quantized_;
};

/// With a stored matrix, packed when the program is made.
class PackedLinear final : public Linear {
 public:
  PackedLinear(const PlannedInstruction& in, const Binding& binding)
      : Linear(in, binding), matrix_(packed_operand(in, binding, 1, packed_shape(binding))) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    run_with(in, run, *matrix_);
  }

 private:
  std::shared_ptr<const PackedMatrix> matrix_;
};

std::string refuse_packed_linear(const Graph& graph, const Node& node) {
  if (std::string reason = refuse_packed_matrix(graph, node); !reason.empty()) return reason;
  return refuse_expression(graph, node, 1);
}

/// With a computed matrix, packed at run time. Only a load program has such matrices, and it runs
/// once.
class PackingLinear final : public Linear {
 public:
  PackingLinear(const PlannedInstruction& in, const Binding& binding)
      : Linear(in, binding), shape_(packing_shape(binding)) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    run_with(in, run, pack(data_at<const std::byte>(in.operands[1], run, 0), shape_));
  }

 private:
  MatrixShape shape_;
};

std::string refuse_packing_linear(const Graph& graph, const Node& node) {
  if (std::string reason = refuse_packing_matrix(graph, node); !reason.empty()) return reason;
  return refuse_expression(graph, node, 1);
}

}  // namespace

std::span<const KernelEntry> linear_kernels() {
  using enum Reads;
  static constexpr KernelEntry kKernels[] = {
      {{.op = op::Linear::kName,
        .name = "packed_gemm_elements",
        .reads = OperandReads{view, whole}.then_all(view),
        .refuse = refuse_packed_linear,
        .quantizes = true},
       make_kernel<PackedLinear>},
      {{.op = op::Linear::kName,
        .name = "packing_gemm_elements",
        .reads = OperandReads{view, whole}.then_all(view),
        .refuse = refuse_packing_linear,
        .quantizes = true},
       make_kernel<PackingLinear>},
  };
  return kKernels;
}

}  // namespace fuselage::cpu
