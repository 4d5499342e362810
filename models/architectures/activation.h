#pragma once

#include <string>

#include "fuselage/ops/builder.h"

namespace fuselage {

/// The activation function that Hugging Face's Transformers and CTranslate2 call `name`: relu, gelu
/// (by the error function), gelu_new (by tanh; Hendrycks and Gimpel 2016, section 2), swish and
/// others. Throws Error for an unknown name, with all names.
Expr activation(const std::string& name, Expr x);

}  // namespace fuselage
