#include "backends/cpu/kernels/packed_matrix.h"

#include <algorithm>

#include "backends/cpu/kernels/table.h"

namespace fuselage::cpu {

PackedMatrix::PackedMatrix(std::size_t k, std::size_t n, std::size_t panel)
    : k_(k),
      n_(n),
      panel_(panel),
      data_(static_cast<float*>(::operator new ((n + panel - 1) / panel * panel * k * sizeof(float),
                                                std::align_val_t{64}))) {}

PackedMatrix PackedMatrix::pack(const float* w, std::size_t k, std::size_t n, std::size_t ld,
                                bool transposed) {
  PackedMatrix packed(k, n, kernels().gemm_panel);
  const std::size_t panel = packed.panel_;
  for (std::size_t p = 0; p < packed.panel_count(); ++p) {
    float* to = packed.data_.get() + p * k * panel;
    const std::size_t first = p * panel;
    const std::size_t width = std::min(panel, n - first);
    for (std::size_t i = 0; i < k; ++i, to += panel) {
      for (std::size_t j = 0; j < width; ++j)
        to[j] = transposed ? w[(first + j) * ld + i] : w[i * ld + first + j];
      std::fill(to + width, to + panel, 0.0f);
    }
  }
  return packed;
}

}  // namespace fuselage::cpu
