#pragma once

#include <string>
#include <vector>

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

/// Properties of a cell.
struct CellOptions {
  std::string type = "gru";  ///< one of cell_types()
  std::int64_t size = 0;     ///< state size H
  bool layer_normalization = false;
  /// The reset gate of a GRU multiplies the candidate's bias too: decoder cells after the first.
  bool bias_in_reset = false;
  NematusBias nematus_bias = NematusBias::input;
};

/// What a cell hands on to the next cell of a stack, and to itself in the next row of a loop.
struct CellState {
  Expr output;  ///< f32[H]
  Expr memory;  ///< f32[H], of the cells that have one beside their output; else invalid
};

/// All types of cells: gru, gru-nematus, lstm, mlstm, mgru, tanh, relu, sru and ssru.
std::vector<std::string_view> cell_types();

/// One step of a recurrent cell with the parameters `prefix`_W, _U, _b and so on, for the input `x`
/// and the state `s`. With an invalid `x` the cell is a transition without input. Throws Error for
/// a type that is unknown, needs an input, or needs one of the size of its state.
CellState recurrent_cell(Parameters& p, const std::string& prefix, Expr x, const CellState& s,
                         const CellOptions& options);

/// The state of a cell or of a stack of cells of one type, carried through a loop. Only the parts
/// that the type reads are carried.
class CarriedState {
 public:
  /// `loop` is a scan or the parents of a decoder's step; `initial` is the first value of each
  /// part. The parts have the names `name`.state and `name`.memory.
  CarriedState(Builder& builder, const std::string& cell_type, Expr initial, DomainId loop,
               const std::string& name);

  /// The state in the rows of `domain`, which is the loop's or belongs to it.
  CellState in(DomainId domain) const;
  /// Sets the state of the next iteration.
  void next(const CellState& value) const;

 private:
  Builder& builder_;
  DomainId loop_;
  CellState parts_;  ///< invalid parts are not carried
};

/// Additive attention (Bahdanau et al. 2015, appendix A.1.2) with the parameters `name`_Wc_att and
/// so on: a weight for each of `pairs` of a row of `query` and a row of `context`.
Expr additive_attention(Parameters& p, const std::string& name, Expr context, Expr query,
                        DomainId pairs, RnnNorm norm = RnnNorm::none);

/// Layer normalization as Nematus does it: gain `name`_lns, shift `name`_lnb, epsilon 1e-5.
Expr nematus_norm(Parameters& p, Expr x, const std::string& name);

/// Epsilon of Marian's norms in recurrent models.
inline constexpr double kRnnNormEpsilon = 1e-9;

}  // namespace fuselage
