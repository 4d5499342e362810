#include "backends/cuda/device/gemm/blas.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "backends/cuda/device/gemm/bias_relu.h"
#include "backends/cuda/device/gemm/blas_problem.h"
#include "backends/cuda/device/gemm/fixed_order_product.h"
#include "backends/cuda/device/runtime/memory.h"
#include "fuselage/base/error.h"

namespace fuselage::cuda {
namespace {

/// NVIDIA's recommendation for Hopper.
constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;
constexpr Purpose kWorkspace{"the workspace of cuBLASLt", "use fewer workers (cpu-threads)"};

/// The numbers of rows for which the heuristic is asked for a deterministic algorithm, in order.
/// Its algorithms for many rows may refuse a single one, and the other way round.
constexpr std::array<std::int64_t, 4> kPinnedRows = {512, 64, 8, 1};

/// Numbers of rows that a deterministic algorithm must support. Others can be divided into these.
constexpr std::array<std::int64_t, 12> kSupportedRows = {1,  2,  3,   5,    8,    16,
                                                         31, 64, 200, 1024, 4096, 32768};

/// The largest number of kSupportedRows that is less than `rows`, which is at least 2.
std::int64_t first_part(std::int64_t rows) {
  return *(std::lower_bound(kSupportedRows.begin(), kSupportedRows.end(), rows) - 1);
}

BlasHandle make_handle() {
  cublasLtHandle_t handle = nullptr;
  expect_success(cublasLtCreate(&handle), "initialization of cuBLASLt");
  return BlasHandle(handle);
}

template <typename T>
void set(const BlasPreference& preference, cublasLtMatmulPreferenceAttributes_t attribute,
         const T& value) {
  expect_success(
      cublasLtMatmulPreferenceSetAttribute(preference.get(), attribute, &value, sizeof value),
      "preference of a product");
}

}  // namespace

struct Blas::State {
  explicit State(const BlasOptions& wanted)
      : options(wanted),
        handle(make_handle()),
        workspace(wanted.deterministic ? 0 : kWorkspaceBytes, kWorkspace) {}

  /// Without split-k if deterministic: the split could depend on the number of rows.
  BlasPreference make_preference(const BlasProblem& problem) const {
    cublasLtMatmulPreference_t created = nullptr;
    expect_success(cublasLtMatmulPreferenceCreate(&created), "preferences of a product");
    BlasPreference preference(created);
    set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace.size_bytes());
    const auto schemes = static_cast<std::uint32_t>(
        options.deterministic ? CUBLASLT_REDUCTION_SCHEME_NONE : CUBLASLT_REDUCTION_SCHEME_MASK);
    set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, schemes);
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, problem.matrix_alignment);
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, problem.x_alignment);
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, problem.out_alignment);
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, problem.out_alignment);
    return preference;
  }

  /// Up to max_count algorithms of the library's heuristic, best first.
  std::vector<cublasLtMatmulAlgo_t> heuristic(const BlasProblem& problem,
                                              const BlasSolution& solution, int max_count) const {
    std::vector<cublasLtMatmulHeuristicResult_t> found(static_cast<std::size_t>(max_count));
    int count = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        handle.get(), solution.operation.get(), solution.matrix.get(), solution.x.get(),
        solution.out.get(), solution.out.get(), make_preference(problem).get(), max_count,
        found.data(), &count);
    if (status != CUBLAS_STATUS_NOT_SUPPORTED) expect_success(status, show(problem));
    std::vector<cublasLtMatmulAlgo_t> algorithms;
    for (int i = 0; i < count; ++i)
      if (found[static_cast<std::size_t>(i)].state == CUBLAS_STATUS_SUCCESS)
        algorithms.push_back(found[static_cast<std::size_t>(i)].algo);
    return algorithms;
  }

  bool supports(const cublasLtMatmulAlgo_t& algorithm, const BlasSolution& solution) const {
    cublasLtMatmulHeuristicResult_t result{};
    const cublasStatus_t status = cublasLtMatmulAlgoCheck(
        handle.get(), solution.operation.get(), solution.matrix.get(), solution.x.get(),
        solution.out.get(), solution.out.get(), &algorithm, &result);
    return status == CUBLAS_STATUS_SUCCESS && result.workspaceSize <= workspace.size_bytes();
  }

  bool supports_any_rows(const cublasLtMatmulAlgo_t& algorithm, BlasProblem problem,
                         const float* bias) const {
    for (const std::int64_t rows : kSupportedRows) {
      problem.rows = rows;
      const BlasSolution solution(problem, options.tf32);
      set_bias(solution, bias);
      if (!supports(algorithm, solution)) return false;
    }
    return true;
  }

  /// One algorithm for any number of rows; nullopt if the library has none.
  const std::optional<cublasLtMatmulAlgo_t>& pinned(BlasProblem problem, const float* bias) {
    constexpr int kCandidates = 16;
    problem.rows = kPinnedRows[0];
    // The alignment of any row, so that parts of a product have the algorithm of the whole.
    const auto of_rows = [](std::uint32_t first, std::int64_t stride, DType type) {
      const auto bytes = static_cast<std::uintptr_t>(stride) * size_of(type);
      return std::min(first, alignment_of(bytes));
    };
    problem.x_alignment = of_rows(problem.x_alignment, problem.x_stride, problem.type);
    problem.out_alignment = of_rows(problem.out_alignment, problem.out_stride, problem.out_type);
    const auto [entry, is_new] = pins.try_emplace(problem);
    if (!is_new) return entry->second;
    for (const std::int64_t rows : kPinnedRows) {
      problem.rows = rows;
      const BlasSolution typical(problem, options.tf32);
      set_bias(typical, bias);
      for (const cublasLtMatmulAlgo_t& algorithm : heuristic(problem, typical, kCandidates))
        if (supports_any_rows(algorithm, problem, bias)) {
          entry->second = algorithm;
          return entry->second;
        }
    }
    return entry->second;
  }

  /// Whether all rows must be computed by one algorithm. Sums of integers are exact in any order.
  bool needs_pinned(const BlasProblem& problem) const {
    return options.deterministic && problem.type != DType::i8;
  }

  /// Whether the rows must be divided: their algorithm does not support so many.
  bool must_divide(const BlasProblem& problem, const float* bias) {
    return needs_pinned(problem) && problem.rows > 1 && pinned(problem, bias).has_value();
  }

  /// The algorithm for a problem; nullopt if the library has none.
  std::optional<cublasLtMatmulAlgo_t> choose(const BlasProblem& problem,
                                             const BlasSolution& solution, const float* bias) {
    if (!needs_pinned(problem)) {
      const auto algorithms = heuristic(problem, solution, 1);
      if (algorithms.empty()) return std::nullopt;
      return algorithms[0];
    }
    const std::optional<cublasLtMatmulAlgo_t>& algorithm = pinned(problem, bias);
    if (algorithm && !supports(*algorithm, solution)) return std::nullopt;
    return algorithm;
  }

  /// The heuristic reads the pointer's alignment.
  static void set_bias(const BlasSolution& solution, const float* bias) {
    if (bias) set(solution.operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  }

  const BlasSolution& solve(const BlasProblem& problem, const float* bias) {
    const auto [entry, is_new] = solutions.try_emplace(problem, problem, options.tf32);
    BlasSolution& solution = entry->second;
    set_bias(solution, bias);
    if (is_new) solution.algorithm = choose(problem, solution, bias);
    return solution;
  }

  void multiply(cudaStream_t stream, const BlasSolution& solution, const void* matrix,
                const Product& product, const BlasProblem& problem) const {
    const float one = 1, zero = 0;
    const std::int32_t integer_one = 1, integer_zero = 0;
    const bool integers = problem.type == DType::i8;
    const void* alpha = integers ? static_cast<const void*>(&integer_one) : &one;
    const void* beta = integers ? static_cast<const void*>(&integer_zero) : &zero;
    expect_success(
        cublasLtMatmul(handle.get(), solution.operation.get(), alpha, matrix, solution.matrix.get(),
                       product.x, solution.x.get(), beta, product.out, solution.out.get(),
                       product.out, solution.out.get(), &*solution.algorithm, workspace.data(),
                       workspace.size_bytes(), stream),
        show(problem));
  }

  BlasOptions options;
  BlasHandle handle;
  DeviceMemory workspace;
  std::map<BlasProblem, BlasSolution> solutions;
  std::map<BlasProblem, std::optional<cublasLtMatmulAlgo_t>> pins;
};

