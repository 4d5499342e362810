#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/graph/attributes.h"
#include "fuselage/graph/domain.h"
#include "fuselage/graph/ids.h"
#include "fuselage/graph/op.h"
#include "fuselage/graph/type.h"

namespace FUSELAGE_API fuselage {

/// Where a node was defined: a line of C++ or of a text graph.
struct Location {
  std::string file;
  std::uint32_t line = 0;
};

/// The origin of a node: names of the nodes of the user's graph that it replaces, and the rules
/// that derived it from them, oldest first.
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

  /// Whether the node's op is the op declared by S.
  template <OpStruct S>
  bool is() const {
    return op->name == S::kName;
  }

  /// Whether the node's op has all attributes of the group S.
  template <AttrStruct S>
  bool has() const {
    return declares<S>(*op);
  }

  /// The path through which operand i is read (OperandSpec::through), or nullptr if it is read row
  /// by row.
  const MapPath* path_of_operand(std::size_t i) const;

  /// The attributes as an S, which declares the node's op or a group of attributes that the op has.
  /// Any other S is an internal error.
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
  std::uint32_t result = 0;  ///< index among the producer's results
  std::vector<Use> uses;     ///< in order of creation
  std::string name;          ///< may be empty; the text form then uses a number
};

/// A named result of the graph.
struct Output {
  std::string name;
  ValueId value;
};

/// A computation: domains, maps between them, nodes and the values between the nodes. Loops (over
/// source positions, over target positions) are declared as domains, not as nested graphs: the body
/// of a loop is all nodes in its domain, a `state` carries a value from one iteration to the next,
/// and operand edges are acyclic.
///
/// Ids of and references to nodes and values stay valid while the graph is edited, until the node
/// is removed. Using the id of a removed node or of another graph is an internal error if it is
/// detected.
class Graph {
 public:
  explicit Graph(std::string name = "");
  Graph(const Graph&);
  Graph(Graph&&) noexcept;
  Graph& operator=(const Graph&);
  Graph& operator=(Graph&&) noexcept;
  ~Graph();

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  /// A graph with the same name, domains and maps, but no nodes. Ids of domains and maps are valid
  /// in both.
  Graph declarations() const;

  // Domains and maps. They are only added, never removed.

  /// The domain of values without rows.
  DomainId none() const { return DomainId{0}; }

  DomainId add_vocabulary(std::string name, std::int64_t size);
  DomainId add_sentences(std::string name);
  /// Source tokens; declares the map `name.sentence`.
  DomainId add_source(std::string name, DomainId sentences);
  /// Shortlisted words of each sentence; declares the map `name.sentence`.
  DomainId add_shortlist(std::string name, DomainId sentences);
  /// A loop over the positions of `source`; declares `name.source`.
  DomainId add_scan(std::string name, DomainId source, bool reversed);
  /// Parents: the distinct hypotheses of the last step that have children; declares
  /// `name.sentence`.
  DomainId add_parents(std::string name, DomainId sentences);
  /// Hypotheses of this step; declares `name.parent`.
  DomainId add_hypotheses(std::string name, DomainId parents);
  /// Generated tokens; declares `hypotheses.newest`.
  DomainId add_prefix(std::string name, DomainId hypotheses);
  /// Pairs within a sentence; declares `name.left` and `name.right`. Both members of a domain with
  /// a window have positions: tokens of one source, or hypotheses and their prefixes.
  DomainId add_pairs(std::string name, DomainId left, DomainId right, Window window = {});
  /// A map from sentences, tokens or the words of a shortlist to vocabulary entries. A source
  /// domain may have several: factors.
  MapId add_word_map(std::string name, DomainId tokens, DomainId vocabulary, bool partial);
  /// A partial map from each token of a source domain to the token `distance` positions later; for
  /// a prefix domain, from each hypothesis to the token `-distance` positions before its newest.
  MapId add_neighbour_map(std::string name, DomainId tokens, std::int64_t distance);
  /// A map from each sentence to its token of the source domain at `position`; negative positions
  /// count from the end, -1 is the last token. Only the first and the last are there in every
  /// sentence: with any other position the map is partial.
  MapId add_token_map(std::string name, DomainId source, std::int64_t position);
  /// A map from the tokens of a source domain or from hypotheses to the entries of `table`, a
  /// vocabulary: entry min(max(position + offset, 0), size - 1).
  MapId add_position_map(std::string name, DomainId tokens, DomainId table,
                         std::int64_t offset = 0);
  /// A map from pairs whose members have positions to the entries of `table`, a vocabulary.
  MapId add_distance_map(std::string name, DomainId pairs, DomainId table, DistanceBuckets buckets);
  /// Numbers that the caller supplies for each row of a source or sentence domain, read by
  /// op::Input.
  void add_input(std::string name, DomainId domain, Dims dims);

