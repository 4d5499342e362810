#include "backends/cpu/kernels/product_operands.h"

#include "fuselage/backends/plan/refusals.h"
#include "fuselage/base/quantized.h"
#include "fuselage/ops/arithmetic/matmul.h"

namespace fuselage::cpu {

MatrixShape packed_shape(const Graph& graph, ValueId x, ValueId w, bool transposed) {
  const Type& rows = graph.value(x).type;
  const Type& matrix = graph.value(w).type;
  const bool as_floats = matrix.dtype == DType::f16 || is_mixed(rows, matrix);
  return {.k = rows.dims.back(),
          .n = matrix_columns(graph, w, rows.dims.back()),
          .transposed = transposed,
          .dtype = as_floats ? DType::f32 : matrix.dtype};
}

MatrixShape packed_shape(const Binding& binding) {
  return packed_shape(binding.graph, binding.node.operands[0], binding.node.operands[1],
                      binding.node.as<op::Transposed>().transposed);
}

MatrixShape packing_shape(const Binding& binding) {
  MatrixShape shape = packed_shape(binding);
  shape.dtype = binding.graph.value(binding.node.operands[1]).type.dtype;
  return shape;
}

std::string refuse_packed_matrix(const Graph& graph, const Node& node) {
  if (std::string reason = refuse_types(graph, node); !reason.empty()) return reason;
  return graph.producer(node.operands[1]).has(Trait::external)
             ? ""
             : "its matrix is not stored, so it cannot be packed when the plan is made";
}

std::string refuse_packing_matrix(const Graph& graph, const Node& node) {
  if (std::string reason = refuse_types(graph, node); !reason.empty()) return reason;
  if (is_mixed(graph.value(node.operands[0]).type, graph.value(node.operands[1]).type))
    return "its matrix is quantized, but not its rows";
  if (std::string reason = refuse_one_column(graph, node); !reason.empty()) return reason;
  if (graph.binding(node.results[0]) != BindingTime::load)
    return "it packs its matrix each time it runs";
  return "";
}

}  // namespace fuselage::cpu
