#include <memory>

#include "backends/cuda/device/gemm/quantize.h"
#include "backends/cuda/device/gemm/round_rows.h"
#include "backends/cuda/device/kernel/kernel_registry.h"
#include "backends/cuda/device/kernel/operands.h"
#include "backends/cuda/device/kernel/rounded_results.h"
#include "fuselage/base/error.h"
#include "fuselage/ops/precision/quantize.h"

namespace fuselage::cuda {
namespace {

/// A kernel on vectors: the result's last dimension. Leading dimensions give several per row.
class VectorKernel : public Kernel {
 public:
  VectorKernel(const PlannedInstruction&, const Binding& binding)
      : dtype_(binding.graph.value(binding.node.operands[0]).type.dtype),
        type_(binding.graph.value(binding.node.results[0]).type) {}

 protected:
  /// The type of the operand's elements.
  DType dtype() const { return dtype_; }

  RowVectors vectors(const PlannedInstruction& in, const Run& run) const {
    const std::int64_t k = type_.dims.back();
    return {.rows = rows_of(in, run), .per_row = row_size(type_) / k, .k = k};
  }

 private:
  DType dtype_;
  Type type_;
};

class QuantizeRows final : public VectorKernel {
 public:
  QuantizeRows(const PlannedInstruction& in, const Binding& binding)
      : VectorKernel(in, binding), quantizer_(quantizer_of(binding.node)) {
    check(quantizer_.largest_sum == 0 && quantizer_.to != DType::qlog4,
          "quantize_rows: bounded sums or fitted scales");
  }

  void launch(const PlannedInstruction& in, const Run& run) const override {
    const float* scale =
        in.operands.size() > 1 ? data_at<const float>(in.operands[1], run) : nullptr;
    quantize_rows(run.stream, quantizer_, scale, rows_in(in, run, 0), vectors(in, run),
                  rows_out(in, run));
  }

 private:
  Quantizer quantizer_;
};

/// quantize to 16-bit floats.
class RoundRows final : public Kernel {
 public:
  RoundRows(const PlannedInstruction&, const Binding& binding)
      : to_(binding.node.as<op::Quantization>().to) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    const std::int64_t columns = 2 * in.results[0].cols;
    const VectorsIn vectors{
        .x = rows_in(in, run, 0), .rows = rows_of(in, run), .elements = columns};
    round_rows(run.stream, vectors, to_, columns, halves_out(in, run, 0));
  }

 private:
  DType to_;
};

std::unique_ptr<Kernel> make_quantize(const PlannedInstruction& in, const Binding& binding) {
  if (is_half(binding.node.as<op::Quantization>().to))
    return std::make_unique<RoundRows>(in, binding);
  return std::make_unique<QuantizeRows>(in, binding);
}

class DequantizeRows final : public VectorKernel {
 public:
  DequantizeRows(const PlannedInstruction& in, const Binding& binding) : VectorKernel(in, binding) {
    check(dtype() != DType::qlog4, "dequantize_rows: integers of 4 bits");
  }

  void launch(const PlannedInstruction& in, const Run& run) const override {
    dequantize_rows(run.stream, dtype(), rows_in(in, run, 0), vectors(in, run), rows_out(in, run));
  }
};

class CastKernel final : public Kernel {
 public:
  CastKernel(const PlannedInstruction&, const Binding& binding)
      : type_(binding.graph.value(binding.node.operands[0]).type),
        to_(binding.node.as<op::Cast>().to) {
    check(type_.dtype == DType::f32 || to_ == DType::f32, "cast: neither type is f32");
  }

  void launch(const PlannedInstruction& in, const Run& run) const override {
    cast_rows(run.stream,
              {.from = type_.dtype,
               .to = to_,
               .x = run.buffers[in.operands[0].buffer],
               .x_first = first_row(in, in.operands[0], run),
               .out = run.buffers[in.results[0].buffer],
               .out_first = first_row(in, in.results[0], run)},
              rows_of(in, run), row_size(type_));
  }

 private:
  Type type_;
  DType to_;
};

const RegisterKernels kQuantizeKernels({
    {"quantize_rows", make_quantize},
    {"dequantize_rows", make_kernel<DequantizeRows>},
    {"cast", make_kernel<CastKernel>},
});

}  // namespace
}  // namespace fuselage::cuda
