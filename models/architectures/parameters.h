#pragma once

#include <map>
#include <set>
#include <string>

#include "base/tensor.h"
#include "ops/builder.h"

namespace fuselage {

/// The stored parameters of a model under construction. Each is declared as a `param` node when it
/// is first asked for, checked against the shape that the equations expect, and must be asked for
/// by the time the model is finished: a parameter that nothing uses means a misread configuration.
///
/// Matrices and tables may be quantized, and then stay so. A parameter X_QuantMultA is the
/// multiplier that makes integers of what the quantized X is multiplied by; products with X are
/// then products of integers.
class Parameters {
 public:
  /// `where` names the file in messages. A stored [n] counts as [1, n].
  Parameters(Builder& builder, const TensorMap& weights, std::string where);

  Builder& builder() { return builder_; }
  bool has(const std::string& name) const { return weights_.count(name) != 0; }

  /// [in, out], for dot. A quantized one is stored as its columns, [out, in].
  Expr matrix(const std::string& name, std::int64_t in, std::int64_t out);
  /// [out, in], for dot_transposed. A quantized one is stored as its columns, too: [in, out].
  Expr transposed_matrix(const std::string& name, std::int64_t out, std::int64_t in);
  /// [size].
  Expr vector(const std::string& name, std::int64_t size);
  /// A row of `width` for each entry of `vocabulary`, for select_rows and dot_transposed.
  Expr table(const std::string& name, DomainId vocabulary, std::int64_t width);
  /// Rows of a stored matrix, for sizes that only the file knows.
  std::int64_t rows(const std::string& name) const;

  /// The weights in the shapes of the graph. Throws Error naming those that were never asked for.
  TensorMap take() const;

 private:
  const Tensor& stored(const std::string& name) const;
  bool is_in_integers(const std::string& name) const;
  Expr declare(const std::string& name, Dims dims, DomainId domain);
  Expr numbers(const std::string& name, Expr param);
  Expr scale_of_rows(const std::string& name);

  Builder& builder_;
  const TensorMap& weights_;
  std::string where_;
  std::map<std::string, Expr> declared_;
  std::map<std::string, Expr> numbers_;  ///< that quantized parameters stand for
  std::map<std::string, Expr> scales_;   ///< of what they are multiplied by
};

}  // namespace fuselage
