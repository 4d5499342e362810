#include "backends/cuda/device/gemm/blas_problem.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuselage/base/error.h"

namespace fuselage::cuda {
namespace {

void verify(const BlasProblem& problem, bool padded) {
  const bool is_f32 = problem.type == DType::f32;
  const bool is_half = problem.type == DType::bf16 || problem.type == DType::f16;
  const bool is_i8 = problem.type == DType::i8;
  check(is_f32 || is_half || is_i8, "Blas: unsupported type of matrix");
  check(problem.out_type == (is_i8 ? DType::i32 : DType::f32) ||
            (is_half && problem.out_type == problem.type),
        "Blas: unsupported type of result");
  check(!is_i8 || padded, "Blas: rows of i8 must be padded");
  check(!(problem.bias || problem.relu) || problem.out_type == DType::f32,
        "Blas: a bias and ReLU need a result of f32");
  check(problem.x_stride >= problem.k && problem.out_stride >= problem.n, "Blas: rows overlap");
}

cudaDataType_t cuda_type(DType dtype) {
  switch (dtype) {
    case DType::bf16:
      return CUDA_R_16BF;
    case DType::f16:
      return CUDA_R_16F;
    case DType::i8:
      return CUDA_R_8I;
    case DType::i32:
      return CUDA_R_32I;
    default:
      return CUDA_R_32F;
  }
}

cublasComputeType_t compute_type(DType dtype, bool tf32) {
  if (dtype == DType::i8) return CUBLAS_COMPUTE_32I;
  if (dtype != DType::f32) return CUBLAS_COMPUTE_32F;
  return tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F_PEDANTIC;
}

cublasLtEpilogue_t epilogue_of(const BlasProblem& problem) {
  if (problem.bias) return problem.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
  return problem.relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT;
}

BlasOperation make_operation(const BlasProblem& problem, bool tf32) {
  cublasLtMatmulDesc_t created = nullptr;
  expect_success(cublasLtMatmulDescCreate(&created, compute_type(problem.type, tf32),
                                          problem.type == DType::i8 ? CUDA_R_32I : CUDA_R_32F),
                 "description of a product");
  BlasOperation operation(created);
  set(operation, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
  set(operation, CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_N);
  set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(problem));
  return operation;
}

/// The layout of a column-major matrix.
BlasLayout make_layout(DType dtype, std::int64_t rows, std::int64_t columns, std::int64_t stride) {
  cublasLtMatrixLayout_t layout = nullptr;
  expect_success(
      cublasLtMatrixLayoutCreate(&layout, cuda_type(dtype), static_cast<std::uint64_t>(rows),
                                 static_cast<std::uint64_t>(columns), stride),
      "layout of a matrix");
  return BlasLayout(layout);
}

}  // namespace

void expect_success(cublasStatus_t status, std::string_view what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const std::string message =
      fmt::format("{}: cuBLASLt failed: {}", what, cublasLtGetStatusString(status));
  if (status == CUBLAS_STATUS_ALLOC_FAILED) throw OutOfMemory(message);
  throw Error(message);
}

std::uint32_t alignment_of(const void* pointer) {
  return alignment_of(reinterpret_cast<std::uintptr_t>(pointer));
}

std::uint32_t alignment_of(std::uintptr_t address) {
  std::uint32_t alignment = kBlasAlignment;
  while (address % alignment != 0) alignment /= 2;
  return alignment;
}

BlasProblem::BlasProblem(const DeviceMatrix& matrix, const Product& product)
    : type(matrix.dtype),
      out_type(product.out_type),
      bias(product.bias != nullptr),
      relu(product.relu),
      rows(product.rows),
      k(product.padded ? matrix.stride : matrix.k),
      n(matrix.dtype == DType::i8 ? padded_size(matrix.n) : matrix.n),
      matrix_stride(matrix.stride),
      // The stride of a single row has no effect, but must be valid.
      x_stride(rows == 1 ? std::max(product.x_stride, k) : product.x_stride),
      out_stride(rows == 1 ? std::max(product.out_stride, n) : product.out_stride),
      matrix_alignment(alignment_of(matrix.data)),
      x_alignment(alignment_of(product.x)),
      out_alignment(alignment_of(product.out)) {
  verify(*this, product.padded);
}

std::string show(const BlasProblem& problem) {
  return fmt::format("product [{}, {}] by [{}, {}] of {}{}{}", problem.rows, problem.k, problem.k,
                     problem.n, to_string(problem.type), problem.bias ? ", with a bias" : "",
                     problem.relu ? ", with ReLU" : "");
}

BlasSolution::BlasSolution(const BlasProblem& problem, bool tf32)
    : operation(make_operation(problem, tf32)),
      matrix(make_layout(problem.type, problem.k, problem.n, problem.matrix_stride)),
      x(make_layout(problem.type, problem.k, problem.rows, problem.x_stride)),
      out(make_layout(problem.out_type, problem.n, problem.rows, problem.out_stride)) {}

}  // namespace fuselage::cuda
