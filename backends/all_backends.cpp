#include <array>
#include <span>

#include "backends/cuda/backend.h"
#include "backends/reference/backend.h"
#include "fuselage/backends/backend.h"
#include "fuselage/backends/cpu/backend.h"

namespace fuselage {

std::span<const Backend* const> all_backends() {
  static const std::array<const Backend*, 3> all{&cpu_backend(), &cuda_backend(),
                                                 &reference_backend()};
  return all;
}

}  // namespace fuselage
