#include "backends/cuda/device/gemm/blas.h"

#include <map>
#include <vector>

#include "backends/cuda/device/gemm/bias_relu.h"
#include "backends/cuda/device/gemm/blas_problem.h"
#include "backends/cuda/device/runtime/memory.h"
#include "base/error.h"

namespace fuselage::cuda {
namespace {

/// What NVIDIA recommends for Hopper.
constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;
constexpr Purpose kWorkspace{"what products need", "use fewer workers (cpu-threads)"};

/// For so many rows the algorithm is chosen that then takes any number of rows.
constexpr std::int64_t kPinnedRows = 512;

BlasHandle make_handle() {
  cublasLtHandle_t handle = nullptr;
  expect_success(cublasLtCreate(&handle), "start of cuBLASLt");
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

  /// Sums over k in one piece each where results must not depend on the number of rows.
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

  /// What the library thinks best, best first, up to `most`.
  std::vector<cublasLtMatmulAlgo_t> ask(const BlasProblem& problem, const BlasSolution& solution,
                                        int most) const {
    std::vector<cublasLtMatmulHeuristicResult_t> found(static_cast<std::size_t>(most));
    int count = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        handle.get(), solution.operation.get(), solution.matrix.get(), solution.x.get(),
        solution.out.get(), solution.out.get(), make_preference(problem).get(), most, found.data(),
        &count);
    if (status != CUBLAS_STATUS_NOT_SUPPORTED) expect_success(status, show(problem));
    std::vector<cublasLtMatmulAlgo_t> algorithms;
    for (int i = 0; i < count; ++i)
      if (found[static_cast<std::size_t>(i)].state == CUBLAS_STATUS_SUCCESS)
        algorithms.push_back(found[static_cast<std::size_t>(i)].algo);
    return algorithms;
  }

  bool takes(const cublasLtMatmulAlgo_t& algorithm, const BlasSolution& solution) const {
    cublasLtMatmulHeuristicResult_t result{};
    const cublasStatus_t status = cublasLtMatmulAlgoCheck(
        handle.get(), solution.operation.get(), solution.matrix.get(), solution.x.get(),
        solution.out.get(), solution.out.get(), &algorithm, &result);
    return status == CUBLAS_STATUS_SUCCESS && result.workspaceSize <= workspace.size_bytes();
  }

  bool takes_any_rows(const cublasLtMatmulAlgo_t& algorithm, BlasProblem problem,
                      const float* bias) const {
    for (const std::int64_t rows : {1, 2, 3, 5, 8, 16, 31, 64, 200, 1024, 4096, 32768}) {
      problem.rows = rows;
      const BlasSolution solution(problem, options.tf32);
      set_bias(solution, bias);
      if (!takes(algorithm, solution)) return false;
    }
    return true;
  }

  /// One algorithm for any number of rows; nothing where there is none.
  const std::optional<cublasLtMatmulAlgo_t>& pinned(BlasProblem problem, const float* bias) {
    constexpr int kCandidates = 16;
    problem.rows = kPinnedRows;
    const auto [entry, is_new] = pins.try_emplace(problem);
    if (!is_new) return entry->second;
    const BlasSolution typical(problem, options.tf32);
    set_bias(typical, bias);
    for (const cublasLtMatmulAlgo_t& algorithm : ask(problem, typical, kCandidates))
      if (takes_any_rows(algorithm, problem, bias)) {
        entry->second = algorithm;
        break;
      }
    return entry->second;
  }

  /// The algorithm for a problem; nothing where the library has none.
  std::optional<cublasLtMatmulAlgo_t> choose(const BlasProblem& problem,
                                             const BlasSolution& solution, const float* bias) {
    if (!options.deterministic) {
      const auto algorithms = ask(problem, solution, 1);
      if (algorithms.empty()) return std::nullopt;
      return algorithms[0];
    }
    const std::optional<cublasLtMatmulAlgo_t>& algorithm = pinned(problem, bias);
    if (algorithm && !takes(*algorithm, solution))
      throw Error(
          "{}: the algorithm for any number of rows cannot take {}; allow other "
          "algorithms for other numbers (deterministic = false)",
          show(problem), problem.rows);
    return algorithm;
  }

  /// Its alignment too tells the library what it can do.
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

void Blas::product(cudaStream_t stream, const DeviceMatrix& matrix, const Product& product) {
  if (product.rows == 0) return;
  BlasProblem problem(matrix, product);
  // What the library does not do with the product comes behind it.
  const bool is_aligned = !product.bias || alignment_of(product.bias) == kBlasAlignment;
  const BlasSolution* solution = is_aligned ? &state_->solve(problem, product.bias) : nullptr;
  const bool apart = !solution || (!solution->algorithm && (problem.bias || problem.relu));
  if (apart) {
    problem.bias = problem.relu = false;
    solution = &state_->solve(problem, nullptr);
  }
  if (!solution->algorithm)
    throw Error("{}: cuBLASLt {} has no algorithm{}", show(problem), cublasLtGetVersion(),
                state_->options.deterministic
                    ? " that takes any number of rows; allow other algorithms for other "
                      "numbers (deterministic = false)"
                    : "; choose another precision");
  state_->multiply(stream, *solution, matrix.data, product, problem);
  if (apart)
    finish_rows(stream, static_cast<float*>(product.out), problem.out_stride, product.rows,
                matrix.n, product.bias, product.relu);
}

}  // namespace fuselage::cuda
