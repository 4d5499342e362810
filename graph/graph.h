#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/attributes.h"
#include "graph/domain.h"
#include "graph/ids.h"
#include "graph/op.h"
#include "graph/type.h"

namespace fuselage {

/// Where a node was defined: a line of C++ or of a text graph.
struct Location {
  std::string file;
  std::uint32_t line = 0;
};

/// Where a node comes from: names of the nodes of the user's graph that it stands for, and the
/// rules that made it out of them, oldest first.
struct Provenance {
  std::vector<std::string> origins;
  std::vector<std::string> rules;

  friend bool operator==(const Provenance&, const Provenance&) = default;
};

/// Operand number `operand` of `node`.
struct Use {
  NodeId node;
  std::uint32_t operand = 0;
  friend bool operator==(const Use&, const Use&) = default;
};

/// An operator applied to values.
struct Node {
  const OpDef* op = nullptr;
  std::vector<ValueId> operands;
  std::vector<Attr> attrs;  ///< in the order of op->attributes
  std::vector<ValueId> results;
  Location location;
  Provenance provenance;

  bool has(Trait trait) const { return op->has(trait); }

  /// Whether it is the op that S declares.
  template <OpStruct S>
  bool is() const {
    return op->name == S::kName;
  }

  /// Whether its op has all attributes of the group S.
  template <AttrStruct S>
  bool has() const {
    return declares<S>(*op);
  }

  /// The path through which a result row reads rows of an operand (OperandSpec::through), or
  /// nullptr.
  const MapPath* path_of_operand(std::size_t i) const;

  /// Its attributes: S declares its op, or a group of attributes that its op has. Anything else is
  /// an internal error.
  template <AttrStruct S>
  S as() const {
    if constexpr (OpStruct<S>) expect_op(S::kName);
    S values{};
    for_each_attribute<S>([&](const auto& field) {
      using T = std::remove_cvref_t<decltype(values.*(field.member))>;
      values.*(field.member) = std::get<T>(attrs[attr_index(field.name)]);
    });
    return values;
  }

 private:
  void expect_op(std::string_view name) const;
  std::size_t attr_index(std::string_view name) const;
};

/// A result of a node.
struct Value {
  Type type;
  NodeId producer;
  std::uint32_t result = 0;  ///< which result of the producer
  std::vector<Use> uses;     ///< in the order in which they were made
  std::string name;          ///< may be empty; the text form then numbers it
};

/// A value that leaves the graph under a name.
struct Output {
  std::string name;
  ValueId value;
};

/// A computation: domains, maps between them, nodes and the values between the nodes. Loops (over
/// source positions, over target positions) are declared as domains, not as nested graphs: the body
/// of a loop is whatever lives in its domain, a `state` carries a value from one iteration to the
/// next, and operand edges stay free of cycles.
///
/// Ids and references to nodes and values stay good while a graph is edited, until the node is
/// removed. An id of something removed, or of another graph, is an internal error where it can be
/// told.
class Graph {
 public:
  explicit Graph(std::string name = "");

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  /// A graph with the same name, domains and maps, and nothing else. Ids of domains and maps mean
  /// the same in both.
  Graph declarations() const;

  // Domains and maps. They are only added, never removed.

  /// The domain of values without rows.
  DomainId none() const { return DomainId{0}; }

  DomainId add_vocabulary(std::string name, std::int64_t size);
  DomainId add_sentences(std::string name);
  /// Source tokens; declares the map `name.sentence`.
  DomainId add_source(std::string name, DomainId sentences);
  /// Words that each sentence's translation may use; declares the map `name.sentence`.
  DomainId add_shortlist(std::string name, DomainId sentences);
  /// A loop over the positions of `source`; declares `name.source`.
  DomainId add_scan(std::string name, DomainId source, bool reversed);
  /// Hypotheses of the last step; declares `name.sentence`.
  DomainId add_parents(std::string name, DomainId sentences);
  /// Hypotheses of this step; declares `name.parent`.
  DomainId add_hypotheses(std::string name, DomainId parents);
  /// Generated tokens; declares `hypotheses.newest`.
  DomainId add_prefix(std::string name, DomainId hypotheses);
  /// Pairs within a sentence; declares `name.left` and `name.right`.
  DomainId add_pairs(std::string name, DomainId left, DomainId right);
  /// A map from tokens or the words of a shortlist to vocabulary entries.
  MapId add_word_map(std::string name, DomainId tokens, DomainId vocabulary, bool partial);

