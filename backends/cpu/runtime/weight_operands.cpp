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

std::shared_ptr<const Tensor> columns_operand(const PlannedInstruction& in, const Binding& binding,
                                              std::size_t operand, const MatrixShape& shape) {
  const WeightType weight = own_form_of(in, binding, operand);
  return shape.transposed ? binding.weights.stored(weight)
                          : binding.weights.columns(weight, shape.k, shape.n);
}

}  // namespace fuselage::cpu
