#pragma once

#include <string>

#include "models/architectures/parameters.h"

namespace fuselage {

/// How a recurrent model normalizes its layers.
enum class RnnNorm {
  none,
  joint,    ///< Marian's: gates and candidate together, no shift, the bias added afterwards
  nematus,  ///< Nematus's: gates and candidate apart, with shift, the bias inside
};

/// Where the biases of a Nematus cell with layer normalization enter.
enum class NematusBias {
  input,       ///< with the input, before its norm: first cells
  state,       ///< with the state, before its norm: decoder cells from the second on
  after_norm,  ///< behind the norm of the state: encoder transitions
};

/// What distinguishes one GRU of a stack from another.
struct GruOptions {
  std::int64_t size = 0;  ///< state size H
  RnnNorm norm = RnnNorm::none;
  /// The candidate's bias stands inside the reset gate: decoder cells after the first.
  bool bias_in_reset = false;
  NematusBias nematus_bias = NematusBias::input;
};

/// One step of a gated recurrent unit (Cho et al. 2014, section 2.3) with the parameters
/// `prefix`_W, _U, _b and so on: the new state from input `x` (not valid: a transition without
/// input) and state `s`.
Expr gru(Parameters& p, const std::string& prefix, Expr x, Expr s, const GruOptions& options);

/// Layer normalization as Nematus does it: gain `name`_lns, shift `name`_lnb, epsilon 1e-5.
Expr nematus_norm(Parameters& p, Expr x, const std::string& name);

/// Epsilon of Marian's norms in recurrent models.
inline constexpr double kRnnNormEpsilon = 1e-9;

}  // namespace fuselage
