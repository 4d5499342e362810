#include "backends/cuda/device/gemm/gemm.h"

#include "backends/cuda/device/gather/copy.h"
#include "backends/cuda/device/gemm/integer_products.h"
#include "backends/cuda/device/gemm/round_rows.h"
#include "backends/cuda/device/kernel/bump_allocator.h"
#include "base/error.h"
#include "base/quantized.h"

namespace fuselage::cuda {
namespace {

/// Up to so many vectors of i8 are multiplied as they are; with more it is worth it to take them
/// apart for cuBLASLt.
constexpr std::int64_t kFewVectors = 16;

DType quantized_type(DType integers) {
  return integers == DType::i8 ? DType::qint8 : DType::qint16;
}

}  // namespace

/// What a product needs for a while, of which some pieces may be missing.
struct RowProduct::Memory {
  float* gathered = nullptr;           ///< x [rows, vectors * k]
  std::uint16_t* converted = nullptr;  ///< x [rows * vectors, stride], of the matrix's type
  float* results = nullptr;            ///< [rows, vectors * n]
  std::byte* integers = nullptr;       ///< x [rows * vectors, stride]
  float* scales = nullptr;             ///< [rows * vectors]
  std::int32_t* sums = nullptr;        ///< [rows * vectors, padded_size(n)]
  std::size_t bytes = 0;
};

RowProduct::RowProduct(std::shared_ptr<const DeviceMatrix> matrix, DType x_type,
                       std::int64_t vectors)
    : matrix_(std::move(matrix)), vectors_(vectors) {
  if (is_integer() && x_type == DType::f32) matrix_ = dequantized(*matrix_);
  check(x_type == (is_integer() ? quantized_type(matrix_->dtype) : DType::f32),
        "RowProduct: rows of another type than the matrix");
}

bool RowProduct::is_integer() const {
  return matrix_->dtype == DType::i8 || matrix_->dtype == DType::i16;
}

/// Whether cuBLASLt makes sums of integers, which are scaled in a second step.
bool RowProduct::takes_sums(std::int64_t vectors) const {
  return matrix_->dtype == DType::i8 && vectors > kFewVectors;
}

RowProduct::Memory RowProduct::memory_for(std::int64_t rows, const Detours& detours,
                                          Workspace workspace) const {
  const std::int64_t vectors = rows * vectors_;
  Pieces pieces(workspace);
  Memory memory;
  if (is_converted())
    memory.converted = pieces.take<std::uint16_t>(vectors * matrix_->stride);
  else if (!is_integer() && detours.gathers)
    memory.gathered = pieces.take<float>(vectors * matrix_->k);
  if (!is_integer() && detours.appends) memory.results = pieces.take<float>(vectors * matrix_->n);
  if (takes_sums(vectors)) {
    memory.integers = pieces.take<std::byte>(vectors * matrix_->stride);
    memory.scales = pieces.take<float>(vectors);
    memory.sums = pieces.take<std::int32_t>(vectors * padded_size(matrix_->n));
  }
  memory.bytes = pieces.bytes();
  return memory;
}

std::size_t RowProduct::workspace_bytes(std::int64_t rows, const Detours& detours) const {
  return memory_for(rows, detours, {}).bytes;
}

void RowProduct::launch(const Call& call) const {
  if (call.rows.most == 0) return;
  const bool repeats = call.x.stride == 0 && call.rows.most > 1;
  const Detours detours{.gathers = call.x.index || call.x.first || repeats,
                        .appends = call.out.first != nullptr};
  const Memory memory = memory_for(call.rows.most, detours, call.workspace);
  check(memory.bytes <= call.workspace.bytes, "RowProduct: its workspace is too small");
  if (is_integer())
    multiply_integers(call, memory);
  else
    multiply_reals(call, memory, detours);
}

void RowProduct::multiply_reals(const Call& call, const Memory& memory,
                                const Detours& detours) const {
  const std::int64_t k = matrix_->k, n = matrix_->n;
  const auto columns = static_cast<std::int32_t>(vectors_ * k);
  Product product{.x = call.x.data,
                  .x_stride = vectors_ > 1 ? k : call.x.stride,
                  .rows = call.rows.most * vectors_,
                  .out = detours.appends ? memory.results : call.out.data,
                  .out_stride = vectors_ > 1 || detours.appends ? n : call.out.stride,
                  .bias = call.bias,
                  .relu = call.relu};
  if (memory.converted) {
    const VectorsIn in{call.x, call.rows, static_cast<std::int32_t>(vectors_), k};
    convert_rows(call.stream, in, matrix_->dtype, matrix_->stride, memory.converted);
    product.x = memory.converted;
    product.x_stride = matrix_->stride;
    product.padded = true;
  } else if (detours.gathers) {
    copy_rows(call.stream, call.x, call.rows, columns, {memory.gathered, columns});
    product.x = memory.gathered;
    product.x_stride = k;
  }
  call.blas.product(call.stream, *matrix_, product);
  if (detours.appends)
    copy_rows(call.stream, {.data = memory.results, .stride = vectors_ * n}, call.rows,
              static_cast<std::int32_t>(vectors_ * n), call.out);
}

void RowProduct::multiply_integers(const Call& call, const Memory& memory) const {
  const DType type = quantized_type(matrix_->dtype);
  const auto per_row = static_cast<std::int32_t>(vectors_);
  const VectorsIn in{call.x, call.rows, per_row,
                     static_cast<std::int64_t>(vector_bytes(type, matrix_->k) / sizeof(float))};
  const VectorsOut out{call.out, per_row, matrix_->n};
  if (!memory.sums) {
    integer_products(call.stream, in, *matrix_, out);
    return;
  }
  const std::int64_t stride = padded_size(matrix_->n);
  split_rows(call.stream, in, matrix_->k, matrix_->stride, memory.integers, memory.scales);
  call.blas.product(call.stream, *matrix_,
                    {.x = memory.integers,
                     .x_stride = matrix_->stride,
                     .rows = in.most(),
                     .padded = true,
                     .out = memory.sums,
                     .out_stride = stride,
                     .out_type = DType::i32});
  scale_sums(call.stream, in, memory.sums, stride, memory.scales, *matrix_, out);
}

}  // namespace fuselage::cuda
