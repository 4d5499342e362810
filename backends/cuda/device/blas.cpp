#include "backends/cuda/device/blas.h"

#include <cublasLt.h>

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <string>
#include <type_traits>

#include "backends/cuda/device/finish_rows.h"
#include "backends/cuda/device/launch.h"
#include "base/error.h"

namespace fuselage::cuda {
namespace {

/// What NVIDIA recommends for Hopper.
constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;

/// For so many rows the algorithm is chosen that then takes any number of rows.
constexpr std::int64_t kPinnedRows = 512;

/// The largest alignment that algorithms ask for, in bytes.
constexpr std::uint32_t kAlignment = 16;

/// All that the choice of an algorithm depends on. cuBLASLt's matrices are stored by columns, so
/// its A is W, its B the transposed x and its D the transposed result.
struct Problem {
  DType type, out_type;
  bool bias, relu;
  std::int64_t rows, k, n, matrix_stride, x_stride, out_stride;
  std::uint32_t matrix_alignment, x_alignment, out_alignment;

  auto operator<=>(const Problem&) const = default;
};

std::string show(const Problem& problem) {
  return fmt::format("product [{}, {}] by [{}, {}] of {}{}{}", problem.rows, problem.k, problem.k,
                     problem.n, to_string(problem.type), problem.bias ? ", with a bias" : "",
                     problem.relu ? ", with ReLU" : "");
}

void expect_success(cublasStatus_t status, std::string_view what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw Error("{}: cuBLASLt says '{}'", what, cublasLtGetStatusString(status));
}

std::uint32_t alignment_of(const void* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  std::uint32_t alignment = kAlignment;
  while (address % alignment != 0) alignment /= 2;
  return alignment;
}

std::int64_t round_up_to_16(std::int64_t count) { return (count + 15) / 16 * 16; }

Problem problem_of(const DeviceMatrix& matrix, const Product& product) {
  const std::int64_t n = matrix.dtype == DType::i8 ? round_up_to_16(matrix.n) : matrix.n;
  const std::int64_t k = product.padded ? matrix.stride : matrix.k;
  return {.type = matrix.dtype,
          .out_type = product.out_type,
          .bias = product.bias != nullptr,
          .relu = product.relu,
          .rows = product.rows,
          .k = k,
          .n = n,
          .matrix_stride = matrix.stride,
          // A stride counts for nothing with one row, but it must be one.
          .x_stride = product.rows == 1 ? std::max(product.x_stride, k) : product.x_stride,
          .out_stride = product.rows == 1 ? std::max(product.out_stride, n) : product.out_stride,
          .matrix_alignment = alignment_of(matrix.data),
          .x_alignment = alignment_of(product.x),
          .out_alignment = alignment_of(product.out)};
}

void verify(const Problem& problem, bool padded) {
  const bool is_f32 = problem.type == DType::f32;
  const bool is_half = problem.type == DType::bf16 || problem.type == DType::f16;
  const bool is_i8 = problem.type == DType::i8;
  check(is_f32 || is_half || is_i8, "Blas: a matrix of another type");
  check(problem.out_type == (is_i8 ? DType::i32 : DType::f32) ||
            (is_half && problem.out_type == problem.type),
        "Blas: a result of another type");
  check(!is_i8 || padded, "Blas: rows of i8 must be padded");
  check(!(problem.bias || problem.relu) || problem.out_type == DType::f32,
        "Blas: a bias and ReLU go with f32");
  check(problem.x_stride >= problem.k && problem.out_stride >= problem.n,
        "Blas: rows overlap one another");
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

cublasLtEpilogue_t epilogue_of(const Problem& problem) {
  if (problem.bias) return problem.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
  return problem.relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT;
}

/// Something of the library's that is freed by `destroy`.
template <typename Pointer, cublasStatus_t (*destroy)(Pointer)>
struct Destroy {
  void operator()(Pointer pointer) const { destroy(pointer); }
};
template <typename Pointer, cublasStatus_t (*destroy)(Pointer)>
using Owned = std::unique_ptr<std::remove_pointer_t<Pointer>, Destroy<Pointer, destroy>>;

using Handle = Owned<cublasLtHandle_t, cublasLtDestroy>;
using Operation = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Layout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Preference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

Handle make_handle() {
  cublasLtHandle_t handle = nullptr;
  expect_success(cublasLtCreate(&handle), "start of cuBLASLt");
  return Handle(handle);
}

template <typename T>
void set(const Operation& operation, cublasLtMatmulDescAttributes_t attribute, const T& value) {
  expect_success(cublasLtMatmulDescSetAttribute(operation.get(), attribute, &value, sizeof value),
                 "attribute of a product");
}

template <typename T>
void set(const Preference& preference, cublasLtMatmulPreferenceAttributes_t attribute,
         const T& value) {
  expect_success(
      cublasLtMatmulPreferenceSetAttribute(preference.get(), attribute, &value, sizeof value),
      "preference of a product");
}

Operation make_operation(const Problem& problem, bool tf32) {
  cublasLtMatmulDesc_t created = nullptr;
  expect_success(cublasLtMatmulDescCreate(&created, compute_type(problem.type, tf32),
                                          problem.type == DType::i8 ? CUDA_R_32I : CUDA_R_32F),
                 "description of a product");
  Operation operation(created);
  set(operation, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
  set(operation, CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_N);
  set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(problem));
  return operation;
}

/// A matrix that is stored by columns.
Layout make_layout(DType dtype, std::int64_t rows, std::int64_t columns, std::int64_t stride) {
  cublasLtMatrixLayout_t layout = nullptr;
  expect_success(
      cublasLtMatrixLayoutCreate(&layout, cuda_type(dtype), static_cast<std::uint64_t>(rows),
                                 static_cast<std::uint64_t>(columns), stride),
      "layout of a matrix");
  return Layout(layout);
}

using Algorithm = std::optional<cublasLtMatmulAlgo_t>;

/// A problem in the library's words, and how it is solved; without an algorithm there is no way.
struct Solution {
  Solution(const Problem& problem, bool tf32)
      : operation(make_operation(problem, tf32)),
        matrix(make_layout(problem.type, problem.k, problem.n, problem.matrix_stride)),
        x(make_layout(problem.type, problem.k, problem.rows, problem.x_stride)),
        out(make_layout(problem.out_type, problem.n, problem.rows, problem.out_stride)) {}

  Operation operation;
  Layout matrix, x, out;
  Algorithm algorithm;
};

struct Free {
  void operator()(std::byte* memory) const { cudaFree(memory); }
};

std::unique_ptr<std::byte, Free> allocate(std::size_t bytes) {
  void* memory = nullptr;
  fuselage::cuda::expect_success(cudaMalloc(&memory, bytes), "memory for products");
  return std::unique_ptr<std::byte, Free>(static_cast<std::byte*>(memory));
}

}  // namespace

struct Blas::State {
  explicit State(const BlasOptions& wanted)
      : options(wanted),
        handle(make_handle()),
        workspace(wanted.deterministic ? nullptr : allocate(kWorkspaceBytes)),
        workspace_bytes(wanted.deterministic ? 0 : kWorkspaceBytes) {}

