#pragma once

#include <optional>
#include <string>

#include "fuselage/base/precision.h"
#include "fuselage/base/tensor.h"
#include "models/ctranslate2/model_bin.h"

namespace fuselage {

/// The weights of the architecture ctranslate2-transformer, by the names of the variables.
struct Ctranslate2Weights {
  TensorMap tensors;
  /// The precision in which the matrices are stored; nullopt: f32, or f16, which not all back-ends
  /// multiply with.
  std::optional<Precision> precision;
};

/// Matrices of floats, which CTranslate2 stores as [out, in], become [in, out]; of integers each
/// row becomes a quantized vector. Integers of 16 bits whose products would not fit 32 bits become
/// floats. Throws Error with `where` and the variable for integers without scales, and for scales
/// that cannot be divided by.
Ctranslate2Weights ctranslate2_weights(const Ctranslate2File& file, const std::string& where);

}  // namespace fuselage
