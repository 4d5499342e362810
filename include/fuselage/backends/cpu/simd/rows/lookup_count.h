#pragma once

#include <cstddef>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {
namespace cpu {

/// Number of looked-up rows, and of table hits.
struct LookupCount {
  std::size_t lookups = 0, hits = 0;
};

}  // namespace cpu
}  // namespace fuselage