  /// Sums over k in one piece each where results must not depend on the number of rows.
  Preference make_preference(const Problem& problem) const {
    cublasLtMatmulPreference_t created = nullptr;
    expect_success(cublasLtMatmulPreferenceCreate(&created), "preferences of a product");
    Preference preference(created);
    set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace_bytes);
    const auto schemes = static_cast<std::uint32_t>(
        options.deterministic ? CUBLASLT_REDUCTION_SCHEME_NONE : CUBLASLT_REDUCTION_SCHEME_MASK);
    set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, schemes);
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, problem.matrix_alignment);
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, problem.x_alignment);
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, problem.out_alignment);
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, problem.out_alignment);
    return preference;
  }

  /// What the library thinks best; nothing where it has nothing.
  Algorithm ask(const Problem& problem, const Solution& solution) const {
    cublasLtMatmulHeuristicResult_t found{};
    int count = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        handle.get(), solution.operation.get(), solution.matrix.get(), solution.x.get(),
        solution.out.get(), solution.out.get(), make_preference(problem).get(), 1, &found, &count);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED) return std::nullopt;
    expect_success(status, show(problem));
    if (count == 0 || found.state != CUBLAS_STATUS_SUCCESS) return std::nullopt;
    return found.algo;
  }

  /// One algorithm for any number of rows; nothing where there is none.
  const Algorithm& pinned(Problem problem, const float* bias) {
    problem.rows = kPinnedRows;
    const auto [entry, is_new] = pins.try_emplace(problem);
    if (is_new) {
      const Solution typical(problem, options.tf32);
      set_bias(typical, bias);
      entry->second = ask(problem, typical);
    }
    return entry->second;
  }

  /// Throws Error unless the solution's algorithm can take the problem.
  void verify_pinned(const Problem& problem, const Solution& solution) const {
    cublasLtMatmulHeuristicResult_t result{};
    const cublasStatus_t status = cublasLtMatmulAlgoCheck(
        handle.get(), solution.operation.get(), solution.matrix.get(), solution.x.get(),
        solution.out.get(), solution.out.get(), &*solution.algorithm, &result);
    if (status != CUBLAS_STATUS_SUCCESS || result.workspaceSize > workspace_bytes)
      throw Error(
          "{}: the algorithm for {} rows cannot take {} of them (cuBLASLt says '{}'); run it "
          "without --deterministic",
          show(problem), kPinnedRows, problem.rows, cublasLtGetStatusString(status));
  }

  /// Its alignment too tells the library what it can do.
  static void set_bias(const Solution& solution, const float* bias) {
    if (bias) set(solution.operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  }

  const Solution& solve(const Problem& problem, const float* bias) {
    const auto [entry, is_new] = solutions.try_emplace(problem, problem, options.tf32);
    Solution& solution = entry->second;
    set_bias(solution, bias);
    if (!is_new) return solution;
    solution.algorithm = options.deterministic ? pinned(problem, bias) : ask(problem, solution);
    if (options.deterministic && solution.algorithm) verify_pinned(problem, solution);
    return solution;
  }

  void multiply(cudaStream_t stream, const Solution& solution, const void* matrix,
                const Product& product, const Problem& problem) const {
    const float one = 1, zero = 0;
    const std::int32_t integer_one = 1, integer_zero = 0;
    const bool integers = problem.type == DType::i8;
    const void* alpha = integers ? static_cast<const void*>(&integer_one) : &one;
    const void* beta = integers ? static_cast<const void*>(&integer_zero) : &zero;
    expect_success(cublasLtMatmul(handle.get(), solution.operation.get(), alpha, matrix,
                                  solution.matrix.get(), product.x, solution.x.get(), beta,
                                  product.out, solution.out.get(), product.out, solution.out.get(),
                                  &*solution.algorithm, workspace.get(), workspace_bytes, stream),
                   show(problem));
  }

  BlasOptions options;
  Handle handle;
  std::unique_ptr<std::byte, Free> workspace;
  std::size_t workspace_bytes;
  std::map<Problem, Solution> solutions;
  std::map<Problem, Algorithm> pins;
};

Blas::Blas(const BlasOptions& options) : state_(std::make_unique<State>(options)) {}
Blas::~Blas() = default;

void Blas::product(cudaStream_t stream, const DeviceMatrix& matrix, const Product& product) {
  if (product.rows == 0) return;
  Problem problem = problem_of(matrix, product);
  verify(problem, product.padded);
  // What the library does not do with the product comes behind it.
  const bool is_aligned = !product.bias || alignment_of(product.bias) == kAlignment;
  const Solution* solution = is_aligned ? &state_->solve(problem, product.bias) : nullptr;
  const bool apart = !solution || (!solution->algorithm && (problem.bias || problem.relu));
  if (apart) {
    problem.bias = problem.relu = false;
    solution = &state_->solve(problem, nullptr);
  }
  if (!solution->algorithm)
    throw Error("{}: cuBLASLt {} has no algorithm; choose another --precision", show(problem),
                cublasLtGetVersion());
  state_->multiply(stream, *solution, matrix.data, product, problem);
  if (apart)
    finish_rows(stream, static_cast<float*>(product.out), problem.out_stride, product.rows,
                matrix.n, product.bias, product.relu);
}

}  // namespace fuselage::cuda
