#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/base/location.h"
#include "fuselage/graph/graph.h"
#include "fuselage/ops/registry.h"

namespace FUSELAGE_API fuselage {

class Builder;

/// A value of a graph under construction. Arithmetic on it adds nodes:
///
///     Expr gate = sigmoid(dot(x, W) + b);
///     Expr next = (1 - gate) * candidate + gate * state;
///
/// A mismatch throws Error at once, with both shapes and the line of the model's code.
class Expr {
 public:
  Expr() = default;
  Expr(Builder* builder, ValueId id) : builder_(builder), id_(id) {}

  bool valid() const { return builder_ != nullptr; }
  Builder& builder() const { return *builder_; }
  ValueId id() const { return id_; }
  const Type& type() const;
  /// Length of the last dimension; 1 for one scalar per row.
  std::int64_t width() const;

  /// Names the value, for dumps and messages.
  const Expr& named(std::string_view name) const;

 private:
  Builder* builder_ = nullptr;
  ValueId id_;
};

/// An operand and the source line that passed it; a number becomes a constant.
struct Operand {
  Operand(Expr e, CodeLocation l = CodeLocation::current())  // NOLINT
      : expr(e), location(l) {}
  Operand(double n, CodeLocation l = CodeLocation::current())  // NOLINT
      : number(n), location(l) {}
  Operand(int n, CodeLocation l = CodeLocation::current())  // NOLINT
      : number(n), location(l) {}

  Expr expr;
  double number = 0;
  CodeLocation location;
};

/// Builds a graph. Declare domains on graph(), then write equations with the functions below.
class Builder {
 public:
  explicit Builder(std::string name) : graph_(std::move(name)) {}
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  Graph& graph() { return graph_; }
  /// The finished graph; the builder is empty afterwards.
  Graph take() { return std::move(graph_); }

  /// A stored weight. A table with a row per vocabulary entry has a vocabulary `domain`.
  Expr param(const std::string& name, Dims dims, DomainId domain = DomainId{0},
             DType dtype = DType::f32, CodeLocation at = CodeLocation::current());
  /// A constant of shape `dims` filled with `number`.
  Expr constant(double number, Dims dims = {}, CodeLocation at = CodeLocation::current());
  /// Numbers f32 that the caller supplies for each row of a source or sentence domain; declares the
  /// input `name`.
  Expr input(const std::string& name, DomainId domain, Dims dims,
             CodeLocation at = CodeLocation::current());
  /// Position of each row of a source or hypothesis domain.
  Expr position(DomainId domain, CodeLocation at = CodeLocation::current());
  /// A value carried through the loop of `domain` (scan or parent), initially `init`.
  Expr state(Expr init, DomainId domain, CodeLocation at = CodeLocation::current());
  /// Sets the value of `state` in the next iteration.
  void next(Expr state, Expr value, CodeLocation at = CodeLocation::current());
  void output(std::string name, Expr value) { graph_.add_output(std::move(name), value.id()); }

  /// Quantized form of a weight, used by dot and dot_transposed.
  struct IntegerProduct {
    /// The quantized columns, each a vector along the last dimension.
    Expr columns;
    /// The scale by which all rows are quantized to the same type; may be invalid (a scale per
    /// row).
    Expr scale;
  };
  /// Products with `weight` use this form from now on.
  void multiply_in_integers(Expr weight, const IntegerProduct& product);

  /// x Wᵀ if `transposed` or if W is quantized (its vectors are the columns); else x W.
  Expr product(Expr x, Expr w, bool transposed, CodeLocation at);

  /// Adds an op; returns its first result.
  template <OpStruct Op>
  Expr add(const Op& op, const std::vector<Expr>& operands,
           CodeLocation at = CodeLocation::current()) {
    return add(op_def<Op>(), operands, attribute_values(op), at);
  }

