#include "backends/cuda/device/normalization/reduce.h"
#include "backends/cuda/device/runtime/launch_config.h"
#include "backends/cuda/device/runtime/rows.h"
#include "backends/cuda/device/runtime/thread_group.h"

namespace fuselage::cuda {
namespace {

struct MaxOrNaN {
  __device__ float operator()(float a, float b) const { return b > a || b != b ? b : a; }
};

/// Vector v of row r is reduced by thread group r * vectors + v.
template <int kThreads, Reduction kReduction>
__global__ void reduce_vectors_kernel(RowsIn x, Rows rows, std::int64_t vectors,
                                      std::int64_t columns, RowsOut out) {
  using Group = ThreadGroup<kThreads>;
  constexpr bool kIsMax = kReduction == Reduction::max;
  using Combine = std::conditional_t<kIsMax, MaxOrNaN, Sum>;
  const std::int64_t r = Group::index() / vectors, v = Group::index() % vectors;
  if (r >= *rows.live) return;
  const float* row = row_of(x, r);
  const std::int64_t begin = v * columns;
  float value = kIsMax ? __int_as_float(static_cast<int>(0xff800000u)) : 0.0f;
  for (std::int64_t c = Group::thread_rank(); c < columns; c += kThreads)
    value = Combine()(value, element(row, begin + c));
  value = Group::reduce(value, Combine());
  if (Group::thread_rank() == 0)
    row_of(out, r)[v] = kReduction == Reduction::mean ? value / static_cast<float>(columns) : value;
}

template <Reduction kReduction>
void launch_reduction(cudaStream_t stream, const RowsIn& x, const Rows& rows, std::int64_t vectors,
                      std::int64_t columns, const RowsOut& out) {
  with_group(columns, [&](auto threads) {
    launch(stream, reduce_vectors_kernel<threads, kReduction>,
           config_for_groups<threads>(rows.max_live * vectors), x, rows, vectors, columns, out);
  });
}

}  // namespace

void reduce_vectors(cudaStream_t stream, Reduction reduction, const RowsIn& x, const Rows& rows,
                    std::int64_t vectors, std::int64_t columns, const RowsOut& out) {
  switch (reduction) {
    case Reduction::sum:
      return launch_reduction<Reduction::sum>(stream, x, rows, vectors, columns, out);
    case Reduction::max:
      return launch_reduction<Reduction::max>(stream, x, rows, vectors, columns, out);
    case Reduction::mean:
      return launch_reduction<Reduction::mean>(stream, x, rows, vectors, columns, out);
  }
}

}  // namespace fuselage::cuda