  std::size_t domain_count() const { return domains_.size(); }
  const Domain& domain(DomainId id) const;
  DomainId find_domain(std::string_view name) const;  ///< invalid if there is none
  std::size_t map_count() const { return maps_.size(); }
  const RowMap& map(MapId id) const;
  MapId find_map(std::string_view name) const;  ///< invalid if there is none
  const std::vector<Input>& inputs() const { return inputs_; }
  /// The index of the input `name`, or nullopt.
  std::optional<std::size_t> find_input(std::string_view name) const;
  /// The map of `domain` of kind structural, left or right; an internal error if there is none.
  MapId map_of(DomainId domain, MapKind kind) const;
  /// The path of structural maps from `from` to its direct or indirect owner `to`, if there is one.
  std::optional<MapPath> structural_path(DomainId from, DomainId to) const;
  /// Whether one of the path's maps is partial.
  bool is_partial(const MapPath& path) const;
  /// The sentence domain that owns the rows of `id`; invalid for load-time domains.
  DomainId sentences_of(DomainId id) const;

  // Nodes and values.

  /// Adds a node; `infer` computes its result types. `attrs` lists the attributes that differ from
  /// the default. Throws Error if operands or attributes are invalid.
  NodeId add_node(const OpDef& op, std::vector<ValueId> operands, const AttrList& attrs = {},
                  Location location = {});

  /// The same with all attributes, in the op's order.
  NodeId add_node_with_attrs(const OpDef& op, std::vector<ValueId> operands,
                             std::vector<Attr> attrs, Location location = {});

  bool alive(NodeId id) const { return id.index < nodes_.size() && nodes_[id.index].op; }
  const Node& node(NodeId id) const;
  const Value& value(ValueId id) const;
  /// The only or first result of a node.
  ValueId result(NodeId id, std::size_t i = 0) const { return node(id).results.at(i); }
  const Node& producer(ValueId id) const { return node(value(id).producer); }

  /// One past the largest node index ever used; indexes below may be of removed nodes (alive()).
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
  /// The value of the output `name`; invalid if there is none.
  ValueId find_output(std::string_view name) const;

  // Edits. Passes use them only through a Rewriter.

  /// Replaces `from` by `to`, of the same type, in every use and output.
  void replace_uses(ValueId from, ValueId to);
  /// Replaces one operand. The node's result types must not change.
  void set_operand(Use use, ValueId id);
  /// Removes a node; an internal error if it has uses.
  void remove_node(NodeId id);

  /// The binding time of the value's domain.
  BindingTime binding(ValueId id) const { return domain(value(id).type.domain).binding; }

  /// The binding time at which a node runs: the binding time of its results, or of a sink's
  /// operands.
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
  /// Adds a domain and the map to its owner, which must be of kind `owner`.
  DomainId add_owned(Domain domain, DomainKind owner);
  MapId add_map(RowMap map);
  Value& mutable_value(ValueId id);
  void remove_use(ValueId id, Use use);

  std::string name_;
  std::vector<Domain> domains_;
  std::vector<RowMap> maps_;
  std::vector<Input> inputs_;
  // A deque, so that references stay valid when nodes are added.
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