  /// During its lifetime unnamed new values are named after the scope and their op, from the second
  /// one of a name on with a number: "encoder.add", "encoder.add.2". So names in provenance are
  /// unique.
  class Scope {
   public:
    Scope(Builder& builder, std::string name);
    ~Scope() { builder_.scope_ = std::move(outer_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Builder& builder_;
    std::string outer_;
  };

 private:
  Expr add(const OpDef& op, const std::vector<Expr>& operands, const AttrList& attrs,
           CodeLocation at);

  Graph graph_;
  std::string scope_;
  std::map<std::string, std::size_t> uses_of_name_;
  std::map<ValueId, IntegerProduct> integer_products_;
};

// Equations. `at` names the calling line in messages.

Expr operator+(Operand a, Operand b);
Expr operator-(Operand a, Operand b);
Expr operator*(Operand a, Operand b);
Expr operator/(Operand a, Operand b);
Expr operator-(Operand a);

/// The larger and the smaller of a and b, element by element; b if one is NaN.
Expr max(Operand a, Operand b);
Expr min(Operand a, Operand b);

// Comparisons, element by element: 1 where they hold, else 0. With NaN only not_equal holds.
Expr equal(Operand a, Operand b);
Expr not_equal(Operand a, Operand b);
Expr less(Operand a, Operand b);
Expr less_equal(Operand a, Operand b);
Expr greater(Operand a, Operand b);
Expr greater_equal(Operand a, Operand b);
/// a where `condition` is not 0, else b.
Expr where(Operand condition, Operand a, Operand b);

/// x W, row by row; W [in, out], known at load time. A quantized W is stored by columns, [out, in].
Expr dot(Operand x, Expr w);
/// x Wᵀ; W [out, in] or a table with `out` vocabulary rows.
Expr dot_transposed(Operand x, Expr w);

/// The products of the matrices in each row: a [..., m, k] and b [..., k, n], or [..., n, k] if
/// transposed, give [..., m, n]. Leading dimensions are equal; one operand may be without rows.
Expr batch_matmul(Operand a, Expr b, bool transposed = false);
/// a bᵀ, of the vectors in each row: a [..., m] and b [..., n] give [..., m, n].
Expr outer(Operand a, Operand b);

Expr sigmoid(Operand x);
Expr tanh(Operand x);
Expr relu(Operand x);
Expr swish(Operand x);
Expr gelu(Operand x);
Expr exp(Operand x);
/// Natural logarithm.
Expr log(Operand x);
Expr sqrt(Operand x);
Expr abs(Operand x);
/// Sine and cosine of angles in radians.
Expr sin(Operand x);
Expr cos(Operand x);
Expr softmax(Operand x);
Expr log_softmax(Operand x);

/// Layer normalization over a row; `bias` may be an invalid Expr: no bias.
Expr layer_norm(Operand x, Expr gain, Expr bias, double epsilon);
Expr rms_norm(Operand x, Expr gain, double epsilon);

// Reductions over the last dimension of a row: f32[n] becomes f32[1], f32[h, n] becomes f32[h].
Expr reduce_sum(Operand x);
/// NaN if an element is NaN.
Expr reduce_max(Operand x);
Expr reduce_mean(Operand x);

/// Concatenation along the last dimension.
Expr concat(const std::vector<Expr>& parts, CodeLocation at = CodeLocation::current());
/// Elements begin … end-1 of each row.
Expr slice(Operand x, std::int64_t begin, std::int64_t end);
/// The same elements, in the same order, under other dimensions of a row: [512] as [8, 64].
Expr reshape(Operand x, Dims dims);

/// Dimensions of size 1 repeated to `dims`, as numpy's broadcast_to; missing leading dimensions
/// count as 1. With reshape and the arithmetic above it gives numpy's broadcasting.
Expr expand(Operand x, Dims dims);
/// The dimensions of a row in another order: dimension i of the result is dimension order[i].
Expr permute(Operand x, Dims order);

/// x as numbers of another type: i32, bf16 or f16 to f32, and weights from f32 to bf16 or f16.
Expr cast(Operand x, DType to);

/// Row via(r) of x, for each row r of the domain where the path starts. Rows that the path leads
/// nowhere have `default_row`, a value without rows, or zeros if it is an invalid Expr: the
/// embedding of the symbol that a decoder starts with, for example.
Expr select_rows(Operand x, MapPath via, Expr default_row = {});
/// Broadcasts x to `domain`, which x's domain owns: a sentence's value to each of its hypotheses, a
/// parent's value to each child. For pairs, x is a value of the left or right member.
Expr broadcast(Operand x, DomainId domain);
/// Collects the rows of all iterations of a scan at their source positions.
Expr collect(Operand x);
/// Keeps a hypothesis value for every token generated so far.
Expr history(Operand x, DomainId prefix);
/// Mean over the source tokens of each sentence.
Expr mean_rows(Operand x);

// Reductions of groups of rows, column by column: the source tokens of each sentence, or the pairs
// of each left member. Groups without rows give 0, -infinity and -infinity.
Expr sum_rows(Operand x);
Expr max_rows(Operand x);
Expr log_sum_exp_rows(Operand x);

/// The value x of the left member of each pair.
Expr left(Operand x, DomainId pairs);
/// The value x of the right member of each pair.
Expr right(Operand x, DomainId pairs);
/// Softmax over the pairs of each left member.
Expr softmax_over_right(Operand scores);
/// For each left member, the sum of weight × value of the right member, head by head.
Expr mix(Operand weights, Expr right_values);
/// One of several groups that are attended together.
struct AttendedGroup {
  Expr scores;        ///< of pairs of a row and a member of this group: f32[heads]
  Expr right_values;  ///< what the members of the group contribute: f32[heads × width]
};
/// Attention with one softmax over the members of all groups, for example source tokens and
/// generated words. Each group is normalized and mixed alone, and the mixtures are weighted with
/// exp(log Σ exp(its scores) - log Σ exp(all scores)). Zeros where no group has a member.
Expr joint_attention(const std::vector<AttendedGroup>& groups,
                     CodeLocation at = CodeLocation::current());
/// scale × dot product within each head.
Expr head_dot(Operand a, Expr b, std::int64_t heads, double scale);
/// Sinusoidal position encoding [sin … | cos …] of `dim` elements.
Expr sinusoid(Operand position, std::int64_t dim);
/// Rotary positions: the halves [a | b] of each head become [a cos - b sin | b cos + a sin]. `cos`
/// and `sin` have half of a head's elements; read from a table by a map of positions, they are
/// computed at load.
Expr rotary(Operand x, Expr cos, Expr sin, std::int64_t heads);

}  // namespace fuselage
