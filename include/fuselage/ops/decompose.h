#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/graph/graph.h"
#include "fuselage/ops/evaluate.h"
#include "fuselage/ops/registry.h"

namespace FUSELAGE_API fuselage {

/// Argument of OpDef::decompose: a fused node, with operands as ids of the graph that receives the
/// plain nodes.
class Decomposition {
 public:
  Decomposition(Graph& graph, const Node& node, std::vector<ValueId> operands)
      : graph_(graph), node_(node), operands_(std::move(operands)) {}

  const Graph& graph() const { return graph_; }
  const std::vector<ValueId>& operands() const { return operands_; }
  const Type& type(std::size_t operand) const { return graph_.value(operands_.at(operand)).type; }

  /// The attributes of the fused node; see Node::as.
  template <AttrStruct S>
  S as() const {
    return node_.as<S>();
  }

  /// Throws Error with the fused op, its location and `message`.
  [[noreturn]] void fail(const std::string& message) const;

  /// Adds a plain node.
  template <OpStruct Op>
  NodeId add_node(const Op& op, std::vector<ValueId> operands = {}) {
    return add_node(op_def<Op>(), std::move(operands), attribute_values(op));
  }
  /// The same; returns the first result.
  template <OpStruct Op>
  ValueId add(const Op& op, std::vector<ValueId> operands = {}) {
    return graph_.result(add_node(op, std::move(operands)));
  }
  /// Adds a plain node with all attributes, in the op's order; returns its first result.
  ValueId add(const OpDef& op, std::vector<ValueId> operands, std::vector<Attr> attrs);

 private:
  NodeId add_node(const OpDef& op, std::vector<ValueId> operands, const AttrList& attrs);

  Graph& graph_;
  const Node& node_;
  std::vector<ValueId> operands_;
};

/// Reference evaluation of a fused op: evaluates its plain ops in order.
void evaluate_decomposed(EvalContext<float>& context);
void evaluate_decomposed(EvalContext<double>& context);

/// Cost of a fused op: arithmetic and weight traffic of the plain ops, but row traffic only of the
/// fused op's own operands and results.
Cost cost_decomposed(const InferContext& in);

/// The types of the plain results.
std::vector<Type> infer_decomposed(const InferContext& in);

}  // namespace fuselage
