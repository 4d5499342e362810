// cuBLASLt's matrix products, with its rules for them.
#include <cublasLt.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "device_memory.h"
#include "matrix_product.h"
#include "stream.h"

struct cublasLtContext {};

namespace {

struct Layout {
  cudaDataType_t type;
  std::int64_t rows, columns, stride;
};

struct Operation {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  cublasOperation_t transpose_a = CUBLAS_OP_N, transpose_b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
};

struct Preference {
  std::uint64_t workspace = 0;
  std::uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
};

struct Problem {
  const Operation& operation;
  const Layout &a, &b, &c, &d;

  std::int64_t k() const { return operation.transpose_a == CUBLAS_OP_N ? a.columns : a.rows; }
  bool has_bias() const {
    return operation.epilogue == CUBLASLT_EPILOGUE_BIAS ||
           operation.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
  }
  bool has_relu() const {
    return operation.epilogue == CUBLASLT_EPILOGUE_RELU ||
           operation.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
  }
};

// The first word of an algorithm: 0 sums over k at once, kSplitsK splits k in two. kManyRows: it is
// for many rows of odd vectors of bf16.
constexpr std::uint64_t kSplitsK = 1;
constexpr std::uint64_t kManyRows = 2;

// Rules that stand for those of the library, whose algorithms for 16-bit numbers do not support all
// numbers of rows: on an H200 no algorithm of cuBLASLt 13.1 did, for rows of 264 numbers of bf16.
bool has_odd_vectors(const Problem& p) { return p.a.type == CUDA_R_16BF && p.k() % 16 != 0; }
std::uint64_t kind_of(const Problem& p) {
  constexpr std::int64_t kMany = 64;
  return has_odd_vectors(p) && p.d.columns >= kMany ? kManyRows : 0;
}
bool refuses_rows(const Problem& p, const cublasLtMatmulAlgo_t& algorithm) {
  constexpr std::int64_t kTile = 64;
  if (has_odd_vectors(p)) return (algorithm.data[0] & kManyRows) != kind_of(p);
  return p.a.type == CUDA_R_16F && p.d.columns > kTile && p.d.columns % kTile == 2;
}

template <typename Mine, typename Opaque>
Mine& of(Opaque opaque) {
  return *reinterpret_cast<Mine*>(opaque);
}

Problem problem_of(cublasLtMatmulDesc_t operation, cublasLtMatrixLayout_t a,
                   cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d) {
  return {of<Operation>(operation), of<Layout>(a), of<Layout>(b), of<Layout>(c), of<Layout>(d)};
}

template <typename T>
cublasStatus_t take(T& place, const void* value, std::size_t bytes) {
  if (bytes != sizeof(T)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&place, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

bool fits(const Problem& p) {
  const bool turned = p.operation.transpose_b != CUBLAS_OP_N;
  const std::int64_t m = p.operation.transpose_a == CUBLAS_OP_N ? p.a.rows : p.a.columns;
  return m == p.d.rows && (turned ? p.b.columns : p.b.rows) == p.k() &&
         (turned ? p.b.rows : p.b.columns) == p.d.columns && p.c.rows == p.d.rows &&
         p.c.columns == p.d.columns;
}

// The table "cublasLtMatmul supported data types" of cuBLAS' manual.
bool types_supported(const Problem& p) {
  if (p.a.type != p.b.type || p.c.type != p.d.type) return false;
  const cudaDataType_t in = p.a.type, out = p.d.type;
  switch (p.operation.compute) {
    case CUBLAS_COMPUTE_32I:
      return p.operation.scale == CUDA_R_32I && in == CUDA_R_8I && out == CUDA_R_32I;
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      return p.operation.scale == CUDA_R_32F && in == CUDA_R_32F && out == CUDA_R_32F;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
      if (p.operation.scale != CUDA_R_32F) return false;
      return in == CUDA_R_32F
                 ? out == CUDA_R_32F
                 : (in == CUDA_R_16BF || in == CUDA_R_16F) && (out == in || out == CUDA_R_32F);
    default:
      return false;
  }
}

bool integers_supported(const Problem& p) {
  if (p.a.type != CUDA_R_8I) return true;
  const bool by_four = p.d.rows % 4 == 0 && p.k() % 4 == 0 && p.a.stride % 4 == 0 &&
                       p.b.stride % 4 == 0 && p.d.stride % 4 == 0;
  return by_four && p.operation.transpose_a == CUBLAS_OP_T &&
         p.operation.transpose_b == CUBLAS_OP_N &&
         p.operation.epilogue == CUBLASLT_EPILOGUE_DEFAULT;
}

cublasStatus_t verify(const Problem& p) {
  if (!fits(p)) return CUBLAS_STATUS_INVALID_VALUE;
  const bool empty = p.d.rows <= 0 || p.d.columns <= 0 || p.k() <= 0;
  if (empty || !types_supported(p) || !integers_supported(p)) return CUBLAS_STATUS_NOT_SUPPORTED;
  const bool known =
      p.has_bias() || p.has_relu() || p.operation.epilogue == CUBLASLT_EPILOGUE_DEFAULT;
  return known ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

std::size_t workspace_of(const Problem& p) {
  return static_cast<std::size_t>(2 * 4 * p.d.rows * p.d.columns);
}

cublasLtMatmulHeuristicResult_t solution(const Problem& p, bool splits_k) {
  cublasLtMatmulHeuristicResult_t result{};
  result.algo.data[0] = kind_of(p) | (splits_k ? kSplitsK : 0);
  result.workspaceSize = splits_k ? workspace_of(p) : 0;
  result.state = CUBLAS_STATUS_SUCCESS;
  result.wavesCount = 1;
  return result;
}

// Whether the matrix is in device memory, with the alignment that its type needs.
bool readable(const void* data, const Layout& layout) {
  const std::int64_t size = emulated_cuda::size_of(layout.type);
  const std::int64_t elements = (layout.columns - 1) * layout.stride + layout.rows;
  const auto alignment =
      static_cast<std::uintptr_t>(std::max<std::int64_t>(size, layout.type == CUDA_R_8I ? 4 : 1));
  return reinterpret_cast<std::uintptr_t>(data) % alignment == 0 &&
         emulated_cuda::device_memory().holds(data, static_cast<std::size_t>(elements * size));
}

double number(const void* value, cudaDataType_t type) {
  return type == CUDA_R_32I ? *static_cast<const std::int32_t*>(value)
                            : static_cast<double>(*static_cast<const float*>(value));
}

emulated_cuda::MatrixProduct product_of(const Problem& p, const void* a, const void* b,
                                        const void* c, void* d) {
  emulated_cuda::MatrixProduct product;
  product.m = p.d.rows;
  product.n = p.d.columns;
  product.k = p.k();
  product.a = {a, p.a.type, p.a.stride, p.operation.transpose_a != CUBLAS_OP_N};
  product.b = {b, p.b.type, p.b.stride, p.operation.transpose_b != CUBLAS_OP_N};
  product.c = c;
  product.result = d;
  product.type = p.d.type;
  product.c_stride = p.c.stride;
  product.result_stride = p.d.stride;
  product.bias = p.has_bias() ? p.operation.bias : nullptr;
  product.relu = p.has_relu();
  product.tf32 = p.operation.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
  return product;
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = new cublasLtContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
size_t cublasLtGetVersion() { return CUBLAS_VERSION; }

const char* cublasLtGetStatusName(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    default:
      return "a status of the emulated cuBLASLt";
  }
}
const char* cublasLtGetStatusString(cublasStatus_t status) { return cublasLtGetStatusName(status); }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* created, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  *created = reinterpret_cast<cublasLtMatmulDesc_t>(new Operation{compute, scale});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t operation) {
  delete &of<Operation>(operation);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t opaque,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t bytes) {
  auto& operation = of<Operation>(opaque);
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return take(operation.transpose_a, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return take(operation.transpose_b, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return take(operation.epilogue, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return take(operation.bias, value, bytes);
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* created, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t stride) {
  if (stride < static_cast<int64_t>(rows)) return CUBLAS_STATUS_INVALID_VALUE;
  *created = reinterpret_cast<cublasLtMatrixLayout_t>(
      new Layout{type, static_cast<int64_t>(rows), static_cast<int64_t>(columns), stride});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete &of<Layout>(layout);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* created) {
  *created = reinterpret_cast<cublasLtMatmulPreference_t>(new Preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete &of<Preference>(preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t opaque,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value, size_t bytes) {
  auto& preference = of<Preference>(opaque);
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      return take(preference.workspace, value, bytes);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
      return take(preference.reductions, value, bytes);
    default:
      return CUBLAS_STATUS_SUCCESS;  // a limit without effect here
  }
}

// Splits k for few columns, as the library does: a row's sums then depend on the number of rows.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t opaque, int asked,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* count) {
  constexpr std::int64_t kFewColumns = 64;
  *count = 0;
  if (asked < 1) return CUBLAS_STATUS_INVALID_VALUE;
  const Problem problem = problem_of(operation, a, b, c, d);
  if (const cublasStatus_t status = verify(problem)) return status;
  const auto& preference = of<Preference>(opaque);
  const bool splits_k = problem.d.columns < kFewColumns && problem.a.type != CUDA_R_8I &&
                        preference.reductions != CUBLASLT_REDUCTION_SCHEME_NONE &&
                        workspace_of(problem) <= preference.workspace;
  if (splits_k) results[(*count)++] = solution(problem, true);
  if (*count < asked) results[(*count)++] = solution(problem, false);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t, cublasLtMatmulDesc_t operation,
                                       cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                       cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t* algorithm,
                                       cublasLtMatmulHeuristicResult_t* result) {
  const Problem problem = problem_of(operation, a, b, c, d);
  if (const cublasStatus_t status = verify(problem)) return status;
  if (refuses_rows(problem, *algorithm)) return CUBLAS_STATUS_NOT_SUPPORTED;
  *result = solution(problem, (algorithm->data[0] & kSplitsK) != 0);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t operation, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void* beta, const void* c,
                              cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              size_t workspace_bytes, cudaStream_t stream) {
  const Problem problem = problem_of(operation, a_layout, b_layout, c_layout, d_layout);
  if (const cublasStatus_t status = verify(problem)) return status;
  emulated_cuda::MatrixProduct product = product_of(problem, a, b, c, d);
  product.alpha = number(alpha, problem.operation.scale);
  product.beta = number(beta, problem.operation.scale);
  product.split_k = algorithm && (algorithm->data[0] & kSplitsK) != 0;
  if (!readable(a, problem.a) || !readable(b, problem.b) || !readable(d, problem.d) ||
      (product.beta != 0 && !readable(c, problem.c)) || (problem.has_bias() && !product.bias))
    return CUBLAS_STATUS_INVALID_VALUE;
  const std::size_t scratch = product.split_k ? workspace_of(problem) : 0;
  if (scratch > 0 && (workspace_bytes < scratch ||
                      !emulated_cuda::device_memory().holds(workspace, workspace_bytes)))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (emulated_cuda::refuse_other_device(stream) != cudaSuccess ||
      !emulated_cuda::device_memory().is_on(a, emulated_cuda::device_of_thread()) ||
      !emulated_cuda::device_memory().is_on(d, emulated_cuda::device_of_thread()))
    return CUBLAS_STATUS_EXECUTION_FAILED;
  emulated_cuda::count_launch();
  const cudaError_t status = emulated_cuda::perform(stream, [product, workspace, scratch] {
    // Shows reads of the workspace by others.
    if (scratch > 0) std::memset(workspace, 0xff, scratch);
    emulated_cuda::multiply(product);
  });
  return status == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // extern "C"
