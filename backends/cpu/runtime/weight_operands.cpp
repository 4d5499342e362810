#include "backends/cpu/runtime/weight_operands.h"

#include "backends/cpu/weights/weight_region.h"

namespace fuselage::cpu {
namespace {

/// The weight of an operand; marks that the instruction does not read its buffer.
WeightType own_form_of(const PlannedInstruction& in, const Binding& binding, std::size_t operand) {
  binding.has_own_form[operand] = true;
  return weight_type(binding.graph, binding.plan.buffers[in.operands[operand].buffer]);
}

}  // namespace

std::shared_ptr<const PackedMatrix> packed_operand(const PlannedInstruction& in,
                                                   const Binding& binding, std::size_t operand,
                                                   const MatrixShape& shape) {
  return binding.weights.packed(own_form_of(in, binding, operand), shape);
}

DType columns_type(const Binding& binding, std::size_t operand) {
  const DType dtype = binding.graph.value(binding.node.operands[operand]).type.dtype;
  return dtype == DType::f16 ? DType::f32 : dtype;
}

std::shared_ptr<const Tensor> columns_operand(const PlannedInstruction& in, const Binding& binding,
                                              std::size_t operand, const MatrixShape& shape) {
  WeightType weight = own_form_of(in, binding, operand);
  weight.dtype = columns_type(binding, operand);
  return shape.transposed ? binding.weights.stored(weight)
                          : binding.weights.columns(weight, shape.k, shape.n);
}

}  // namespace fuselage::cpu
