#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "decoding/vocabulary_pair.h"
#include "models/model.h"

namespace fuselage {

/// What a product's left operand held while a text was translated.
struct ProductRange {
  std::string product;  ///< the product's name
  std::string rows;     ///< that of its left operand
  float least = std::numeric_limits<float>::infinity();
  float most = -std::numeric_limits<float>::infinity();
  std::int64_t numbers = 0;
  std::int64_t outside = 0;  ///< of [0, kLargestActivation]
};

/// To [0, 10] Devlin (2017, section 4.1) clips what is multiplied with weights, behind a ReLU.
inline constexpr float kLargestActivation = 10;

/// Translates `lines` in f32, greedily and with the model's own equations, and measures what each
/// product with weights multiplies, in the order in which the products run first. Throws Error as
/// Translator does.
std::vector<ProductRange> measure_products(const Model& model,
                                           const VocabularyPairOptions& vocabularies,
                                           const std::vector<std::string>& lines);

}  // namespace fuselage
