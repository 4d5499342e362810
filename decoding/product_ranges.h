#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "decoding/lines/vocabulary_pair.h"
#include "fuselage/models/model.h"

namespace fuselage {

/// Range of the left operand of a product during the translation of a text.
struct ProductRange {
  std::string product;  ///< name of the product
  std::string rows;     ///< name of its left operand
  float least = std::numeric_limits<float>::infinity();
  float most = -std::numeric_limits<float>::infinity();
  std::int64_t numbers = 0;
  std::int64_t outside = 0;  ///< numbers outside [0, kLargestActivation]
};

/// Devlin (2017, section 4.1) clips the outputs of ReLUs, which are multiplied with weights, to
/// [0, 10].
inline constexpr float kLargestActivation = 10;

/// Translates `lines` in f32, greedily and without passes, and measures the left operand of each
/// product. Results are in the order in which the products first run. Throws Error as Translator
/// does.
std::vector<ProductRange> measure_products(const Model& model,
                                           const VocabularyPairOptions& vocabularies,
                                           const std::vector<std::string>& lines);

}  // namespace fuselage
