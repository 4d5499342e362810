#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/location.h"
#include "graph/graph.h"
#include "ops/registry.h"

namespace fuselage {

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
  /// Length of the last dimension; 1 for a scalar a row.
  std::int64_t width() const;

  /// Gives the value a name, for dumps and messages.
  const Expr& named(std::string_view name) const;

 private:
  Builder* builder_ = nullptr;
  ValueId id_;
};

/// An operand together with the line that gave it; a number stands for a constant.
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

  /// A stored weight. `domain` is for tables with a row per vocabulary entry.
  Expr param(const std::string& name, Dims dims, DomainId domain = DomainId{0},
             DType dtype = DType::f32, CodeLocation at = CodeLocation::current());
  /// `number` in all of `dims`.
  Expr constant(double number, Dims dims = {}, CodeLocation at = CodeLocation::current());
  /// Position of each row of a source or hypothesis domain.
  Expr position(DomainId domain, CodeLocation at = CodeLocation::current());
  /// A value carried through the loop of `domain` (scan or parent); first it is `init`.
  Expr state(Expr init, DomainId domain, CodeLocation at = CodeLocation::current());
  /// Gives `state` its value for the next iteration.
  void next(Expr state, Expr value, CodeLocation at = CodeLocation::current());
  void output(std::string name, Expr value) { graph_.add_output(std::move(name), value.id()); }

  /// How dot and dot_transposed multiply by a weight that is stored in integers.
  struct IntegerProduct {
    /// The weight's quantized columns, each a vector along the last dimension.
    Expr columns;
    /// One number for all rows, by which they are quantized to the same type; may be left out.
    Expr scale;
  };
  /// From now on products with `weight` are computed in this way.
  void multiply_in_integers(Expr weight, const IntegerProduct& product);

  /// x Wᵀ if `transposed` or if W is quantized, whose vectors are its columns; else x W.
  Expr product(Expr x, Expr w, bool transposed, CodeLocation at);

  /// Adds an op; returns its first result.
  template <OpStruct Op>
  Expr add(const Op& op, const std::vector<Expr>& operands, CodeLocation at) {
    return add(op_def<Op>(), operands, attribute_values(op), at);
  }

  /// While it lives, new values without a name are named after it.
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
  std::map<ValueId, IntegerProduct> integer_products_;
};

// Equations. `at` names the calling line in messages.

Expr operator+(Operand a, Operand b);
Expr operator-(Operand a, Operand b);
Expr operator*(Operand a, Operand b);
Expr operator/(Operand a, Operand b);

/// x W, row by row; W [in, out], known at load time. A quantized W is stored as its columns,
/// [out, in].
Expr dot(Operand x, Expr w);
/// x Wᵀ; W [out, in] or a table with `out` vocabulary rows.
Expr dot_transposed(Operand x, Expr w);

Expr sigmoid(Operand x);
Expr tanh(Operand x);
Expr relu(Operand x);
Expr swish(Operand x);
Expr gelu(Operand x);
Expr softmax(Operand x);
Expr log_softmax(Operand x);

/// Layer normalization over a row; `bias` may be left out (an Expr that is not valid).
Expr layer_norm(Operand x, Expr gain, Expr bias, double epsilon);
Expr rms_norm(Operand x, Expr gain, double epsilon);

/// Side by side, along the last dimension.
Expr concat(const std::vector<Expr>& parts, CodeLocation at = CodeLocation::current());
/// Elements begin … end-1 of each row.
Expr slice(Operand x, std::int64_t begin, std::int64_t end);

/// Row via(r) of x, for each row r of the domain where the path starts; zeros where it leads
/// nowhere.
Expr select_rows(Operand x, MapPath via);
/// x for each row of `domain`, whose rows belong to rows of x's domain: a sentence's value for each
/// of its hypotheses, a parent's for each child. For pairs, that member's rows which x has.
Expr broadcast(Operand x, DomainId domain);
/// The rows of all iterations of a scan, each at its source position.
Expr collect(Operand x);
/// A hypothesis value kept for every token generated so far.
Expr history(Operand x, DomainId prefix);
/// Mean over the source tokens of each sentence.
Expr mean_rows(Operand x);

/// Left member's value x for each pair.
Expr left(Operand x, DomainId pairs);
/// Right member's value x for each pair.
Expr right(Operand x, DomainId pairs);
/// Softmax over the pairs of each left member.
Expr softmax_over_right(Operand scores);
/// For each left member, the sum of weight × value of the right member, head by head.
Expr mix(Operand weights, Expr right_values);
/// scale × dot product within each head.
Expr head_dot(Operand a, Expr b, std::int64_t heads, double scale);
/// [sin … | cos …] of a position.
Expr sinusoid(Operand position, std::int64_t dim);

}  // namespace fuselage