  std::size_t domain_count() const { return domains_.size(); }
  const Domain& domain(DomainId id) const;
  DomainId find_domain(std::string_view name) const;  ///< invalid when there is none
  std::size_t map_count() const { return maps_.size(); }
  const RowMap& map(MapId id) const;
  MapId find_map(std::string_view name) const;  ///< invalid when there is none
  /// The structural, left or right map of `domain`; an internal error when there is none.
  MapId map_of(DomainId domain, MapKind kind) const;
  /// The structural path from `from` to the domain `to` that its rows belong to, if there is one.
  std::optional<MapPath> structural_path(DomainId from, DomainId to) const;
  /// Whether a path leads nowhere for some rows: one of its maps is partial.
  bool is_partial(const MapPath& path) const;
  /// The sentence domain that the rows of `id` belong to; invalid for load-time domains.
  DomainId sentences_of(DomainId id) const;

  // Nodes and values.

  /// Adds a node and its results, whose types `infer` makes. `attrs` lists name and value of what
  /// differs from the default. Throws Error when operands or attributes do not fit.
  NodeId add_node(const OpDef& op, std::vector<ValueId> operands, const AttrList& attrs = {},
                  Location location = {});

  /// Adds a node with a full list of attributes, in the op's order.
  NodeId add_node_with_attrs(const OpDef& op, std::vector<ValueId> operands,
                             std::vector<Attr> attrs, Location location = {});

  bool alive(NodeId id) const { return id.index < nodes_.size() && nodes_[id.index].op; }
  const Node& node(NodeId id) const;
  const Value& value(ValueId id) const;
  /// The only or first result of a node.
  ValueId result(NodeId id, std::size_t i = 0) const { return node(id).results.at(i); }
  const Node& producer(ValueId id) const { return node(value(id).producer); }

  /// One past the largest node index ever used; walk it with alive().
  std::uint32_t node_limit() const { return static_cast<std::uint32_t>(nodes_.size()); }
  std::uint32_t value_limit() const { return static_cast<std::uint32_t>(values_.size()); }
  std::size_t node_count() const { return live_nodes_; }
  /// Live nodes in order of creation.
  std::vector<NodeId> nodes() const;

  void set_value_name(ValueId id, std::string name) { mutable_value(id).name = std::move(name); }
  void set_provenance(NodeId id, Provenance provenance);

  // Outputs.

  const std::vector<Output>& outputs() const { return outputs_; }
  void add_output(std::string name, ValueId id);
  void clear_outputs() { outputs_.clear(); }
  bool is_output(ValueId id) const;
  /// The output of that name; invalid when there is none.
  ValueId find_output(std::string_view name) const;

  // Edits. Passes make them through a Rewriter only.

  /// Puts `to`, of the same type, in the place of `from` in every use and output.
  void replace_uses(ValueId from, ValueId to);
  /// Exchanges one operand. The node's result types must stay as they are.
  void set_operand(Use use, ValueId id);
  /// Removes a node that has no uses; an internal error otherwise.
  void remove_node(NodeId id);

  /// When the value is known: its domain's binding time.
  BindingTime binding(ValueId id) const { return domain(value(id).type.domain).binding; }

  /// When a node can run: the binding time of its results, or of what a sink takes in.
  BindingTime binding(NodeId id) const;

  /// Shape of the tensor that stores a value known at load: its dimensions, behind the number of
  /// vocabulary entries if it has a row for each.
  Dims stored_shape(const Type& type) const;

  /// "hyp f32[256]".
  std::string show(const Type& type) const;
  /// "matmul 'decoder.state' (gru.cpp:31)", for messages.
  std::string describe(NodeId id) const;
  std::string describe(const Node& node) const;

 private:
  DomainId add_domain(Domain domain);
  /// Adds a domain and the map to the one that its rows belong to, which must be of kind `owner`.
  DomainId add_owned(Domain domain, DomainKind owner);
  MapId add_map(RowMap map);
  Value& mutable_value(ValueId id);
  void remove_use(ValueId id, Use use);

  std::string name_;
  std::vector<Domain> domains_;
  std::vector<RowMap> maps_;
  // A reference to one of them stays good while others are added.
  std::deque<Node> nodes_;
  std::deque<Value> values_;
  std::vector<Output> outputs_;
  std::size_t live_nodes_ = 0;
};

template <typename S>
S InferContext::as() const {
  return node_.as<S>();
}

}  // namespace fuselage
