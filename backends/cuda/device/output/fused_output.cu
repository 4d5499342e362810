// An output layer without logits in memory. A block keeps its rows in shared memory and multiplies
// them by one tile of columns after the other, on tensor cores. The logits of a tile go from
// registers through shared memory to the threads of the warp. Each thread has one row, of which it
// keeps the k best and the normalizer of log-softmax.

#include "backends/cuda/device/output/fused_output.h"
#include "backends/cuda/device/output/k_best_epilogue.h"
#include "backends/cuda/device/output/thread_best.h"
#include "backends/cuda/device/output/tile_product.h"
#include "backends/cuda/device/runtime/early_start.h"
#include "backends/cuda/device/runtime/launch.h"
#include "backends/cuda/device/runtime/shared_memory.h"

namespace fuselage::cuda {
namespace {

template <typename T>
struct Layer {
  Rows rows;
  std::int32_t max_rows, columns, k, spans;
  bool log_softmax;
  const float* bias;
  Vectors<T> x, matrix;
  SoftmaxNormalizer* normalizers;  // [tile][warp in columns][row]
  Ranked* lists;                   // [row][span][warp in columns][k]
};

/// The layout of a block's shared memory.
template <std::int32_t kWarpsM, std::int32_t kWarpsN>
struct Shared {
  static constexpr std::int32_t kRows = 32 * kWarpsM;
  static constexpr std::int32_t kStage = kFusedColumns * kSlabChunks;  // in chunks of 16 bytes

  uint4* rows;     // slabs of kRows vectors
  uint4* columns;  // kFusedStages slabs
  float* staged;   // logits of this warp
  Ranked* lists;   // lists of this warp's threads

  __device__ uint4* slab(std::int32_t slab) const { return rows + slab * kRows * kSlabChunks; }
  __device__ uint4* stage(std::int32_t step) const {
    return columns + step % kFusedStages * kStage;
  }

  __device__ Shared(std::int32_t slabs, std::int32_t k) {
    const auto warp = static_cast<std::int32_t>(threadIdx.x) / kWarpSize;
    rows = dynamic_shared<uint4>();
    columns = rows + slabs * kRows * kSlabChunks;
    auto* all_staged = reinterpret_cast<float*>(columns + kFusedStages * kStage);
    constexpr std::int32_t kStaged = kWarpSize * kFusedStagedStride;
    staged = all_staged + warp * kStaged;
    lists =
        reinterpret_cast<Ranked*>(all_staged + kWarpsM * kWarpsN * kStaged) + warp * kWarpSize * k;
  }
};

/// Writes a part of the warp's accumulators plus bias to shared memory, by row. Columns past the
/// last one get -infinity.
template <std::int32_t kTiles>
__device__ void stage(const WarpSums<kTiles>& sums, std::int32_t tile, std::int32_t first_column,
                      const float* bias, std::int32_t columns, float* staged) {
  const std::int32_t lane = lane_id();
#pragma unroll
  for (std::int32_t n = 0; n < kFusedPart / 8; ++n) {
    const std::int32_t within = 8 * n + lane % 4 * 2;
#pragma unroll
    for (std::int32_t i = 0; i < 2; ++i) {
      const std::int32_t column = first_column + within + i;
      const float added = column < columns ? (bias ? __ldg(bias + column) : 0.0f) : kLowest;
#pragma unroll
      for (std::int32_t m = 0; m < 2; ++m) {
        float* row = staged + (16 * m + lane / 4) * kFusedStagedStride + within + i;
        row[0] = sums[m][tile + n][i] + added;
        row[8 * kFusedStagedStride] = sums[m][tile + n][i + 2] + added;
      }
    }
  }
}

/// Adds a part of a row's logits, from `first_column` on, to the row's normalizer and list.
__device__ void rank_part(const float* staged, std::int32_t first_column, std::int32_t columns,
                          bool log_softmax, SoftmaxNormalizer& normalizer, ThreadBest& best) {
  float logits[kFusedPart];
#pragma unroll
  for (std::int32_t i = 0; i < kFusedPart; i += 4) {
    const float4 four = *reinterpret_cast<const float4*>(staged + i);
    logits[i] = four.x;
    logits[i + 1] = four.y;
    logits[i + 2] = four.z;
    logits[i + 3] = four.w;
  }
  float max = kLowest;
#pragma unroll
  for (std::int32_t i = 0; i < kFusedPart; ++i) max = fmaxf(max, logits[i]);
  if (log_softmax) add_logits(normalizer, logits, max);
  if (max < best.last().value) return;
  unsigned candidates = 0;
#pragma unroll
  for (std::int32_t i = 0; i < kFusedPart; ++i)
    candidates |= static_cast<unsigned>(rank_of(logits[i]) >= best.last().value) << i;
  for (; candidates != 0; candidates &= candidates - 1) {
    const std::int32_t i = __ffs(static_cast<int>(candidates)) - 1;
    const Ranked own{rank_of(staged[i]), first_column + i};
    if (own.column < columns && before(own, best.last())) best.insert(own);
  }
}

/// The tiles of a block, and the thread's position in them.
template <std::int32_t kWarpsM, std::int32_t kWarpsN>
struct Work {
  static constexpr std::int32_t kRows = 32 * kWarpsM;
  static constexpr std::int32_t kThreads = 32 * kWarpsM * kWarpsN;
  static constexpr std::int32_t kWide = kFusedColumns / kWarpsN;  // columns of a warp

