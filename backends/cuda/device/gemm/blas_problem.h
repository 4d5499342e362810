#pragma once

#include <cublasLt.h>

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "backends/cuda/device/gemm/blas.h"

namespace fuselage::cuda {

// A product as cuBLASLt describes it.

/// Throws Error with cuBLASLt's message unless `status` is success, and OutOfMemory if memory is
/// short. `what` names the attempted call.
void expect_success(cublasStatus_t status, std::string_view what);

/// The largest alignment that algorithms require, in bytes.
inline constexpr std::uint32_t kBlasAlignment = 16;

/// The alignment of an address: a power of two, at most kBlasAlignment.
std::uint32_t alignment_of(const void* pointer);
/// The same of an address or a distance in bytes.
std::uint32_t alignment_of(std::uintptr_t address);

/// The key of an algorithm choice. cuBLASLt's matrices are column-major, so its A is W, its B the
/// transposed x, and its D the transposed result.
struct BlasProblem {
  DType type, out_type;
  bool bias, relu;
  std::int64_t rows, k, n, matrix_stride, x_stride, out_stride;
  std::uint32_t matrix_alignment, x_alignment, out_alignment;

  /// Checks the product against the comments of Product.
  BlasProblem(const DeviceMatrix& matrix, const Product& product);

  auto operator<=>(const BlasProblem&) const = default;
};

/// "product [8, 256] by [256, 512] of bf16, with ReLU".
std::string show(const BlasProblem& problem);

/// A handle or descriptor of cuBLASLt, freed by kDestroy.
template <typename Pointer, cublasStatus_t (*kDestroy)(Pointer)>
struct Destroy {
  void operator()(Pointer pointer) const { kDestroy(pointer); }
};
template <typename Pointer, cublasStatus_t (*kDestroy)(Pointer)>
using Owned = std::unique_ptr<std::remove_pointer_t<Pointer>, Destroy<Pointer, kDestroy>>;

using BlasHandle = Owned<cublasLtHandle_t, cublasLtDestroy>;
using BlasOperation = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using BlasLayout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using BlasPreference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

template <typename T>
void set(const BlasOperation& operation, cublasLtMatmulDescAttributes_t attribute, const T& value) {
  expect_success(cublasLtMatmulDescSetAttribute(operation.get(), attribute, &value, sizeof value),
                 "attribute of a product");
}

/// A problem's descriptors and algorithm. Without an algorithm cuBLASLt cannot solve it.
struct BlasSolution {
  BlasSolution(const BlasProblem& problem, bool tf32);

  BlasOperation operation;
  BlasLayout matrix, x, out;
  std::optional<cublasLtMatmulAlgo_t> algorithm;
};

}  // namespace fuselage::cuda
