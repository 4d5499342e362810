// Products with a matrix.

#include <algorithm>
#include <atomic>

#include "backends/cpu/kernels/kernel_families.h"
#include "backends/cpu/kernels/product_operands.h"
#include "backends/cpu/runtime/parts.h"
#include "backends/cpu/runtime/weight_operands.h"
#include "backends/cpu/simd/rows/lookup.h"
#include "backends/cpu/simd/table.h"
#include "fuselage/backends/cpu/runtime/make_kernel.h"
#include "fuselage/backends/cpu/runtime/operands.h"
#include "fuselage/backends/plan/refusals.h"
#include "fuselage/ops/arithmetic/matmul.h"
#include "fuselage/ops/fused/frequent_rows.h"

namespace fuselage::cpu {
namespace {

/// matmul. Leading dimensions of a row count as further rows; such values are never views, so their
/// vectors are contiguous.
class Product : public Kernel {
 public:
  Product(const PlannedInstruction&, const Binding& binding)
      : vectors_(vectors_in(binding.graph.value(binding.node.operands[0]).type)) {}

 protected:
  void multiply(const PlannedInstruction& in, const Run& run, const PackedMatrix& matrix) const {
    RowsIn x = rows_in(in, run, 0);
    RowsOut out = rows_out(in, run);
    if (vectors_ > 1) {
      x.columns = x.stride = matrix.row_elements();
      out.stride = matrix.n();
    }
    const std::size_t rows = rows_of(in, run) * vectors_;
    in_panels(run, matrix, rows, [&](std::size_t first, std::size_t last) {
      run.kernels.gemm_panels(x, rows, matrix, first, last, {}, out);
    });
  }

 private:
  std::size_t vectors_;
};

/// With a stored matrix, packed when the program is made.
class PackedGemm final : public Product {
 public:
  PackedGemm(const PlannedInstruction& in, const Binding& binding)
      : Product(in, binding), matrix_(packed_operand(in, binding, 1, packed_shape(binding))) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    multiply(in, run, *matrix_);
  }

 private:
  std::shared_ptr<const PackedMatrix> matrix_;
};

std::string refuse_packed_gemm(const Graph& graph, const Node& node) {
  if (std::string reason = refuse_one_column(graph, node); !reason.empty()) return reason;
  return refuse_packed_matrix(graph, node);
}

/// With a computed matrix, packed at run time. Only a load program has such matrices, and it runs
/// once.
class PackingGemm final : public Product {
 public:
  PackingGemm(const PlannedInstruction& in, const Binding& binding)
      : Product(in, binding), shape_(packing_shape(binding)) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    multiply(in, run, pack(data_at<const std::byte>(in.operands[1], run, 0), shape_));
  }

 private:
  MatrixShape shape_;
};

/// lookup_matmul: products of looked-up rows, with a table for the most frequent entries.
class LookupGemm final : public Kernel {
 public:
  LookupGemm(const PlannedInstruction& in, const Binding& binding)
      : matrix_(packed_operand(in, binding, 1, packed_shape(binding))) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    const FrequentProducts table{
        .data = data_at<const float>(in.operands[2], run, 0),
        .rows = static_cast<std::size_t>(in.operands[2].cols) / matrix_->n(),
        .rank =
            in.operands.size() > 3 ? data_at<const std::int32_t>(in.operands[3], run, 0) : nullptr};
    const LookupCount count = lookup_products(run.kernels, rows_in(in, run, 0), rows_of(in, run),
                                              *matrix_, table, rows_out(in, run));
    lookups_.fetch_add(count.lookups, std::memory_order_relaxed);
    hits_.fetch_add(count.hits, std::memory_order_relaxed);
  }

  std::optional<LookupCount> lookups() const override {
    return LookupCount{.lookups = lookups_.load(std::memory_order_relaxed),
                       .hits = hits_.load(std::memory_order_relaxed)};
  }

 private:
  std::shared_ptr<const PackedMatrix> matrix_;
  mutable std::atomic<std::size_t> lookups_{0}, hits_{0};
};

std::string refuse_lookup_gemm(const Graph& graph, const Node& node) {
  if (std::string reason = refuse_lookup_product(graph, node); !reason.empty()) return reason;
  return refuse_one_column(graph, node);
}

/// matmul with an f32 matrix of one column.
void run_row_dot(const PlannedInstruction& in, const Run& run) {
  run.kernels.head_dot(rows_in(in, run, 0), rows_in(in, run, 1), 1, 1.0f, rows_of(in, run),
                       static_cast<std::size_t>(in.operands[0].cols), rows_out(in, run));
}

/// leading_rows: the rows of a vocabulary value for a table.
void run_leading_rows(const PlannedInstruction& in, const Run& run) {
  const RowsIn x = all_rows(in, run, 0);
  const auto* rank =
      in.operands.size() > 1 ? data_at<const std::int32_t>(in.operands[1], run, 0) : nullptr;
  const std::size_t count = cols_of(in) / x.columns;
  const auto entries = static_cast<std::size_t>(run.rows.rows(domain_of(in.operands[0], run)));
  for (std::size_t entry = 0; entry < entries; ++entry) {
    // Unsigned, so that a negative rank is out of range.
    const auto row = static_cast<std::uint32_t>(rank ? rank[entry] : static_cast<int>(entry));
    if (row < count)
      std::copy_n(x.data + entry * x.stride, x.columns, result_at(in, run) + row * x.columns);
  }
}

}  // namespace

std::span<const KernelEntry> product_kernels() {
  using enum Reads;
  static constexpr KernelEntry kKernels[] = {
      {{.op = op::Matmul::kName,
        .name = "packed_gemm",
        .reads = {view},
        .refuse = refuse_packed_gemm},
       make_kernel<PackedGemm>},
      {{.op = op::Matmul::kName,
        .name = "packing_gemm",
        .reads = {view},
        .refuse = refuse_packing_matrix},
       make_kernel<PackingGemm>},
      {{.op = op::Matmul::kName, .name = "row_dot", .reads = {view}, .refuse = refuse_row_dot},
       make_kernel<PlainKernel<run_row_dot>>},
      {{.op = op::LookupMatmul::kName,
        .name = "lookup_gemm",
        .reads = {slice},
        .refuse = refuse_lookup_gemm},
       make_kernel<LookupGemm>},
      {{.op = op::LeadingRows::kName, .name = "leading_rows"},
       make_kernel<PlainKernel<run_leading_rows>>},
  };
  return kKernels;
}

}  // namespace fuselage::cpu
