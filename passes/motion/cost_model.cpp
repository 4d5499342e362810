#include "fuselage/passes/motion/cost_model.h"

#include <algorithm>

#include "fuselage/ops/fused/frequent_rows.h"
#include "passes/rewrite/widening.h"

namespace fuselage {
namespace {

/// Whether a value is the table of a lookup_matmul.
bool is_partial_table(const Graph& graph, const Value& value) {
  return std::any_of(value.uses.begin(), value.uses.end(), [&graph](const Use& use) {
    return use.operand == 2 && graph.node(use.node).is<op::LookupMatmul>();
  });
}

bool is_read_later(const Graph& graph, const Value& value) {
  return std::any_of(value.uses.begin(), value.uses.end(), [&graph](const Use& use) {
    return graph.binding(use.node) != BindingTime::load;
  });
}

/// Whether a node's result is a weight of the model, which counts for nothing in any type.
bool is_widened_weight(const Graph& graph, const Node& node) {
  return is_widening(graph, node) && graph.producer(node.operands[0]).has(Trait::external);
}

}  // namespace

CommuteOptions for_rounding(CommuteOptions options) {
  options.workload = options.rounding_workload;
  return options;
}

Cost cost_of_reading(const Type& type) { return {.bytes = static_cast<double>(row_bytes(type))}; }

Cost cost_of_mixing(const Type& type) {
  return {.flop = 2 * static_cast<double>(row_size(type)),
          .bytes = static_cast<double>(row_bytes(type))};
}

TableCost table_cost(const Graph& graph, NodeId id, double rows, const Target& target) {
  const Type& result = graph.value(graph.result(id)).type;
  return {.bytes = rows * static_cast<double>(row_bytes(result)),
          .load_seconds = rows * cost_of(graph, id).flop / target.load_flop_per_second};
}

TableCost present_tables(const Graph& graph, const Target& target) {
  TableCost total;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (node.has(Trait::external) || node.results.empty() || is_widened_weight(graph, node))
      continue;
    const Value& value = graph.value(node.results[0]);
    const Domain& domain = graph.domain(value.type.domain);
    const bool partial = is_partial_table(graph, value);
    if (domain.kind != DomainKind::vocabulary && !partial) continue;
    // A partial table has no domain: its value counts as one row.
    TableCost cost = table_cost(graph, id, partial ? 1 : static_cast<double>(domain.size), target);
    if (!is_read_later(graph, value)) cost.bytes = 0;
    total += cost;
  }
  return total;
}

}  // namespace fuselage
