#include "fuselage/ops/row_function.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "fuselage/ops/infer.h"
#include "ops/call_op.h"

namespace fuselage {

std::vector<Type> infer_row(const InferContext& in) {
  for (std::size_t i = 0; i < in.operand_count(); ++i) expect_f32(in, i);
  if (in.operand_count() == 0) in.fail("an op with a row function has an operand");
  const DomainId domain = common_domain(in);
  Type result = in.operand(0);
  if (in.node().has(Trait::elementwise))
    for (std::size_t i = 1; i < in.operand_count(); ++i) {
      const Type& other = in.operand(i);
      if (other.dims == result.dims || row_size(other) == 1) continue;
      if (row_size(result) != 1)
        in.fail(fmt::format("dimensions differ: {} and {}", in.show(result), in.show(other)));
      result = other;
    }
  return {{DType::f32, domain, result.dims}};
}

Cost cost_row(const InferContext& in) {
  double size = 1;
  double bytes = 0;
  for (std::size_t i = 0; i < in.operand_count(); ++i) {
    const auto row = static_cast<double>(row_size(in.operand(i)));
    size = std::max(size, row);
    if (in.operand(i).domain != in.none()) bytes += 4 * row;
  }
  return {.flop = size, .bytes = bytes + 4 * size};
}

namespace {

template <typename T>
void run_rows(EvalContext<T>& context) {
  const RowFunction function = bind_row_function(context.node);
  Array<T>& out = context.results[0];
  std::vector<RowOperand<T>> in(context.operands.size());
  for (std::int64_t r = 0; r < out.rows; ++r) {
    for (std::size_t i = 0; i < in.size(); ++i)
      in[i] = {context.operand_row(i, r), static_cast<std::size_t>(context.operands[i]->cols)};
    const std::span<T> row(out.row(r), static_cast<std::size_t>(out.cols));
    if constexpr (std::is_same_v<T, float>)
      function.f32(in, row);
    else
      function.f64(in, row);
  }
}

}  // namespace

void evaluate_row(EvalContext<float>& context) { run_rows(context); }

void evaluate_row(EvalContext<double>& context) { run_rows(context); }

}  // namespace fuselage
