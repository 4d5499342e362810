#pragma once

#include <string>

#include "fuselage/models/architectures/parameters.h"

namespace fuselage {

/// How a recurrent model normalizes its layers.
enum class RnnNorm {
  none,
  joint,    ///< Marian: one norm of gates and candidate, no shift, bias added after the norm
  nematus,  ///< Nematus: a norm of the gates and one of the candidate, with shift, bias inside
};

/// Where the biases of a Nematus cell with layer normalization enter.
enum class NematusBias {
  input,  ///< added to the product of the input, before its norm: first cells
  state,  ///< added to the product of the state, before its norm: decoder cells after the first
  after_norm,  ///< added after the norm of the state's product: encoder transitions
};

/// Properties in which the GRUs of a stack differ.
struct GruOptions {
  std::int64_t size = 0;  ///< state size H
  RnnNorm norm = RnnNorm::none;
  /// The reset gate multiplies the candidate's bias too: decoder cells after the first.
  bool bias_in_reset = false;
  NematusBias nematus_bias = NematusBias::input;
};

/// One step of a gated recurrent unit (Cho et al. 2014, section 2.3) with the parameters
/// `prefix`_W, _U, _b and so on. Returns the new state for the input `x` and the state `s`. With an
/// invalid `x` the cell is a transition without input.
Expr gru(Parameters& p, const std::string& prefix, Expr x, Expr s, const GruOptions& options);

/// Layer normalization as Nematus does it: gain `name`_lns, shift `name`_lnb, epsilon 1e-5.
Expr nematus_norm(Parameters& p, Expr x, const std::string& name);

/// Epsilon of Marian's norms in recurrent models.
inline constexpr double kRnnNormEpsilon = 1e-9;

}  // namespace fuselage
