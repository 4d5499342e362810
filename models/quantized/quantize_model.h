#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fuselage/base/quantized.h"
#include "fuselage/models/model.h"

namespace fuselage {

/// How matrices are stored.
struct MatrixStorage {
  /// Matrices become quantized vectors; without a quantizer, bf16.
  std::optional<Quantizer> quantizer;
  /// Whether all vectors of a matrix share a scale; used if the quantizer neither fixes a scale nor
  /// bounds sums.
  bool one_scale = false;
};

/// The result for a matrix. Squared errors are relative to the sum of squares of the matrix.
struct StoredMatrix {
  std::string name;
  std::vector<std::int64_t> shape;
  DType from = DType::f32;  ///< type before; errors are relative to its dequantized numbers
  double squared_error = 0;
  double largest_error = 0;          ///< maximum over elements, relative to the largest magnitude
  std::int64_t beyond_clipping = 0;  ///< elements outside of [-1, 1] (Devlin 2017, section 4.1)
  /// Squared errors with the alternative storages, in their order.
  std::vector<double> alternatives;
};

/// The results for all matrices.
struct StoredWeights {
  std::vector<StoredMatrix> matrices;
  std::int64_t kept = 0;         ///< matrices that already had this storage and keep their bytes
  std::size_t bytes_before = 0;  ///< of all weights as f32
  std::size_t bytes_after = 0;   ///< of all weights in a file
};

/// Stores the matrices of a model as quantized vectors: each column of a product's matrix and each
/// row of a table of embeddings has its own scale. In the graph a matrix W becomes
/// transpose(dequantize(Wq)) and a table dequantize(Eq), so the equations are the same in any
/// precision. A matrix in bf16 becomes cast(Wb). A matrix of another type than f32 is converted
/// from its dequantized numbers, or kept if it already has the requested type. Vectors, such as
/// biases and normalization parameters, are unchanged. `alternatives` are measured only. Throws
/// Error for a matrix whose integers the model itself multiplies.
StoredWeights store_matrices(Model& model, const MatrixStorage& storage,
                             const std::vector<MatrixStorage>& alternatives = {});

}  // namespace fuselage