Blas::Blas(const BlasOptions& options) : state_(std::make_unique<State>(options)) {}
Blas::~Blas() = default;

bool Blas::is_deterministic() const { return state_->options.deterministic; }

void Blas::product(cudaStream_t stream, const DeviceMatrix& matrix, const Product& product) {
  if (product.rows == 0) return;
  BlasProblem problem(matrix, product);
  // Bias and ReLU run as a separate kernel where the library has no epilogue for them.
  const bool is_aligned = !product.bias || alignment_of(product.bias) == kBlasAlignment;
  const BlasSolution* solution = is_aligned ? &state_->solve(problem, product.bias) : nullptr;
  if (solution && !solution->algorithm && state_->must_divide(problem, product.bias))
    return divide(stream, matrix, product);
  const bool is_separate = !solution || (!solution->algorithm && (problem.bias || problem.relu));
  if (is_separate) {
    problem.bias = problem.relu = false;
    solution = &state_->solve(problem, nullptr);
    if (!solution->algorithm && state_->must_divide(problem, nullptr))
      return divide(stream, matrix, product);
  }
  if (solution->algorithm)
    state_->multiply(stream, *solution, matrix.data, product, problem);
  else if (state_->needs_pinned(problem))
    fixed_order_product(stream, matrix, product, problem.k);
  else
    throw Error(fmt::format("{}: cuBLASLt {} has no algorithm; use another precision",
                            show(problem), cublasLtGetVersion()));
  if (is_separate)
    add_bias_relu(stream, static_cast<float*>(product.out), problem.out_stride, product.rows,
                  matrix.n, product.bias, product.relu);
}

void Blas::divide(cudaStream_t stream, const DeviceMatrix& matrix, const Product& whole) {
  Product first = whole, rest = whole;
  first.rows = first_part(whole.rows);
  rest.rows -= first.rows;
  const auto skip = [&](auto* data, std::int64_t stride, DType type) {
    return data + static_cast<std::size_t>(first.rows * stride) * size_of(type);
  };
  rest.x = skip(static_cast<const std::byte*>(whole.x), whole.x_stride, matrix.dtype);
  rest.out = skip(static_cast<std::byte*>(whole.out), whole.out_stride, whole.out_type);
  product(stream, matrix, first);
  product(stream, matrix, rest);
}

}  // namespace fuselage::cuda
