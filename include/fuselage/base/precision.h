#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// Number type in which products with weights are computed. `stored` is the type in which the model
/// stores the matrix of each product.
enum class Precision : std::uint8_t { fp32, bf16, fp16, int16, int8, int4, int4_log, stored };

/// "fp32", "bf16", "fp16", "int16", "int8", "int4", "int4-log", "stored": the names of all
/// precisions, in the order of the enumeration.
std::span<const std::string_view> precision_names();

std::string_view to_string(Precision precision);

/// The inverse of to_string. Throws Error for an unknown name, with the nearest one.
Precision precision_from_string(std::string_view name);

}  // namespace fuselage
