#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/graph/attributes.h"
#include "fuselage/graph/graph.h"
#include "fuselage/ops/evaluate.h"

namespace FUSELAGE_API fuselage {

// Row functions: an op as a plain C++ function of one row, from which its evaluations and a CPU
// kernel follow. The function of an elementwise op is called for ranges of columns too, so it may
// rely on nothing but the elements at its own index.

/// A row of an operand. An operand of one element has that element at every index.
template <typename T>
class RowOperand {
 public:
  RowOperand() = default;
  RowOperand(const T* data, std::size_t size)
      : data_(data), size_(size), step_(size == 1 ? 0 : 1) {}

  const T& operator[](std::size_t i) const { return data_[i * step_]; }
  std::size_t size() const { return size_; }
  const T* data() const { return data_; }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t step_ = 0;
};

template <typename T>
using RowOperands = std::span<const RowOperand<T>>;

/// A row function with the attributes of a node. Thread-safe. `out` does not overlap an operand.
struct RowFunction {
  std::function<void(RowOperands<float>, std::span<float> out)> f32;
  std::function<void(RowOperands<double>, std::span<double> out)> f64;
};

/// Types for row functions: the operands are f32, over the same rows or without rows. The result
/// has the dimensions of the first operand; of an elementwise op, of the operands with more than
/// one element, which agree.
std::vector<Type> infer_row(const InferContext& in);

/// One operation for each element of the largest operand.
Cost cost_row(const InferContext& in);

/// Reference evaluation by the row function of the node's op.
void evaluate_row(EvalContext<float>& context);
void evaluate_row(EvalContext<double>& context);

/// `definition` with the name and attributes declared by Op, a row function, and all that follows
/// from it: both reference evaluations and, unless they are given, infer_row and cost_row. `F` is
/// the type of a lambda without captures for any T, float and double:
///
///     [](const Op& op, RowOperands<T> in, std::span<T> out)
template <OpStruct Op, typename F>
OpDef define(OpDef definition, F) {
  definition.row = [](const Node& node) -> RowFunction {
    const Op op = node.as<Op>();
    return {[op](RowOperands<float> in, std::span<float> out) { F{}(op, in, out); },
            [op](RowOperands<double> in, std::span<double> out) { F{}(op, in, out); }};
  };
  definition.evaluate_f32 = evaluate_row;
  definition.evaluate_f64 = evaluate_row;
  if (!definition.infer) definition.infer = infer_row;
  if (!definition.cost) definition.cost = cost_row;
  return define<Op>(std::move(definition));
}

}  // namespace fuselage
