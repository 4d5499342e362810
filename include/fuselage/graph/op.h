#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/graph/type.h"

namespace FUSELAGE_API fuselage {

class Graph;
struct Node;

/// A path of row maps, from the domain of a result to the domain of an operand.
using MapPath = std::vector<MapId>;

/// Value of an attribute. The op's AttrSpec determines the alternative.
using Attr = std::variant<std::int64_t, double, bool, std::string, DomainId, MapPath, Dims,
                          std::vector<double>, DType>;

/// Attributes by name; omitted attributes have their defaults.
using AttrList = std::vector<std::pair<std::string_view, Attr>>;

/// The alternatives of Attr, in its order.
enum class AttrKind : std::uint8_t {
  integer,
  real,
  boolean,
  string,
  domain,
  path,
  dims,
  reals,
  dtype
};

std::string_view to_string(AttrKind kind);

/// Declares an attribute: its name, kind and default (nullopt: the attribute is required).
struct AttrSpec {
  std::string_view name;
  AttrKind kind;
  std::optional<Attr> default_value = std::nullopt;
  std::string_view former_name = {};  ///< a name in older text graphs; empty: none
};

/// Declares an operand. Only the last one may be optional or variadic (one or more, or any number).
struct OperandSpec {
  enum class Arity : std::uint8_t { one, optional, repeated, any_number };
  std::string_view name = {};
  Arity arity = Arity::one;
  /// The path attribute through which a result row reads rows of this operand; empty: none.
  std::string_view through = {};
};

/// Properties of an op that rules rely on, so that no rule tests a name.
enum class Trait : std::uint32_t {
  row_wise = 1u << 0,        ///< row r of a result depends on row r of each operand that has rows
  linear = 1u << 1,          ///< linear in its first operand
  commutative = 1u << 2,     ///< op(a, b) equals op(b, a)
  selects_rows = 1u << 3,    ///< a result row is one operand row, or the default row
  mixes_rows = 1u << 4,      ///< a result row is a weighted sum of operand rows
  loop_state = 1u << 5,      ///< carries a value into an iteration of a loop
  loop_next = 1u << 6,       ///< sets the next iteration's value of its first operand, a state
  sink = 1u << 7,            ///< has no result and is always live
  external = 1u << 8,        ///< its value comes from outside the graph
  changes_domain = 1u << 9,  ///< its result has the same rows under another domain
  /// Element i of a result depends on element i of each operand, or on the only element of an
  /// operand with one element a row.
  elementwise = 1u << 10,
  /// A result row is the range [begin, end) of the last dimension of the operand row (op::Range).
  slices = 1u << 11,
};

/// A set of traits.
class Traits {
 public:
  constexpr Traits() = default;
  constexpr Traits(Trait trait)  // NOLINT: a trait is a set of one
      : bits_(static_cast<std::uint32_t>(trait)) {}
  constexpr bool has(Trait trait) const { return (bits_ & static_cast<std::uint32_t>(trait)) != 0; }
  friend constexpr Traits operator|(Traits a, Traits b) {
    Traits both;
    both.bits_ = a.bits_ | b.bits_;
    return both;
  }

 private:
  std::uint32_t bits_ = 0;
};
constexpr Traits operator|(Trait a, Trait b) { return Traits(a) | Traits(b); }

/// Work and memory traffic of a node. Per row of its first result, except weight_bytes, which are
/// read once for all rows.
struct Cost {
  double flop = 0;
  double bytes = 0;
  double weight_bytes = 0;
};

/// Input of `infer`: the operands' types, the attributes and the declared domains.
class InferContext {
 public:
  InferContext(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  const Graph& graph() const { return graph_; }
  const Node& node() const { return node_; }
  std::size_t operand_count() const;
  const Type& operand(std::size_t i) const;
  DomainId none() const;

  /// The node's attributes; see Node::as.
  template <typename S>
  S as() const;

  /// Throws Error with the op, its location and `message`.
  [[noreturn]] void fail(const std::string& message) const;

  /// "hyp f32[256]", as the text form prints a type.
  std::string show(const Type& type) const;

 private:
  const Graph& graph_;
  const Node& node_;
};

template <typename T>
struct EvalContext;   // ops/evaluate.h
struct RowFunction;   // ops/row_function.h
class Decomposition;  // ops/decompose.h

/// The definition of an operator: signature, type inference, traits, cost and reference evaluation.
struct OpDef {
  std::string_view name = {};
  std::string_view summary = {};  ///< one line for the documentation
  std::vector<OperandSpec> operands = {};
  std::vector<AttrSpec> attributes = {};
  Traits traits = {};

  /// Computes the result types from operand types and attributes; the only source of result types.
  /// Throws Error if they do not fit.
  std::vector<Type> (*infer)(const InferContext&) = nullptr;

  /// Work of one node; nullptr: negligible.
  Cost (*cost)(const InferContext&) = nullptr;

  /// Reference evaluation in float and in double; nullptr for ops implemented by the executor.
  void (*evaluate_f32)(EvalContext<float>&) = nullptr;
  void (*evaluate_f64)(EvalContext<double>&) = nullptr;

  /// The function of one row, bound to a node's attributes; nullptr: none. `define` in
  /// ops/row_function.h sets it with the evaluations that follow from it.
  RowFunction (*row)(const Node&) = nullptr;

  /// The definition of a fused op: adds the equivalent plain ops and returns their results. nullptr
  /// for plain ops.
  std::vector<ValueId> (*decompose)(Decomposition&) = nullptr;

  /// Names of the op in older text graphs.
  std::vector<std::string_view> former_names = {};

  /// The file of ops/ that defines it, without ".cpp"; empty for ops from outside the tree.
  std::string_view family = {};

  /// Who registered it: "the extension FILE" or "this program"; empty for ops of the tree.
  /// register_ops sets it.
  std::string_view registered_by = {};

  bool has(Trait trait) const { return traits.has(trait); }

  /// Index of the attribute, or nullopt.
  std::optional<std::size_t> attribute_index(std::string_view attribute) const;
  /// The same, by its name or a former one.
  std::optional<std::size_t> written_attribute_index(std::string_view attribute) const;
};

/// Ops by name. The parser and the command look up ops here; a graph refers to them by pointer.
/// Thread-safe.
class OpRegistry {
 public:
  /// Adds copies of the definitions, all or none. The texts that they refer to must outlive the
  /// registry. Throws Error for a definition that contradicts itself, and for a name or former name
  /// that is taken.
  void add(std::span<const OpDef> ops);

  /// The op with this current or former name, or nullptr. Valid as long as the registry.
  const OpDef* find(std::string_view name) const;

  /// All ops at this moment, in order of addition.
  std::vector<const OpDef*> all() const;

 private:
  mutable std::shared_mutex mutex_;
  std::deque<OpDef> ops_;  ///< a deque, so that pointers stay valid
  std::map<std::string_view, const OpDef*> by_name_;
};

}  // namespace fuselage
