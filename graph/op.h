#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "graph/type.h"

namespace fuselage {

class Graph;
struct Node;

/// A path of row maps, from the domain of a result to the domain of an operand.
using MapPath = std::vector<MapId>;

/// Value of an attribute. The alternative is fixed by the op's AttrSpec.
using Attr = std::variant<std::int64_t, double, bool, std::string, DomainId, MapPath, Dims,
                          std::vector<double>, DType>;

/// Attributes by name; those that an op declares and a list leaves out have their defaults.
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

/// Declares an attribute: its name, kind, and the value it has when none is written (none: the
/// attribute must be written).
struct AttrSpec {
  std::string_view name;
  AttrKind kind;
  std::optional<Attr> default_value = std::nullopt;
  std::string_view former_name = {};  ///< a spelling that older text graphs have; empty: none
};

/// Declares an operand. At most the last one is optional, repeated (one or more) or any number.
struct OperandSpec {
  enum class Arity : std::uint8_t { one, optional, repeated, any_number };
  std::string_view name;
  Arity arity = Arity::one;
  /// The attribute, a path, through which a result row reads rows of this operand; empty: none.
  std::string_view through = {};
};

/// Facts about an op that rules may rely on, so that no rule needs to test a name.
enum class Trait : std::uint32_t {
  row_wise = 1u << 0,        ///< row r of a result depends on row r of each operand that has rows
  linear = 1u << 1,          ///< linear in its first operand
  commutative = 1u << 2,     ///< its two operands may be exchanged
  selects_rows = 1u << 3,    ///< a result row is one operand row, or the default row
  mixes_rows = 1u << 4,      ///< a result row is a weighted sum of operand rows
  loop_state = 1u << 5,      ///< carries a value into an iteration of a loop
  loop_next = 1u << 6,       ///< gives its first operand, a state, the value for the next iteration
  sink = 1u << 7,            ///< has no result and is live by itself
  external = 1u << 8,        ///< its value comes from outside the graph
  changes_domain = 1u << 9,  ///< its result has the same rows under another domain
  /// Element i of a result depends on element i of each operand, or on its only element.
  elementwise = 1u << 10,
  /// A result row is some elements of the last dimension of its operand's row, in order: those that
  /// the attributes begin and end (op::Range) name.
  slices = 1u << 11,
};

/// A set of traits.
class Traits {
 public:
  constexpr Traits() = default;
  constexpr Traits(Trait trait)
      : bits_(static_cast<std::uint32_t>(trait)) {}  // NOLINT: a trait is a set
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

/// Work and traffic of a node. Per row of its first result, except weight_bytes, which are read
/// once however many rows there are.
struct Cost {
  double flop = 0;
  double bytes = 0;
  double weight_bytes = 0;
};

/// What `infer` may look at: the operands' types, the attributes and the declared domains.
class InferContext {
 public:
  InferContext(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  const Graph& graph() const { return graph_; }
  const Node& node() const { return node_; }
  std::size_t operand_count() const;
  const Type& operand(std::size_t i) const;
  DomainId none() const;

  /// The node's attributes, as Node::as.
  template <typename S>
  S as() const;

  /// Throws Error: the op, where it was defined, and `message`.
  [[noreturn]] void fail(const std::string& message) const;

  /// "hyp f32[256]", as the text form prints a type.
  std::string show(const Type& type) const;

 private:
  const Graph& graph_;
  const Node& node_;
};

template <typename T>
struct EvalContext;   // ops/evaluate.h
class Decomposition;  // ops/decompose.h

/// One operator, defined once: signature, rules for types, traits, cost and reference evaluation.
struct OpDef {
  std::string_view name;
  std::string_view summary;  ///< one line for the documentation
  std::vector<OperandSpec> operands;
  std::vector<AttrSpec> attributes;
  Traits traits;

  /// Result types from operand types and attributes; the only maker of result types. Throws Error
  /// when they do not fit.
  std::vector<Type> (*infer)(const InferContext&) = nullptr;

  /// Work of one node; nullptr: none to speak of.
  Cost (*cost)(const InferContext&) = nullptr;

  /// Reference evaluation in float and in double; nullptr for ops that an executor defines.
  void (*evaluate_f32)(EvalContext<float>&) = nullptr;
  void (*evaluate_f64)(EvalContext<double>&) = nullptr;

  /// For a fused op: adds the plain ops that it stands for and returns their results, which are its
  /// definition. nullptr for plain ops.
  std::vector<ValueId> (*decompose)(Decomposition&) = nullptr;

  /// Spellings of the name that older text graphs have.
  std::vector<std::string_view> former_names;

  bool has(Trait trait) const { return traits.has(trait); }

  /// Index of the attribute, or nothing.
  std::optional<std::size_t> attribute_index(std::string_view attribute) const;
  /// The same, by its name or a former one.
  std::optional<std::size_t> written_attribute_index(std::string_view attribute) const;
};

/// Ops by name. The parser and the command look ops up here; a graph refers to them by pointer.
class OpRegistry {
 public:
  /// Adds definitions, which must outlive the registry. Two ops of one name, and an operand that is
  /// read through something else than a path, are internal errors.
  void add(std::span<const OpDef> ops);

  /// The op of that name, present or former, or nullptr.
  const OpDef* find(std::string_view name) const;

  /// All ops, in the order in which they were added.
  const std::vector<const OpDef*>& all() const { return ops_; }

 private:
  std::vector<const OpDef*> ops_;
};

}  // namespace fuselage
