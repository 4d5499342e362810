#include <array>
#include <span>

#include "fuselage/backends/backend.h"
#include "fuselage/backends/cpu/backend.h"

namespace fuselage {

std::span<const Backend* const> all_backends() {
  static const std::array<const Backend*, 1> all{&cpu_backend()};
  return all;
}

}  // namespace fuselage
