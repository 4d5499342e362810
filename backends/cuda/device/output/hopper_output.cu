// An output layer without logits in memory, for Hopper. A block keeps its rows in shared memory.
// One warp lets the copy engine fetch slabs of the matrix, tile after tile; two warpgroups take
// every second tile each, multiply it by wgmma and rank it in registers. Two tiles are in flight:
// while one group ranks, the other multiplies. A tile of a row costs a maximum and, for
// log-softmax, a sum of exponentials; only if the maximum passes the row's k-th best so far is
// there work on lists.
//
// Counts for a tile of 128 rows by 128 columns of depth 512: 8.4 million products, 4,096 cycles of
// a multiprocessor's tensor cores; 131 kB of the matrix by the copy engine, 32 bytes a cycle; and,
// for log-softmax, 16,384 exponentials, 1,024 cycles, beside about 870 instructions of each of four
// warps, one on each scheduler, of which 768 are 6 for each logit. So ranking hides behind the
// other group's products from a depth of 192 on. None of it is measured (docs/cuda.md, "The output
// layer").

#include <cuda.h>

#include "backends/cuda/device/output/hopper_output.h"
#include "backends/cuda/device/output/hopper_ranking.h"
#include "backends/cuda/device/output/k_best_epilogue.h"
#include "backends/cuda/device/runtime/early_start.h"
#include "backends/cuda/device/runtime/hopper_ptx.h"
#include "backends/cuda/device/runtime/launch.h"
#include "backends/cuda/device/runtime/shared_memory.h"
#include "fuselage/base/error.h"

namespace fuselage::cuda {
namespace {

constexpr std::int32_t kGroupWarps = 4;
constexpr std::int32_t kRankingWarps = kHopperGroups * kGroupWarps;
// The warp that fetches is of a warpgroup, since registers are given to these.
constexpr std::int32_t kHopperThreads = (kRankingWarps + kGroupWarps) * kWarpSize;
// Of 168 for each thread at the launch; 128 are sums.
constexpr int kRankingRegisters = 240;
constexpr int kFetchingRegisters = 24;
constexpr std::int32_t kVectorBytes = kTileDepth * 2;
constexpr std::int32_t kStageBytes = kHopperColumns * kVectorBytes;
constexpr std::int32_t kSlabAlignment = 1024;

/// The parameters of a launch .
struct HopperLayer {
  CUtensorMap x, matrix;  ///< tiles of the block's rows, and of kHopperColumns columns
  Rows rows;
  std::int32_t max_rows = 0, columns = 0, tiles = 0, slabs = 0, stages = 0, k = 0, spans = 1;
  bool log_softmax = false;
  const float* bias = nullptr;
  SoftmaxNormalizer* normalizers = nullptr;  ///< [tile][row]
  Ranked* lists = nullptr;                   ///< [row][span][group][k]
};

/// The layout of a block's shared memory.
struct HopperShared {
  unsigned char* rows;     // slabs of the block's rows
  unsigned char* columns;  // stages
  Ranked* lists;           // [group][rank][row]
  SharedBarrier* rows_full;
  SharedBarrier* full;   // by stage: filled by the copy engine
  SharedBarrier* empty;  // by stage: read by all warps of a group
  SharedBarrier* turns;  // by group: the other group has begun its last products

  __device__ HopperShared(const HopperLayer& layer, std::int32_t block_rows) {
    const auto begin = reinterpret_cast<std::uintptr_t>(dynamic_shared<unsigned char>());
    rows = reinterpret_cast<unsigned char*>((begin + kSlabAlignment - 1) / kSlabAlignment *
                                            kSlabAlignment);
    columns = rows + layer.slabs * block_rows * kVectorBytes;
    rows_full = reinterpret_cast<SharedBarrier*>(columns + layer.stages * kStageBytes);
    full = rows_full + 1;
    empty = full + layer.stages;
    turns = empty + layer.stages;
    lists = reinterpret_cast<Ranked*>(turns + kHopperGroups);
  }

