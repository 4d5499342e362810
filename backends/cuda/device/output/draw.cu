#include "backends/cuda/device/kernel/bump_allocator.h"
#include "backends/cuda/device/output/draw.h"
#include "backends/cuda/device/runtime/launch_config.h"
#include "backends/cuda/device/runtime/prefix_sum.h"
#include "backends/cuda/device/runtime/thread_group.h"
#include "fuselage/base/error.h"
#include "ops/search/philox.h"

namespace fuselage::cuda {
namespace {

constexpr int kDrawThreads = 256;  ///< a block for each row
using Block = ThreadGroup<kDrawThreads>;

struct MaxOrNaN {
  __device__ float operator()(float a, float b) const { return b > a || b != b ? b : a; }
};

struct Min {
  __device__ std::int32_t operator()(std::int32_t a, std::int32_t b) const { return min(a, b); }
};

/// The scores of a row and the memory for its probabilities.
struct DrawRow {
  std::int64_t r;
  std::int64_t first;  ///< pair
  std::int32_t count;
  const float* scores;  ///< null: zeros
  float* p;
};

__device__ DrawRow draw_row(const DrawQuery& query, std::int64_t r, float* p) {
  if (!query.pairs.begin) {
    const std::int32_t count = query.scores.columns;
    return {r, 0, count, row_of(query.scores, r), p + r * count};
  }
  const std::int64_t first = query.pairs.begin[r];
  return {r, first, query.pairs.begin[r + 1] - static_cast<std::int32_t>(first),
          query.scores.data + first, p + first};
}

__device__ std::int32_t word_of(const DrawQuery& query, const DrawRow& row, std::int32_t i) {
  if (query.pairs.begin) return follow(query.words, row.first + i);
  return query.listed.data ? row_of(query.listed, row.r)[i] : i;
}

__device__ bool is_excluded(const DrawQuery& query, std::int32_t word) {
  std::int32_t begin = 0, end = query.excluded_count;
  while (begin < end) {
    const std::int32_t middle = (begin + end) / 2;
    if (query.excluded[middle] < word)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin < query.excluded_count && query.excluded[begin] == word;
}

/// One past the last of the first top_k words that are not excluded.
__device__ std::int32_t end_of_list(const DrawQuery& query, const DrawRow& row) {
  if (query.top_k == 0) return row.count;
  std::int32_t i = 0;
  for (std::int32_t left = query.top_k; i < row.count && left > 0; ++i)
    if (!is_excluded(query, word_of(query, row, i))) --left;
  return i;
}

/// Fills row.p with the probabilities of the words; false: there are none.
__device__ bool fill_probabilities(const DrawQuery& query, const DrawRow& row) {
  const std::int32_t end = end_of_list(query, row);
  float largest = -INFINITY;
  for (std::int32_t i = Block::thread_rank(); i < row.count; i += kDrawThreads) {
    float x = -INFINITY;
    if (i < end && !(query.excluded_count > 0 && is_excluded(query, word_of(query, row, i))))
      x = element(row.scores, i) / query.temperature;
    row.p[i] = x;
    largest = MaxOrNaN()(largest, x);
  }
  largest = Block::reduce(largest, MaxOrNaN());
  if (!(largest > -INFINITY)) return false;
  double sum = 0;
  for (std::int32_t i = Block::thread_rank(); i < row.count; i += kDrawThreads) {
    row.p[i] = expf(row.p[i] - largest);
    sum += static_cast<double>(row.p[i]);
  }
  const auto divisor = static_cast<float>(Block::reduce(sum, Sum()));
  for (std::int32_t i = Block::thread_rank(); i < row.count; i += kDrawThreads) row.p[i] /= divisor;
  __syncthreads();
  return true;
}

/// The sum of the probabilities whose bits are at least `bits`, which order as the numbers do.
__device__ double sum_from(const DrawRow& row, std::int32_t bits) {
  double sum = 0;
  for (std::int32_t i = Block::thread_rank(); i < row.count; i += kDrawThreads)
    if (__float_as_int(row.p[i]) >= bits) sum += static_cast<double>(row.p[i]);
  return Block::reduce(sum, Sum());
}

/// The columns of a thread where the order of columns matters: adjacent ones.
struct Range {
  std::int32_t begin, end;
};
__device__ Range own_range(std::int32_t count) {
  const std::int32_t size = (count + kDrawThreads - 1) / kDrawThreads;
  const std::int32_t begin = min(count, size * Block::thread_rank());
  return {begin, min(count, begin + size)};
}

/// Sets all probabilities outside of the nucleus to 0.
__device__ void keep_nucleus(const DrawRow& row, double top_p) {
  std::int32_t least = 1, above = __float_as_int(1.0f) + 1;
  if (sum_from(row, least) < top_p) return;  // by rounding: all are in it
  while (above - least > 1) {
    const std::int32_t middle = least + (above - least) / 2;
    if (sum_from(row, middle) >= top_p)
      least = middle;
    else
      above = middle;
  }
  // Of the words with the least probability, only as many as are needed.
  const auto number = static_cast<double>(__int_as_float(least));
  std::int32_t needed = 0;
  for (double sum = sum_from(row, least + 1); sum < top_p; sum += number) ++needed;
  const Range own = own_range(row.count);
  std::int32_t equal = 0;
  for (std::int32_t i = own.begin; i < own.end; ++i)
    if (__float_as_int(row.p[i]) == least) ++equal;
  std::int32_t total = 0;
  std::int32_t before = block_prefix_sum(equal, total);
  for (std::int32_t i = own.begin; i < own.end; ++i) {
    const std::int32_t bits = __float_as_int(row.p[i]);
    if (bits < least || (bits == least && before++ >= needed)) row.p[i] = 0;
  }
  __syncthreads();
}

/// Sets probabilities below `epsilon` to 0, but for the first of the largest ones.
__device__ void keep_probable(const DrawRow& row, double epsilon) {
  float largest = 0;
  for (std::int32_t i = Block::thread_rank(); i < row.count; i += kDrawThreads)
    largest = fmaxf(largest, row.p[i]);
  largest = Block::reduce(largest, MaxOrNaN());
  std::int32_t best = row.count;
  for (std::int32_t i = Block::thread_rank(); i < row.count; i += kDrawThreads)
    if (row.p[i] == largest) best = min(best, i);
  best = Block::reduce(best, Min());
  for (std::int32_t i = Block::thread_rank(); i < row.count; i += kDrawThreads)
    if (i != best && row.p[i] < static_cast<float>(epsilon)) row.p[i] = 0;
  __syncthreads();
}

/// The first column whose cumulative sum exceeds u times the sum, in thread 0; -1: none. Each
/// thread sums its columns, then thread 0 the threads.
__device__ std::int32_t draw_by_sum(const DrawRow& row, double u) {
  __shared__ double sums[kDrawThreads];
  const Range own = own_range(row.count);
  double sum = 0;
  for (std::int32_t i = own.begin; i < own.end; ++i) sum += static_cast<double>(row.p[i]);
  sums[Block::thread_rank()] = sum;
  __syncthreads();
  if (Block::thread_rank() != 0) return -1;
  sum = 0;
  for (const double part : sums) sum += part;
  if (!(sum > 0)) return -1;
  const double target = u * sum;
  double before = 0;
  std::int32_t thread = 0;
  while (thread < kDrawThreads - 1 && !(before + sums[thread] > target)) before += sums[thread++];
  const std::int32_t size = (row.count + kDrawThreads - 1) / kDrawThreads;
  std::int32_t drawn = -1;
  for (std::int32_t i = size * thread; i < min(row.count, size * (thread + 1)); ++i) {
    if (!(row.p[i] > 0)) continue;
    drawn = i;
    before += static_cast<double>(row.p[i]);
    if (before > target) break;
  }
  return drawn;
}

__global__ void __launch_bounds__(kDrawThreads) draw_kernel(DrawQuery query, float* p) {
  const std::int64_t r = blockIdx.x;
  if (r >= *query.rows.live) return;
  const DrawRow row = draw_row(query, r, p);
  std::int32_t drawn = -1;
  if (fill_probabilities(query, row)) {
    if (query.top_p < 1) keep_nucleus(row, query.top_p);
    if (query.epsilon > 0) keep_probable(row, query.epsilon);
    drawn = draw_by_sum(row, static_cast<double>(element(row_of(query.random, r), 0)));
  }
  if (Block::thread_rank() != 0) return;
  *row_of(query.score, r) = drawn < 0 ? -INFINITY : element(row.scores, drawn);
  *row_of(query.word, r) = drawn < 0 ? -1 : word_of(query, row, drawn);
}

__global__ void uniform_kernel(RowsIn streams, RowsOf<std::int32_t> positions, Rows rows,
                               RowsOut out) {
  const std::int64_t r = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (r >= *rows.live) return;
  const float* stream = row_of(streams, r);
  const std::uint64_t key = stream ? stream_key(stream) : 0;
  *row_of(out, r) = uniform_number(key, static_cast<std::uint32_t>(*row_of(positions, r)));
}

}  // namespace

std::size_t draw_bytes(std::int64_t scores) {
  BumpAllocator allocator;
  allocator.allocate<float>(scores);
  return allocator.used_bytes();
}

void draw_words(cudaStream_t stream, const DrawQuery& query, std::int64_t scores,
                const Workspace& workspace) {
  BumpAllocator allocator(workspace);
  auto* p = allocator.allocate<float>(scores);
  check(allocator.fits(), "draw_words: the workspace is too small");
  launch(stream, draw_kernel, {static_cast<std::uint32_t>(query.rows.max_live), kDrawThreads},
         query, p);
}

void uniform_numbers(cudaStream_t stream, const RowsIn& streams,
                     const RowsOf<std::int32_t>& positions, const Rows& rows, const RowsOut& out) {
  launch(stream, uniform_kernel, config_for_elements(rows, 1), streams, positions, rows, out);
}

}  // namespace fuselage::cuda
