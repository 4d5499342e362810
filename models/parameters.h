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
class Parameters {
 public:
  /// `where` names the file in messages. A stored [n] counts as [1, n].
  Parameters(Builder& builder, const TensorMap& weights, std::string where);

  Builder& builder() { return builder_; }
  bool has(const std::string& name) const { return weights_.count(name) != 0; }

  /// [in, out].
  Expr matrix(const std::string& name, std::int64_t in, std::int64_t out);
  /// [size].
  Expr vector(const std::string& name, std::int64_t size);
  /// A row of `width` for each entry of `vocabulary`.
  Expr table(const std::string& name, DomainId vocabulary, std::int64_t width);
  /// Rows of a stored matrix, for sizes that only the file knows.
  std::int64_t rows(const std::string& name) const;

  /// The weights in the shapes of the graph. Throws Error naming those that were never asked for.
  TensorMap take() const;

 private:
  const Tensor& stored(const std::string& name) const;
  Expr declare(const std::string& name, Dims dims, DomainId domain);

  Builder& builder_;
  const TensorMap& weights_;
  std::string where_;
  std::map<std::string, Expr> declared_;
};

}  // namespace fuselage
