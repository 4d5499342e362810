#include "backends/cpu/simd/rows/copy.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "fuselage/base/error.h"

namespace fuselage::cpu {

const float* zero_row(std::size_t columns) {
  thread_local std::vector<float> zeros;
  if (zeros.size() < columns) zeros.assign(std::max<std::size_t>(columns, 4096), 0.0f);
  return zeros.data();
}

void copy_rows(const RowsIn& in, std::size_t rows, std::size_t cols, const RowsOut& out) {
  if (cols == 0) return;
  check(in.columns == cols || in.columns == 1, "copy_rows: column counts differ");
  for (std::size_t r = 0; r < rows; ++r) {
    const float* from = row_of(in, r, cols);
    float* to = out.data + r * out.stride;
    if (in.columns == cols)
      std::memcpy(to, from, cols * sizeof(float));
    else
      std::fill_n(to, cols, *from);
  }
}

}  // namespace fuselage::cpu
