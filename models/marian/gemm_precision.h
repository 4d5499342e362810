#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/base/precision.h"
#include "fuselage/models/load_model.h"

namespace fuselage {

/// The meaning of `gemm-precision`, an option of marian-decoder's Firefox fork.
struct GemmPrecision {
  Precision precision = Precision::fp32;
  Calibration calibration = Calibration::as_stored;
};

/// float32, int16, int8, int8shift, int8shiftAll: rows are quantized by their own numbers;
/// int8Alpha, int8shiftAlpha, int8shiftAlphaAll: by the multipliers of calibration. The shift is
/// arithmetic for a kernel and changes no result. nullopt for another name.
std::optional<GemmPrecision> gemm_precision_from_string(std::string_view name);

std::vector<std::string> gemm_precision_names();

}  // namespace fuselage
