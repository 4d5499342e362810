#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fuselage/base/quantized.h"
#include "fuselage/models/model.h"

namespace fuselage {

/// How matrices are stored.
struct MatrixStorage {
  /// Matrices become quantized vectors; without a quantizer, floats.
  std::optional<Quantizer> quantizer;
  /// The type of floats: bf16, or f32, which keeps all numbers.
  DType floats = DType::bf16;
  /// Whether all vectors of a matrix share a scale; used if the quantizer neither fixes a scale nor
  /// bounds sums.
  bool one_scale = false;
  /// Whether scales of qint8 minimize the squared error (fitted_scale), in place of reaching the
  /// largest magnitude.
  bool fits_integers = false;
  /// Other quantizers of the same type, whose errors are measured only.
  std::vector<Quantizer> alternatives = {};

  /// The type of a parameter that is stored in this way.
  DType type() const { return quantizer ? quantizer->to : floats; }
};

/// The storage of a matrix by the name of its parameter.
using StorageOf = std::function<MatrixStorage(const std::string& name)>;

/// The result for a matrix. Squared errors are relative to the sum of squares of the matrix.
struct StoredMatrix {
  std::string name;
  std::vector<std::int64_t> shape;
  DType from = DType::f32;  ///< type before; errors are relative to its dequantized numbers
  DType to = DType::f32;    ///< type after
  int bits = 32;            ///< of a number in a file
  std::size_t bytes = 0;    ///< in a file, with scales
  double squared_error = 0;
  double largest_error = 0;          ///< maximum over elements, relative to the largest magnitude
  std::int64_t beyond_clipping = 0;  ///< elements outside of [-1, 1] (Devlin 2017, section 4.1)
  /// Squared errors with the alternative quantizers, in their order.
  std::vector<double> alternatives;
};

/// The results for all matrices.
struct StoredWeights {
  std::vector<StoredMatrix> matrices;
  std::int64_t kept = 0;         ///< matrices that already had this storage and keep their bytes
  std::size_t bytes_before = 0;  ///< of all weights as f32
  std::size_t bytes_after = 0;   ///< of all weights in a file
};

/// The names of the matrices that store_matrices stores.
std::vector<std::string> matrix_names(const Model& model);

/// Stores each matrix of a model as `storage_of` says, as quantized vectors: each column of a
/// product's matrix and each row of a table of embeddings has its own scale. In the graph a matrix
/// W becomes transpose(dequantize(Wq)) and a table dequantize(Eq), so the equations are the same in
/// any precision. A matrix in bf16 becomes cast(Wb). A matrix of another type than f32 is converted
/// from its dequantized numbers, or kept if it already has the requested type. Vectors, such as
/// biases and normalization parameters, are unchanged. Throws Error for a matrix whose integers the
/// model itself multiplies.
StoredWeights store_matrices(Model& model, const StorageOf& storage_of);

/// The same with one storage for all matrices.
StoredWeights store_matrices(Model& model, const MatrixStorage& storage);

}  // namespace fuselage
