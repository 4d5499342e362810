#include "fuselage/ops/decompose.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "base/registrant.h"
#include "fuselage/base/error.h"
#include "fuselage/ops/precision/quantize.h"
#include "fuselage/ops/registry.h"
#include "fuselage/ops/structure/leaf.h"
#include "graph/infer_types.h"
#include "ops/call_op.h"

namespace fuselage {
namespace {

/// The decomposition of a fused node as a graph, with an import for each operand.
struct Plain {
  Graph graph;
  std::size_t imports = 0;
  std::vector<ValueId> results;
};

/// Appends the quantized vectors of the results listed in the node's `quantized`.
void add_quantized_results(Decomposition& in, const Node& node, std::vector<ValueId>& results) {
  const std::size_t own = results.size();
  for (const std::int64_t number : quantized_results(node)) {
    if (number < 0 || static_cast<std::size_t>(number) >= own)
      in.fail(fmt::format("it has no result {} to quantize, only {}", number, own));
    results.push_back(in.add(op::Quantize{node.as<op::Quantization>()},
                             {results[static_cast<std::size_t>(number)]}));
  }
}

Plain decompose(const Graph& graph, const Node& node, const std::vector<Type>& operand_types) {
  Plain plain{.graph = graph.declarations(), .imports = operand_types.size()};
  std::vector<ValueId> operands;
  for (const Type& type : operand_types)
    operands.push_back(plain.graph.result(plain.graph.add_node(
        op_def<op::Import>(), {},
        attribute_values(op::Import{
            .name = "operand", .domain = type.domain, .dims = type.dims, .dtype = type.dtype}))));
  Decomposition decomposition(plain.graph, node, std::move(operands));
  try {
    plain.results = node.op->decompose(decomposition);
  } catch (...) {
    rethrow_for(node.op->registered_by, registered_op(*node.op), RegistrantFaults::all_but_errors);
  }
  add_quantized_results(decomposition, node, plain.results);
  return plain;
}

std::vector<Type> types_of(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<Type> types;
  for (const ValueId value : values) types.push_back(graph.value(value).type);
  return types;
}

Plain decompose(const InferContext& in) {
  std::vector<Type> types;
  for (std::size_t i = 0; i < in.operand_count(); ++i) types.push_back(in.operand(i));
  return decompose(in.graph(), in.node(), types);
}

}  // namespace

void Decomposition::fail(const std::string& message) const {
  throw Error(fmt::format("{}: {}", graph_.describe(node_), message));
}

NodeId Decomposition::add_node(const OpDef& op, std::vector<ValueId> operands,
                               const AttrList& attrs) {
  return graph_.add_node(op, std::move(operands), attrs, node_.location);
}

ValueId Decomposition::add(const OpDef& op, std::vector<ValueId> operands,
                           std::vector<Attr> attrs) {
  return graph_.result(
      graph_.add_node_with_attrs(op, std::move(operands), std::move(attrs), node_.location));
}

namespace {

template <typename T>
void evaluate_plain(EvalContext<T>& context) {
  const Plain plain =
      decompose(context.graph, context.node, types_of(context.graph, context.node.operands));
  // Of a prefix only the new rows may be asked for, as the results that are passed in tell.
  const DomainId own = context.graph.value(context.node.results[0]).type.domain;
  const std::int64_t own_rows = context.results[0].rows;
  std::vector<Array<T>> values(plain.graph.value_limit());
  const std::vector<NodeId> nodes = plain.graph.nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = plain.graph.node(nodes[i]);
    if (i < plain.imports) {
      values[node.results[0].index] = *context.operands[i];
      continue;
    }
    EvalContext<T> inner{.graph = plain.graph, .node = node, .rows = context.rows};
    for (const ValueId operand : node.operands) inner.operands.push_back(&values[operand.index]);
    for (const ValueId result : node.results) {
      const Type& type = plain.graph.value(result).type;
      inner.results.emplace_back(type.domain == own ? own_rows : context.rows.rows(type.domain),
                                 row_size(type));
    }
    evaluate_op(inner);
    for (std::size_t r = 0; r < node.results.size(); ++r)
      values[node.results[r].index] = std::move(inner.results[r]);
  }
  for (std::size_t r = 0; r < plain.results.size(); ++r)
    context.results[r] = values[plain.results[r].index];
}

}  // namespace

void evaluate_decomposed(EvalContext<float>& context) { evaluate_plain(context); }

void evaluate_decomposed(EvalContext<double>& context) { evaluate_plain(context); }

Cost cost_decomposed(const InferContext& in) {
  const Plain plain = decompose(in);
  Cost total;
  for (const NodeId id : plain.graph.nodes()) {
    const Node& node = plain.graph.node(id);
    const Cost cost = cost_of_op(plain.graph, node);
    total.flop += cost.flop;
    total.weight_bytes += cost.weight_bytes;
  }
  for (std::size_t i = 0; i < in.operand_count(); ++i)
    if (in.operand(i).domain != in.none())
      total.bytes += 4 * static_cast<double>(row_size(in.operand(i)));
  for (const ValueId result : plain.results)
    total.bytes += 4 * static_cast<double>(row_size(plain.graph.value(result).type));
  return total;
}

std::vector<Type> infer_decomposed(const InferContext& in) {
  const Plain plain = decompose(in);
  return types_of(plain.graph, plain.results);
}

}  // namespace fuselage
