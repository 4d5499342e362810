#include "backends/cuda/device/elementwise/elementwise_kernels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "backends/cuda/device/kernel/kernel_registry.h"
#include "backends/cuda/device/kernel/operands.h"
#include "backends/cuda/device/runtime/launch_config.h"
#include "backends/cuda/elementwise_source.h"
#include "fuselage/base/error.h"

namespace fuselage::cuda {
namespace {

static_assert(sizeof(ElementOperand) == sizeof(RowsIn) &&
              offsetof(ElementOperand, index) == offsetof(RowsIn, index) &&
              offsetof(ElementOperand, first) == offsetof(RowsIn, first) &&
              offsetof(ElementOperand, columns) == offsetof(RowsIn, columns));
static_assert(sizeof(ElementResult) == sizeof(RowsOut) &&
              offsetof(ElementResult, first) == offsetof(RowsOut, first));
static_assert(sizeof(RoundedElementResult) == sizeof(ResultOf<std::uint16_t>));

/// The single parameter of a generated kernel, assembled at run time.
class Parameters {
 public:
  template <typename T>
  void add(const T& part) {
    std::memcpy(bytes_.data() + size_, &part, sizeof part);
    size_ += sizeof part;
  }
  void* data() { return bytes_.data(); }

 private:
  static constexpr std::size_t kCapacity = sizeof(ElementRows) +
                                           kMaxElementOperands * sizeof(ElementOperand) +
                                           2 * kMaxElementResults * sizeof(ElementResult);
  static_assert(kCapacity <= 4096, "CUDA's limit of kernel parameters");
  alignas(16) std::array<std::byte, kCapacity> bytes_;
  std::size_t size_ = 0;
};

std::vector<bool> scalar_operands(const PlannedInstruction& in) {
  std::vector<bool> scalar;
  for (const BufferView& operand : in.operands)
    scalar.push_back(operand.cols != in.results[0].cols);
  return scalar;
}

class ElementwiseKernel final : public Kernel {
 public:
  ElementwiseKernel(const PlannedInstruction& in, const Binding& binding)
      : rounded_(in, binding),
        kernel_(elementwise_expression(binding.node), scalar_operands(in), forms_of(rounded_)) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    std::array<RowsIn, kMaxElementOperands> operands;
    std::array<FloatsOut, kMaxElementResults> results;
    for (std::size_t i = 0; i < in.operands.size(); ++i) operands[i] = rows_in(in, run, i);
    for (std::size_t i = 0; i < rounded_.own(); ++i) results[i] = rounded_.out(in, run, i);
    kernel_.launch(run.stream, rows_of(in, run), cols_of(in),
                   std::span(operands).first(in.operands.size()),
                   std::span(results).first(rounded_.own()));
  }

 private:
  RoundedResults rounded_;
  CompiledExpression kernel_;
};

const RegisterKernels kElementwiseKernels({{"elements", make_kernel<ElementwiseKernel>}});

}  // namespace

std::vector<ElementForm> forms_of(const RoundedResults& results) {
  std::vector<ElementForm> forms;
  for (std::size_t i = 0; i < results.own(); ++i)
    forms.push_back({.floats = results.stores(i),
                     .rounded = results.rounding_of(i) != kNone,
                     .is_bf16 = results.is_bf16()});
  return forms;
}

CompiledExpression::CompiledExpression(const ElementwiseExpression& expression,
                                       const std::vector<bool>& scalar,
                                       const std::vector<ElementForm>& forms)
    : scalar_(scalar),
      forms_(forms),
      library_(load_kernels(elementwise_source(expression, scalar, forms))),
      scalar_kernel_(library_->kernel(kScalarKernel)),
      float4_kernel_(library_->kernel(kFloat4Kernel)) {
  forms_.resize(expression.results.size());
}

bool CompiledExpression::vectorizes(std::int64_t columns, std::span<const RowsIn> operands,
                                    std::span<const FloatsOut> results) const {
  if (columns % 4 != 0) return false;
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (!scalar_[i] && !is_float4_aligned(operands[i])) return false;
  return std::all_of(results.begin(), results.end(), [](const FloatsOut& out) {
    return is_float4_aligned(out.floats) && is_float4_aligned(out.rounded.data, out.rounded.stride);
  });
}

void CompiledExpression::launch(cudaStream_t stream, const Rows& rows, std::int64_t columns,
                                std::span<const RowsIn> operands,
                                std::span<const FloatsOut> results) const {
  check(operands.size() == scalar_.size() && results.size() == forms_.size(),
        "elements: another number of operands or results");
  const bool vectorized = vectorizes(columns, operands, results);
  const std::int64_t packs = vectorized ? columns / 4 : columns;
  const LaunchConfig config = config_for_elements(rows, packs);
  if (config.grid.x == 0) return;
  Parameters parameters;
  parameters.add(ElementRows{rows.live, rows.max_live, static_cast<std::int32_t>(packs)});
  for (const RowsIn& operand : operands) parameters.add(operand);
  for (std::size_t i = 0; i < results.size(); ++i)
    if (forms_[i].floats) parameters.add(results[i].floats);
  for (std::size_t i = 0; i < results.size(); ++i)
    if (forms_[i].rounded) parameters.add(results[i].rounded);
  const NativeConfig native(stream, config, /*early=*/true);
  void* arguments[] = {parameters.data()};
  expect_success(
      cudaLaunchKernelExC(native.get(), vectorized ? float4_kernel_ : scalar_kernel_, arguments),
      "launch of an elementwise expression");
}

}  // namespace fuselage::cuda
