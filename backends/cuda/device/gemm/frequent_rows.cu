#include "backends/cuda/device/gemm/frequent_rows.h"
#include "backends/cuda/device/runtime/early_start.h"
#include "backends/cuda/device/runtime/launch.h"

namespace fuselage::cuda {
namespace {

constexpr int kThreads = 128;

/// The table's row of an entry, or -1 if it has none.
__device__ inline std::int64_t row_of_entry(const std::int32_t* rank, std::int32_t entry,
                                            std::int64_t rows) {
  const std::int64_t row = rank ? rank[entry] : entry;
  return row < rows ? row : -1;
}

__global__ void look_up_kernel(FrequentProducts table, const std::int32_t* entries, Rows rows,
                               RowsOut out) {
  start_early();
  const std::int32_t r = static_cast<std::int32_t>(blockIdx.x);
  if (r >= *rows.live) return;
  const std::int32_t entry = entries[r];
  const std::int64_t row = entry < 0 ? -1 : row_of_entry(table.rank, entry, table.rows);
  if (entry >= 0 && row < 0) return;
  const float* from = row < 0 ? nullptr : table.data + row * table.columns;
  float* to = row_of(out, r);
  for (std::int64_t c = threadIdx.x; c < table.columns; c += kThreads) to[c] = element(from, c);
}

__global__ void copy_leading_kernel(RowsIn x, Rows entries, const std::int32_t* rank,
                                    std::int64_t count, float* out) {
  start_early();
  const std::int32_t entry = static_cast<std::int32_t>(blockIdx.x);
  if (entry >= *entries.live) return;
  const std::int64_t row = row_of_entry(rank, entry, count);
  if (row < 0) return;
  const float* from = row_of(x, entry);
  for (std::int64_t c = threadIdx.x; c < x.columns; c += kThreads)
    out[row * x.columns + c] = element(from, c);
}

}  // namespace

void look_up_products(cudaStream_t stream, const FrequentProducts& table,
                      const std::int32_t* entries, const Rows& rows, const RowsOut& out) {
  launch_early(stream, look_up_kernel, {blocks_for(rows.max_live, 1), kThreads}, table, entries,
               rows, out);
}

void copy_leading_rows(cudaStream_t stream, const RowsIn& x, const Rows& entries,
                       const std::int32_t* rank, std::int64_t count, float* out) {
  launch_early(stream, copy_leading_kernel, {blocks_for(entries.max_live, 1), kThreads}, x, entries,
               rank, count, out);
}

}  // namespace fuselage::cuda
