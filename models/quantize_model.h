#pragma once

#include "base/quantized.h"
#include "models/model.h"

namespace fuselage {

/// What became of the weights.
struct QuantizedWeights {
  std::size_t matrices = 0;      ///< that are quantized now
  std::size_t bytes_before = 0;  ///< of all weights
  std::size_t bytes_after = 0;
  double largest_error = 0;  ///< of an element, relative to its matrix's largest one
};

/// Stores the matrices of a model as quantized vectors, each column of a product's matrix by a
/// scale of its own, as each row of a table of embeddings. In the graph a matrix W becomes
/// transpose(dequantize(Wq)), and a table dequantize(Eq): the same equations over the numbers that
/// the integers stand for, whatever the precision is that they run in. Vectors, such as biases and
/// the parameters of a normalization, stay as they are.
QuantizedWeights quantize_weights(Model& model, const Quantizer& quantizer);

}  // namespace fuselage