  std::int64_t block_row;  // first row of the block
  std::int32_t span, first_tile, last_tile, slabs;
  std::int32_t warp_row, warp_column;  // first row and column of the warp, in the block's tiles

  template <typename T>
  __device__ explicit Work(const Layer<T>& layer) {
    const std::int32_t blocks = (layer.max_rows + kRows - 1) / kRows;
    const std::int64_t tiles = (layer.columns + kFusedColumns - 1) / kFusedColumns;
    const auto warp = static_cast<std::int32_t>(threadIdx.x) / kWarpSize;
    block_row = std::int64_t{blockIdx.x % blocks} * kRows;
    span = static_cast<std::int32_t>(blockIdx.x) / blocks;
    first_tile = static_cast<std::int32_t>(tiles * span / layer.spans);
    last_tile = static_cast<std::int32_t>(tiles * (span + 1) / layer.spans);
    slabs = static_cast<std::int32_t>((layer.x.stride + kFusedSlab - 1) / kFusedSlab);
    warp_row = warp / kWarpsN * 32;
    warp_column = warp % kWarpsN * kWide;
  }

  __device__ std::int64_t row() const { return block_row + warp_row + lane_id(); }
  __device__ std::int32_t steps() const { return (last_tile - first_tile) * slabs; }
  /// The number of the warp's part of the columns, among the parts of all tiles.
  __device__ std::int32_t part(std::int32_t tile) const {
    return tile * kWarpsN + warp_column / kWide;
  }
};

/// Begins the copy of a step's slab of columns, if any, and ends the copy group.
template <typename T, std::int32_t kWarpsM, std::int32_t kWarpsN>
__device__ void begin_step(const Work<kWarpsM, kWarpsN>& work, const Layer<T>& layer,
                           const Shared<kWarpsM, kWarpsN>& shared, std::int32_t step) {
  if (step < work.steps())
    begin_slab<kFusedColumns, work.kThreads>(
        shared.stage(step), layer.matrix,
        std::int64_t{work.first_tile + step / work.slabs} * kFusedColumns, step % work.slabs);
  end_copy_group();
}

/// Ranks the warp's logits of a tile. Returns the normalizer of the thread's row over this tile.
template <typename T, std::int32_t kWarpsM, std::int32_t kWarpsN>
__device__ SoftmaxNormalizer rank_tile(const Work<kWarpsM, kWarpsN>& work, const Layer<T>& layer,
                                       const WarpSums<Work<kWarpsM, kWarpsN>::kWide / 8>& sums,
                                       std::int32_t tile, float* staged, ThreadBest& best) {
  SoftmaxNormalizer normalizer;
#pragma unroll
  for (std::int32_t part = 0; part < work.kWide / kFusedPart; ++part) {
    const std::int32_t column = tile * kFusedColumns + work.warp_column + part * kFusedPart;
    stage(sums, part * (kFusedPart / 8), column, layer.bias, layer.columns, staged);
    __syncwarp();
    rank_part(staged + lane_id() * kFusedStagedStride, column, layer.columns, layer.log_softmax,
              normalizer, best);
    __syncwarp();
  }
  return normalizer;
}

template <typename T, std::int32_t kWarpsM, std::int32_t kWarpsN>
__global__ void __launch_bounds__(32 * kWarpsM * kWarpsN, kWarpsN == 1 ? 2 : 1)
    multiply_and_rank(const Layer<T> layer) {
  start_early();
  const Work<kWarpsM, kWarpsN> work(layer);
  const std::int32_t live = *layer.rows.live;
  if (work.block_row >= live) return;
  const Shared<kWarpsM, kWarpsN> shared(work.slabs, layer.k);

  const Vectors<T> x{layer.x.data, layer.x.stride, live};
  for (std::int32_t slab = 0; slab < work.slabs; ++slab)
    begin_slab<work.kRows, work.kThreads>(shared.slab(slab), x, work.block_row, slab);
  for (std::int32_t step = 0; step < kFusedStages - 1; ++step)
    begin_step(work, layer, shared, step);

  ThreadBest best(shared.lists, layer.k);
  std::int32_t step = 0;
  for (std::int32_t tile = work.first_tile; tile < work.last_tile; ++tile) {
    WarpSums<work.kWide / 8> sums = {};
    for (std::int32_t slab = 0; slab < work.slabs; ++slab, ++step) {
      wait_for_copy_groups<kFusedStages - 2>();
      __syncthreads();  // This step's slab is visible, and the last step's slab is free.
      begin_step(work, layer, shared, step + kFusedStages - 1);
      multiply_slab<T>(shared.slab(slab), work.warp_row, shared.stage(step), work.warp_column,
                       sums);
    }
    const SoftmaxNormalizer normalizer = rank_tile(work, layer, sums, tile, shared.staged, best);
    if (layer.log_softmax && work.row() < live)
      layer.normalizers[std::int64_t{work.part(tile)} * layer.max_rows + work.row()] = normalizer;
  }
  wait_for_copy_groups<0>();
  if (work.row() < live)
    best.copy_to(layer.lists +
                 (work.row() * layer.spans * kWarpsN + work.part(work.span)) * layer.k);
}

// --- Launches ---

template <typename T>
auto kernel_for(const FusedShape& shape) {
  if (shape.warps_in_columns == 1) return multiply_and_rank<T, 4, 1>;
  return shape.warps_in_columns == 2 ? multiply_and_rank<T, 4, 2> : multiply_and_rank<T, 2, 4>;
}

template <typename T>
void launch_layer(cudaStream_t stream, const FusedShape& shape, const Layer<T>& layer) {
  launch_early(stream, kernel_for<T>(shape),
               {dim3(blocks_for(layer.max_rows, shape.rows()) * static_cast<unsigned>(layer.spans)),
                dim3(static_cast<unsigned>(shape.threads())), shape.shared_bytes},
               layer);
}

template <typename T>
void run(cudaStream_t stream, const BestQuery& query, const void* x, const DeviceMatrix& matrix,
         const float* bias, const Workspace& workspace) {
  const FusedShape shape = fused_shape(matrix.stride, query.k).value();
  const std::int32_t max_rows = query.rows.max_live;
  const auto tiles = static_cast<std::int32_t>(blocks_for(matrix.n, kFusedColumns));
  const std::int32_t parts = tiles * shape.warps_in_columns;
  const std::int32_t spans = fused_spans(shape, max_rows, matrix.n, query.k);
  auto* normalizers = reinterpret_cast<SoftmaxNormalizer*>(workspace.data);
  const Layer<T> layer{
      .rows = query.rows,
      .max_rows = max_rows,
      .columns = static_cast<std::int32_t>(matrix.n),
      .k = query.k,
      .spans = spans,
      .log_softmax = query.log_softmax,
      .bias = bias,
      .x = {static_cast<const T*>(x), matrix.stride, max_rows},
      .matrix = {static_cast<const T*>(matrix.data), matrix.stride, matrix.n},
      .normalizers = normalizers,
      .lists = reinterpret_cast<Ranked*>(normalizers + std::int64_t{parts} * max_rows)};
  launch_layer(stream, shape, layer);
  const std::int32_t lists = spans * shape.warps_in_columns;
  merge_k_best(
      stream,
      {.rows = query.rows,
       .k = query.k,
       .epilogue = {.log_softmax = query.log_softmax, .columns = layer.columns},
       .out = query.out,
       .lists = {.first = layer.lists, .count = lists},
       .normalizers = {.first = normalizers, .count = parts, .stride = max_rows, .row_stride = 1}});
}

}  // namespace

void fused_output(cudaStream_t stream, const BestQuery& query, const void* x,
                  const DeviceMatrix& matrix, const float* bias, const Workspace& workspace) {
  if (query.rows.max_live == 0) return;
  check_fused_output(query, matrix, workspace);
  if (matrix.dtype == DType::bf16)
    run<__nv_bfloat16>(stream, query, x, matrix, bias, workspace);
  else
    run<__half>(stream, query, x, matrix, bias, workspace);
}

}  // namespace fuselage::cuda
