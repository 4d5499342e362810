#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/quantized.h"
#include "models/model.h"

namespace fuselage {

/// How matrices are stored.
struct MatrixStorage {
  /// As quantized vectors; as bf16 where there is none.
  std::optional<Quantizer> quantizer;
  /// Whether all vectors of a matrix share a scale, where the quantizer neither gives one nor
  /// bounds sums.
  bool one_scale = false;
};

/// What became of a matrix. Errors are sums of squares relative to that of the matrix.
struct StoredMatrix {
  std::string name;
  std::vector<std::int64_t> shape;
  DType from = DType::f32;  ///< how it was stored; errors are those of the numbers it stood for
  double squared_error = 0;
  double largest_error = 0;          ///< of an element, relative to the largest one
  std::int64_t beyond_clipping = 0;  ///< elements outside of [-1, 1] (Devlin 2017, section 4.1)
  /// Squared errors with other storages, in their order.
  std::vector<double> alternatives;
};

/// What became of the weights.
struct StoredWeights {
  std::vector<StoredMatrix> matrices;
  std::int64_t kept = 0;  ///< matrices that were stored in that way already, and keep their bytes
  std::size_t bytes_before = 0;  ///< of all weights as f32
  std::size_t bytes_after = 0;   ///< of all weights in a file
};

/// Stores the matrices of a model as quantized vectors, each column of a product's matrix by a
/// scale of its own, as each row of a table of embeddings. In the graph a matrix W becomes
/// transpose(dequantize(Wq)), and a table dequantize(Eq): the same equations over the numbers that
/// the integers stand for, whatever the precision is that they run in. A matrix in bf16 becomes
/// cast(Wb). What is stored in fewer bits than f32 already is stored anew from the numbers that it
/// stands for, or kept when it has the type that is asked for. Vectors, such as biases and the
/// parameters of a normalization, stay as they are. `alternatives` are measured only. Throws Error
/// for matrices whose integers the model itself multiplies.
StoredWeights store_matrices(Model& model, const MatrixStorage& storage,
                             const std::vector<MatrixStorage>& alternatives = {});

}  // namespace fuselage
