#include "backends/cuda/device/gemm/gemm.h"

#include "backends/cuda/device/gather/copy.h"
#include "backends/cuda/device/gemm/integer_gemm.h"
#include "backends/cuda/device/gemm/round_rows.h"
#include "backends/cuda/device/kernel/bump_allocator.h"
#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"

namespace fuselage::cuda {
namespace {

/// Up to this number of i8 vectors our kernel multiplies; more are split into integers and scales
/// for cuBLASLt.
constexpr std::int64_t kFewVectors = 16;

DType quantized_type(DType integers) {
  return integers == DType::i8 ? DType::qint8 : DType::qint16;
}

}  // namespace

/// The workspace of a launch. Unused arrays are null.
struct Gemm::Memory {
  float* gathered = nullptr;         ///< x [rows, vectors * vector_words()]
  std::uint16_t* rounded = nullptr;  ///< x [rows * vectors, stride], of the matrix's type
  float* results = nullptr;          ///< [rows, vectors * n]
  std::byte* integers = nullptr;     ///< x [rows * vectors, stride]
  float* scales = nullptr;           ///< [rows * vectors]
  std::int32_t* sums = nullptr;      ///< [rows * vectors, padded_size(n)]
  std::size_t bytes = 0;
};

Gemm::Gemm(std::shared_ptr<const DeviceMatrix> matrix, DType x_type, std::int64_t vectors)
    : matrix_(std::move(matrix)), x_type_(x_type), vectors_(vectors) {
  if (is_integer() && x_type == DType::f32) matrix_ = dequantized(*matrix_);
  const bool is_rounded =
      is_half(x_type) && x_type == matrix_->dtype && matrix_->k % kMatrixTile == 0;
  check(is_rounded || x_type == (is_integer() ? quantized_type(matrix_->dtype) : DType::f32),
        "Gemm: rows of another type than the matrix");
}

bool Gemm::is_integer() const {
  return matrix_->dtype == DType::i8 || matrix_->dtype == DType::i16;
}

/// Whether cuBLASLt computes the integer sums, and a second kernel scales them.
bool Gemm::uses_integer_blas(std::int64_t vectors) const {
  return matrix_->dtype == DType::i8 && vectors > kFewVectors;
}

Gemm::Memory Gemm::memory_for(std::int64_t rows, const Staging& staging,
                              Workspace workspace) const {
  const std::int64_t vectors = rows * vectors_;
  BumpAllocator allocator(workspace);
  Memory memory;
  if (rounds_x())
    memory.rounded = allocator.allocate<std::uint16_t>(vectors * matrix_->stride);
  else if (!is_integer() && staging.x)
    memory.gathered = allocator.allocate<float>(vectors * vector_words());
  if (!is_integer() && staging.out)
    memory.results = allocator.allocate<float>(vectors * matrix_->n);
  if (uses_integer_blas(vectors)) {
    memory.integers = allocator.allocate<std::byte>(vectors * matrix_->stride);
    memory.scales = allocator.allocate<float>(vectors);
    memory.sums = allocator.allocate<std::int32_t>(vectors * padded_size(matrix_->n));
  }
  memory.bytes = allocator.used_bytes();
  return memory;
}

std::size_t Gemm::workspace_bytes(std::int64_t rows, const Staging& staging) const {
  return memory_for(rows, staging, {}).bytes;
}

void Gemm::launch(const Call& call) const {
  if (call.rows.max_live == 0) return;
  const bool repeats = call.x.stride == 0 && call.rows.max_live > 1;
  const Staging staging{.x = call.x.index || call.x.first || repeats,
                        .out = call.out.first != nullptr};
  const Memory memory = memory_for(call.rows.max_live, staging, call.workspace);
  check(memory.bytes <= call.workspace.bytes, "Gemm: the workspace is too small");
  if (is_integer())
    multiply_integers(call, memory);
  else
    multiply_reals(call, memory, staging);
}

void Gemm::multiply_reals(const Call& call, const Memory& memory, const Staging& staging) const {
  const std::int64_t k = matrix_->k, n = matrix_->n;
  const auto words = static_cast<std::int32_t>(vectors_ * vector_words());
  Product product{.x = call.x.data,
                  .x_stride = vectors_ > 1 ? k : call.x.stride * k / vector_words(),
                  .rows = call.rows.max_live * vectors_,
                  .out = staging.out ? memory.results : call.out.data,
                  .out_stride = vectors_ > 1 || staging.out ? n : call.out.stride,
                  .bias = call.bias,
                  .relu = call.relu};
  if (memory.rounded) {
    const VectorsIn in{call.x, call.rows, static_cast<std::int32_t>(vectors_), k};
    round_rows(call.stream, in, matrix_->dtype, matrix_->stride,
               {memory.rounded, matrix_->stride, nullptr});
    product.x = memory.rounded;
    product.x_stride = matrix_->stride;
    product.padded = true;
  } else if (staging.x) {
    copy_rows(call.stream, call.x, call.rows, words, {memory.gathered, words});
    product.x = memory.gathered;
    product.x_stride = k;
  }
  if (is_half(x_type_)) product.padded = true;
  call.blas.product(call.stream, *matrix_, product);
  if (staging.out)
    copy_rows(call.stream, {.data = memory.results, .stride = vectors_ * n}, call.rows,
              static_cast<std::int32_t>(vectors_ * n), call.out);
}

void Gemm::multiply_integers(const Call& call, const Memory& memory) const {
  const DType type = quantized_type(matrix_->dtype);
  const auto per_row = static_cast<std::int32_t>(vectors_);
  const VectorsIn in{call.x, call.rows, per_row,
                     static_cast<std::int64_t>(vector_bytes(type, matrix_->k) / sizeof(float))};
  const VectorsOut out{call.out, per_row, matrix_->n};
  if (!memory.sums) {
    integer_gemm(call.stream, in, *matrix_, out);
    return;
  }
  const std::int64_t stride = padded_size(matrix_->n);
  split_rows(call.stream, in, matrix_->k, matrix_->stride, memory.integers, memory.scales);
  call.blas.product(call.stream, *matrix_,
                    {.x = memory.integers,
                     .x_stride = matrix_->stride,
                     .rows = in.max_count(),
                     .padded = true,
                     .out = memory.sums,
                     .out_stride = stride,
                     .out_type = DType::i32});
  scale_sums(call.stream, in, memory.sums, stride, memory.scales, *matrix_, out);
}

}  // namespace fuselage::cuda
