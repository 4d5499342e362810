#include "backends/cuda/device/elementwise/elementwise_kernels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "backends/cuda/device/kernel/make_kernel.h"
#include "backends/cuda/device/kernel/operands.h"
#include "backends/cuda/device/runtime/launch_shapes.h"
#include "backends/cuda/elementwise_source.h"
#include "base/error.h"

namespace fuselage::cuda {
namespace {

static_assert(sizeof(ElementOperand) == sizeof(RowsIn) &&
              offsetof(ElementOperand, index) == offsetof(RowsIn, index) &&
              offsetof(ElementOperand, first) == offsetof(RowsIn, first) &&
              offsetof(ElementOperand, columns) == offsetof(RowsIn, columns));
static_assert(sizeof(ElementResult) == sizeof(RowsOut) &&
              offsetof(ElementResult, first) == offsetof(RowsOut, first));

/// The one parameter of a kernel, put together at run time.
class Parameters {
 public:
  template <typename T>
  void add(const T& part) {
    std::memcpy(bytes_.data() + size_, &part, sizeof part);
    size_ += sizeof part;
  }
  void* data() { return bytes_.data(); }

 private:
  static constexpr std::size_t kMost = sizeof(ElementRows) +
                                       kMaxElementOperands * sizeof(ElementOperand) +
                                       kMaxElementResults * sizeof(ElementResult);
  static_assert(kMost <= 4096, "parameters of a kernel end there");
  alignas(16) std::array<std::byte, kMost> bytes_;
  std::size_t size_ = 0;
};

std::vector<bool> scalar_operands(const PlannedInstruction& in) {
  std::vector<bool> scalar;
  for (const BufferView& operand : in.operands)
    scalar.push_back(operand.cols != in.results[0].cols);
  return scalar;
}

class Elements final : public Kernel {
 public:
  Elements(const PlannedInstruction& in, const Binding& binding)
      : kernel_(elementwise_expression(binding.node), scalar_operands(in)) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    std::array<RowsIn, kMaxElementOperands> operands;
    std::array<RowsOut, kMaxElementResults> results;
    for (std::size_t i = 0; i < in.operands.size(); ++i) operands[i] = rows_in(in, run, i);
    for (std::size_t i = 0; i < in.results.size(); ++i) results[i] = rows_out(in, run, i);
    kernel_.launch(run.stream, rows_of(in, run), cols_of(in),
                   std::span(operands).first(in.operands.size()),
                   std::span(results).first(in.results.size()));
  }

 private:
  ElementKernel kernel_;
};

constexpr KernelFactory kKernels[] = {{"elements", make_kernel<Elements>}};

}  // namespace

ElementKernel::ElementKernel(const ElementwiseExpression& expression,
                             const std::vector<bool>& scalar)
    : scalar_(scalar),
      result_count_(expression.results.size()),
      library_(load_kernels(elementwise_source(expression, scalar))),
      singles_(library_->kernel(kSingleElements)),
      fours_(library_->kernel(kFourElements)) {}

bool ElementKernel::takes_fours(std::int64_t columns, std::span<const RowsIn> operands,
                                std::span<const RowsOut> results) const {
  if (columns % 4 != 0) return false;
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (!scalar_[i] && !in_fours(operands[i])) return false;
  return std::all_of(results.begin(), results.end(), [](const RowsOut& r) { return in_fours(r); });
}

void ElementKernel::launch(cudaStream_t stream, const Rows& rows, std::int64_t columns,
                           std::span<const RowsIn> operands,
                           std::span<const RowsOut> results) const {
  check(operands.size() == scalar_.size() && results.size() == result_count_,
        "elements: another number of operands or results");
  const bool fours = takes_fours(columns, operands, results);
  const std::int64_t packs = fours ? columns / 4 : columns;
  const Spread spread = spread_over(rows, packs);
  if (spread.grid.x == 0) return;
  Parameters parameters;
  parameters.add(ElementRows{rows.live, rows.most, static_cast<std::int32_t>(packs)});
  for (const RowsIn& operand : operands) parameters.add(operand);
  for (const RowsOut& result : results) parameters.add(result);
  cudaLaunchConfig_t config{};
  config.gridDim = spread.grid;
  config.blockDim = spread.block;
  config.stream = stream;
  void* arguments[] = {parameters.data()};
  expect_success(cudaLaunchKernelExC(&config, fours ? fours_ : singles_, arguments),
                 "launch of an expression");
}

std::span<const KernelFactory> element_kernels() { return kKernels; }

}  // namespace fuselage::cuda