  __device__ void begin_barriers(std::int32_t stages) const {
    begin_barrier(rows_full, 1);
    for (std::int32_t stage = 0; stage < stages; ++stage) {
      begin_barrier(full + stage, 1);
      begin_barrier(empty + stage, kGroupWarps);
    }
    for (std::int32_t group = 0; group < kHopperGroups; ++group)
      begin_barrier(turns + group, kGroupWarps);
    fence_barriers();
  }
};

/// The tiles of a block.
struct HopperWork {
  std::int32_t first_row, span, first_tile, last_tile;

  __device__ HopperWork(const HopperLayer& layer, std::int32_t block_rows) {
    const std::int32_t blocks = (layer.max_rows + block_rows - 1) / block_rows;
    first_row = static_cast<std::int32_t>(blockIdx.x) % blocks * block_rows;
    span = static_cast<std::int32_t>(blockIdx.x) / blocks;
    first_tile = static_cast<std::int32_t>(std::int64_t{layer.tiles} * span / layer.spans);
    last_tile = static_cast<std::int32_t>(std::int64_t{layer.tiles} * (span + 1) / layer.spans);
  }
};

/// A stage of the pipeline, and the number of its use.
struct Stage {
  std::int32_t number;
  std::uint32_t use;

  __device__ Stage(std::int32_t step, std::int32_t stages)
      : number(step % stages), use(static_cast<std::uint32_t>(step / stages)) {}
};

/// Arrives once for all lanes of the warp.
__device__ inline void arrive_as_warp(SharedBarrier* barrier) {
  __syncwarp();
  if (lane_id() == 0) arrive(barrier);
}

/// Fetches the block's rows, then all slabs of its columns, by one thread.
template <std::int32_t kRowTiles>
__device__ void fetch(const HopperLayer& layer, const HopperWork& work,
                      const HopperShared& shared) {
  constexpr std::int32_t kSlabBytes = kRowTiles * 64 * kVectorBytes;
  arrive_with_bytes(shared.rows_full, static_cast<std::uint32_t>(layer.slabs * kSlabBytes));
  for (std::int32_t slab = 0; slab < layer.slabs; ++slab)
    begin_tile(shared.rows + slab * kSlabBytes, &layer.x, slab * kTileDepth, work.first_row,
               shared.rows_full);
  std::int32_t step = 0;
  for (std::int32_t tile = work.first_tile; tile < work.last_tile; ++tile) {
    for (std::int32_t slab = 0; slab < layer.slabs; ++slab, ++step) {
      const Stage stage(step, layer.stages);
      if (stage.use > 0) wait_for_phase(shared.empty + stage.number, stage.use - 1);
      arrive_with_bytes(shared.full + stage.number, kStageBytes);
      begin_tile(shared.columns + stage.number * kStageBytes, &layer.matrix, slab * kTileDepth,
                 tile * kHopperColumns, shared.full + stage.number);
    }
  }
}

/// Multiplies the block's rows by the columns of a tile, whose first slab is number `first` of the
/// pipeline. Then it is the other group's turn: groups wait for stages one after the other, since a
/// wait ahead of the stage's last use would take that for its own.
template <typename T, std::int32_t kRowTiles>
__device__ void multiply_tile(const HopperLayer& layer, const HopperShared& shared,
                              std::int32_t first, SharedBarrier* next_turn,
                              WarpgroupSums (&sums)[kRowTiles]) {
  constexpr std::int32_t kSlabBytes = kRowTiles * 64 * kVectorBytes;
  const auto release = [&](std::int32_t step) {
    arrive_as_warp(shared.empty + Stage(step, layer.stages).number);
  };
  for (std::int32_t slab = 0; slab < layer.slabs; ++slab) {
    const Stage stage(first + slab, layer.stages);
    const unsigned char* rows = shared.rows + slab * kSlabBytes;
    const unsigned char* columns = shared.columns + stage.number * kStageBytes;
    wait_for_phase(shared.full + stage.number, stage.use);
    begin_products();
#pragma unroll
    for (std::int32_t number = 0; number < kTileDepth; number += 16)
#pragma unroll
      for (std::int32_t m = 0; m < kRowTiles; ++m)
        multiply_add<T>(warpgroup_operand(rows + m * 64 * kVectorBytes, number),
                        warpgroup_operand(columns, number), slab > 0 || number > 0, sums[m]);
    end_product_group();
    if (slab + 1 == layer.slabs) arrive_as_warp(next_turn);
    wait_for_products<1>();
    if (slab > 0) release(first + slab - 1);
  }
  wait_for_products<0>();
#pragma unroll
  for (std::int32_t m = 0; m < kRowTiles; ++m) take_sums(sums[m]);
  release(first + layer.slabs - 1);
}

/// Adds the bias to the sums of a tile. Columns past the last one get -infinity.
template <std::int32_t kRowTiles>
__device__ void add_tile_bias(const HopperLayer& layer, std::int32_t first_column,
                              WarpgroupSums (&sums)[kRowTiles]) {
#pragma unroll
  for (std::int32_t i = 0; i < kQuadLogits; ++i) {
    const std::int32_t column = first_column + QuadRow::column(i);
    const float added =
        column < layer.columns ? (layer.bias ? __ldg(layer.bias + column) : 0.0f) : kLowest;
#pragma unroll
    for (std::int32_t m = 0; m < kRowTiles; ++m) {
      QuadRow{sums[m], 0}[i] += added;
      QuadRow{sums[m], 1}[i] += added;
    }
  }
}

/// Multiplies and ranks every second tile of the block, by a warpgroup.
template <typename T, std::int32_t kRowTiles>
__device__ void rank(const HopperLayer& layer, const HopperWork& work, const HopperShared& shared,
                     std::int32_t live) {
  constexpr std::int32_t kRows = 64 * kRowTiles;
  const auto warp = static_cast<std::int32_t>(threadIdx.x) / kWarpSize;
  const std::int32_t group = warp / kGroupWarps;
  const std::int32_t lane_row = warp % kGroupWarps * 16 + lane_id() / kQuad;
  const auto row_at = [&](std::int32_t m, std::int32_t part) {
    return m * 64 + part * 8 + lane_row;  // in the block
  };
  QuadBest best[kRowTiles][2];
#pragma unroll
  for (std::int32_t m = 0; m < kRowTiles; ++m)
#pragma unroll
    for (std::int32_t part = 0; part < 2; ++part) {
      const std::int32_t row = row_at(m, part);
      best[m][part].begin(shared.lists + group * layer.k * kRows + row, kRows, layer.k,
                          work.first_row + row < live);
    }
  wait_for_phase(shared.rows_full, 0);
  static_assert(kHopperGroups == 2);
  std::uint32_t turn = 0;  // the first group's first tile waits for none
  for (std::int32_t tile = work.first_tile + group; tile < work.last_tile; tile += kHopperGroups) {
    if (tile > work.first_tile) wait_for_phase(shared.turns + group, turn++);
    WarpgroupSums sums[kRowTiles];
    multiply_tile<T>(layer, shared, (tile - work.first_tile) * layer.slabs,
                     shared.turns + 1 - group, sums);
    const std::int32_t first_column = tile * kHopperColumns;
    add_tile_bias(layer, first_column, sums);
#pragma unroll
    for (std::int32_t m = 0; m < kRowTiles; ++m)
#pragma unroll
      for (std::int32_t part = 0; part < 2; ++part) {
        const QuadRow logits{sums[m], part};
        const std::int32_t row = work.first_row + row_at(m, part);
        const float max = quad_max(logits);
        if (layer.log_softmax) {
          const SoftmaxNormalizer normalizer = quad_normalizer(logits, max);
          if (lane_id() % kQuad == 0 && row < live)
            layer.normalizers[std::int64_t{tile} * layer.max_rows + row] = normalizer;
        }
        best[m][part].add(logits, max, first_column, layer.columns - first_column);
      }
  }
#pragma unroll
  for (std::int32_t m = 0; m < kRowTiles; ++m)
#pragma unroll
    for (std::int32_t part = 0; part < 2; ++part) {
      const std::int64_t row = work.first_row + row_at(m, part);
      best[m][part].copy_to(layer.lists +
                            ((row * layer.spans + work.span) * kHopperGroups + group) * layer.k);
    }
}

template <typename T, std::int32_t kRowTiles>
__global__ void __launch_bounds__(kHopperThreads, 1)
    hopper_multiply_and_rank(const __grid_constant__ HopperLayer layer) {
  const HopperWork work(layer, 64 * kRowTiles);
  const HopperShared shared(layer, 64 * kRowTiles);
  if (threadIdx.x == 0) shared.begin_barriers(layer.stages);
  start_early();
  __syncthreads();
  const std::int32_t live = *layer.rows.live;
  if (work.first_row >= live) return;
  if (threadIdx.x < kRankingWarps * kWarpSize) {
    acquire_registers<kRankingRegisters>();
    rank<T, kRowTiles>(layer, work, shared, live);
  } else {
    release_registers<kFetchingRegisters>();
    if (threadIdx.x == kRankingWarps * kWarpSize) fetch<kRowTiles>(layer, work, shared);
  }
}

template <typename T>
auto hopper_kernel(const HopperShape& shape) {
  return shape.row_tiles == 2 ? hopper_multiply_and_rank<T, 2> : hopper_multiply_and_rank<T, 1>;
}

/// Leaves normalizers and lists for merge_k_best().
void launch_hopper_layer(cudaStream_t stream, const HopperShape& shape, DType dtype,
                         const HopperLayer& layer) {
  const LaunchConfig config{
      dim3(blocks_for(layer.max_rows, shape.rows()) * static_cast<unsigned>(layer.spans)),
      dim3(kHopperThreads), shape.shared_bytes};
  launch_early(
      stream,
      dtype == DType::bf16 ? hopper_kernel<__nv_bfloat16>(shape) : hopper_kernel<__half>(shape),
      config, layer);
}

}  // namespace

void hopper_output(cudaStream_t stream, const BestQuery& query, const void* x,
                   const DeviceMatrix& matrix, const float* bias, const Workspace& workspace) {
  const std::int32_t rows = query.rows.max_live;
  if (rows == 0) return;
  check(workspace.bytes >= hopper_output_bytes(rows, matrix, query.k),
        "hopper_output: the workspace is too small");
  const HopperShape shape = hopper_shape(rows, matrix.stride, query.k).value();
  const auto tiles = static_cast<std::int32_t>(blocks_for(matrix.n, kHopperColumns));
  auto* normalizers = reinterpret_cast<SoftmaxNormalizer*>(workspace.data);
  const HopperLayer layer{
      .x = make_tile_map({x, rows, matrix.stride}, shape.rows()),
      .matrix = make_tile_map({matrix.data, matrix.n, matrix.stride}, kHopperColumns),
      .rows = query.rows,
      .max_rows = rows,
      .columns = static_cast<std::int32_t>(matrix.n),
      .tiles = tiles,
      .slabs = static_cast<std::int32_t>((matrix.stride + kTileDepth - 1) / kTileDepth),
      .stages = shape.stages,
      .k = query.k,
      .spans = hopper_spans(shape, rows, matrix.n, query.k),
      .log_softmax = query.log_softmax,
      .bias = bias,
      .normalizers = normalizers,
      .lists = reinterpret_cast<Ranked*>(normalizers + std::int64_t{tiles} * rows)};
  launch_hopper_layer(stream, shape, matrix.dtype, layer);
  merge_k_best(
      stream,
      {.rows = query.rows,
       .k = query.k,
       .epilogue = {.log_softmax = query.log_softmax, .columns = layer.columns},
       .out = query.out,
       .lists = {.first = layer.lists, .count = layer.spans * kHopperGroups},
       .normalizers = {.first = normalizers, .count = tiles, .stride = rows, .row_stride = 1}});
}

}  // namespace fuselage::cuda
