#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// Type of the keys and values that the attention of a decoder reads in every step, of source
/// tokens and of generated words.
enum class KvCache : std::uint8_t {
  fp32,
  int8,  ///< 8-bit integers, with a scale for each head of a row
};

/// "fp32", "int8": the names of all types, in the order of the enumeration.
std::span<const std::string_view> kv_cache_names();

std::string_view to_string(KvCache type);

/// The inverse of to_string. Throws Error for an unknown name, with the nearest one.
KvCache kv_cache_from_string(std::string_view name);

}  // namespace fuselage
