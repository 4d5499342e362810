#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "fuselage/base/api.h"
#include "fuselage/base/tensor.h"
#include "fuselage/ops/builder.h"

namespace FUSELAGE_API fuselage {

/// The stored parameters of a model under construction. The first request for a parameter declares
/// it as a `param` node and checks its shape against the equations. Every parameter must have been
/// requested when the model is finished: an unused one means a misread configuration.
///
/// Quantized matrices and tables stay quantized, and those in bf16 or f16 stay so: the graph
/// converts them to f32. Vectors become f32. A parameter X_QuantMultA is the multiplier that
/// quantizes the other operand of products with X; these are then products of integers.
class Parameters {
 public:
  /// `where` names the file in messages. A stored shape [n] is read as [1, n].
  Parameters(Builder& builder, const TensorMap& weights, std::string where);

  /// Parameters that are made, as random as `seed`: matrices have a deviation of 1 / √(rows), so
  /// that products are as large as their operands, tables of 1, vectors of 0.1. The numbers depend
  /// on the seed, the name and the shape only, on any machine.
  Parameters(Builder& builder, std::uint64_t seed, std::string where);

  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  Builder& builder() { return builder_; }
  /// Whether a parameter is stored; of parameters that are made none is.
  bool has(const std::string& name) const { return weights_.count(name) != 0; }

  /// [in, out], for dot. A quantized matrix is stored as its columns, [out, in].
  Expr matrix(const std::string& name, std::int64_t in, std::int64_t out);
  /// [out, in], for dot_transposed. A quantized matrix is stored as its columns: [in, out].
  Expr transposed_matrix(const std::string& name, std::int64_t out, std::int64_t in);
  /// [size].
  Expr vector(const std::string& name, std::int64_t size);
  /// [size]: a row for select_rows where there is none in a table; in 16 bits it stays so, as the
  /// table does.
  Expr default_row(const std::string& name, std::int64_t size);
  /// A row of `width` for each entry of `vocabulary`, for select_rows and dot_transposed.
  Expr table(const std::string& name, DomainId vocabulary, std::int64_t width);
  /// Number of rows of a stored matrix, for sizes that only the file states; of one that is made
  /// `otherwise`, which option `source` states. Throws Error if that is 0.
  std::int64_t rows(const std::string& name, std::int64_t otherwise = 0,
                    const char* source = "dim-vocabs") const;

  /// The weights in the shapes of the graph. Throws Error naming the weights never requested.
  TensorMap take() const;

 private:
  const Tensor& stored(const std::string& name) const;
  void make(const std::string& name, const Dims& shape, bool is_table);
  bool is_in_integers(const std::string& name) const;
  bool is_in_halves(const std::string& name) const;
  /// `widens`: 16-bit floats become f32 when they are loaded.
  Expr declare(const std::string& name, Dims dims, DomainId domain, bool widens = false);
  Expr numbers(const std::string& name, Expr param);
  Expr scale_of_rows(const std::string& name);

  Builder& builder_;
  std::optional<std::uint64_t> seed_;  ///< parameters are made
  TensorMap made_;
  double made_numbers_ = 0;
  const TensorMap& weights_;  ///< stored, or made_
  std::string where_;
  std::map<std::string, Expr> declared_;
  std::map<std::string, Expr> numbers_;  ///< parameters as f32
  std::map<float, Expr> scales_;      ///< by multiplier: scales of the operands of integer products
  std::set<std::string> as_numbers_;  ///< parameters that became numbers of the graph
};

}  // namespace fuselage
