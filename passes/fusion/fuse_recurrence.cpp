#include "passes/fusion/fuse_recurrence.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/ops/fused/recurrent.h"
#include "fuselage/ops/precision/quantize.h"
#include "fuselage/ops/structure/leaf.h"
#include "fuselage/ops/structure/loop.h"
#include "fuselage/ops/structure/rows.h"
#include "fuselage/ops/structure/shape.h"
#include "passes/fusion/recurrent_cell.h"

namespace fuselage {
namespace {

constexpr Capture kH{"h"};

using Reason = std::optional<std::string>;

bool collects_a_state(const Graph& graph, const Node& node) {
  return next_of(graph, node.operands[0]).valid();
}

/// A guard that checks only matches whose cell is plain.
Guard of_layer(std::string name, Reason (*refuse)(const Match&, const PlainLayer&)) {
  return {std::move(name), [refuse](const Match& match) -> Reason {
            const auto& found = match.analysis<CellFinding>();
            return found.layer ? refuse(match, *found.layer) : std::nullopt;
          }};
}

Reason other_cell(const Match& match) {
  const auto& found = match.analysis<CellFinding>();
  return found.layer ? std::nullopt : Reason(found.reason);
}

Reason other_start(const Match& match, const PlainLayer& layer) {
  const Graph& graph = match.graph();
  for (const NodeId state : layer.states)
    if (!is_constant(graph.producer(graph.node(state).operands[0]), 0))
      return fmt::format("{} does not begin as zeros", graph.describe(state));
  return std::nullopt;
}

/// Refuses if the loop has users that the fused node would not serve.
Reason other_users(const Match& match, const PlainLayer& layer) {
  const Graph& graph = match.graph();
  std::vector<NodeId> open = layer.states;
  std::set<NodeId> seen(open.begin(), open.end());
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    for (const ValueId value : graph.node(id).results) {
      if (graph.is_output(value))
        return fmt::format("{} is an output of the graph", graph.describe(id));
      for (const Use& use : graph.value(value).uses) {
        if (use.node == match.root()) continue;
        if (!layer.body.contains(use.node))
          return fmt::format("{} uses {}", graph.describe(use.node), graph.describe(id));
        if (seen.insert(use.node).second) open.push_back(use.node);
      }
    }
  }
  return std::nullopt;
}

Reason several_inputs(const Match&, const PlainLayer& layer) {
  if (layer.inputs.size() == 1) return std::nullopt;
  return fmt::format("the loop has {} inputs", layer.inputs.size());
}

Reason other_matrices(const Match& match, const PlainLayer& layer) {
  const Graph& graph = match.graph();
  for (const GateWeights& gate : layer.gates)
    for (const std::vector<MatrixPart>* parts : {&gate.input, &gate.state})
      for (const MatrixPart& part : *parts) {
        const Type& type = graph.value(part.matrix).type;
        if (type.domain != graph.none() || type.dtype != DType::f32)
          return fmt::format("it multiplies with {}, not with floats without rows",
                             graph.show(type));
      }
  return std::nullopt;
}

/// Builds the weights of the op from the weights of the gates.
class WeightBuilder {
 public:
  WeightBuilder(Rewriter& rewriter, const PlainLayer& layer) : rewriter_(rewriter), layer_(layer) {}

  /// The matrices of all gates, concatenated.
  ValueId matrix(std::vector<MatrixPart> GateWeights::*parts) {
    std::vector<ValueId> gates;
    for (const GateWeights& gate : layer_.gates) {
      std::vector<ValueId> terms;
      for (const MatrixPart& part : gate.*parts) terms.push_back(part_of(part));
      gates.push_back(sum(terms));
    }
    return rewriter_.add(op::Concat{}, gates);
  }

  /// The biases of all gates, concatenated; zeros for gates without bias.
  ValueId bias(std::vector<Columns> GateWeights::*parts) {
    std::vector<ValueId> gates;
    for (const GateWeights& gate : layer_.gates) {
      std::vector<ValueId> terms;
      for (const Columns& part : gate.*parts) terms.push_back(columns(part.value, part.begin));
      gates.push_back(terms.empty() ? zeros() : sum(terms));
    }
    return rewriter_.add(op::Concat{}, gates);
  }

 private:
  ValueId part_of(const MatrixPart& part) {
    ValueId matrix = part.matrix;
    if (part.transposed) matrix = rewriter_.add(op::Transpose{}, {matrix});
    if (rewriter_.graph().value(matrix).type.dims[0] != part.rows)
      matrix = rewriter_.add(
          op::SliceLeading{.begin = part.first_row, .end = part.first_row + part.rows}, {matrix});
    return columns(matrix, part.first_column);
  }

  ValueId columns(ValueId value, std::int64_t begin) {
    if (rewriter_.graph().value(value).type.dims.back() == layer_.size) return value;
    return rewriter_.add(op::Slice{.begin = begin, .end = begin + layer_.size}, {value});
  }

  ValueId sum(const std::vector<ValueId>& terms) {
    ValueId all = terms[0];
    for (std::size_t i = 1; i < terms.size(); ++i) all = rewriter_.add(op::Add{}, {all, terms[i]});
    return all;
  }

  ValueId zeros() {
    if (!zeros_.valid()) zeros_ = rewriter_.add(op::Constant{.values = {0}, .dims = {layer_.size}});
    return zeros_;
  }

  Rewriter& rewriter_;
  const PlainLayer& layer_;
  ValueId zeros_;
};

void make_layer(Rewriter& rewriter, const Match& match) {
  const Graph& graph = match.graph();
  const PlainLayer& layer = *match.analysis<CellFinding>().layer;
  const ValueId collected = match.result();
  for (const NodeId id : layer.body)
    if (!graph.node(id).results.empty() && graph.value(graph.result(id)).type.domain == layer.scan)
      rewriter.include(id);
  const LoopInput& input = *layer.inputs.begin();
  const ValueId x = input.via.empty()
                        ? input.operands[0]
                        : rewriter.add(op::SelectRows{.via = input.via}, input.operands);
  WeightBuilder weights(rewriter, layer);
  const ValueId w = weights.matrix(&GateWeights::input);
  const ValueId u = weights.matrix(&GateWeights::state);
  const ValueId b = weights.bias(&GateWeights::input_bias);
  const ValueId c = weights.bias(&GateWeights::state_bias);
  rewriter.replace(collected,
                   rewriter.add(op::RecurrentLayer{.cell = std::string(to_string(layer.cell)),
                                                   .over = layer.scan},
                                {x, w, u, b, c}));
  for (const NodeId next : layer.nexts) rewriter.remove(next);
}

}  // namespace

Pass fuse_recurrence() {
  return {.name = "fuse_recurrence",
          .rules = {{.name = "recurrent_layers",
                     .pattern = match::op<op::Collect>({match::any(kH)}).where(collects_a_state),
                     .analyze = [](const Match& match) -> std::any {
                       return find_recurrent_cell(match.graph(), match[kH]);
                     },
                     .guards = {{"plain_cell", other_cell},
                                of_layer("from_zeros", other_start),
                                of_layer("no_other_users", other_users),
                                of_layer("one_input", several_inputs),
                                of_layer("plain_matrices", other_matrices)},
                     .numerics = {NumericClass::reassociates, 1e-5,
                                  "sums of products and biases in another order"},
                     .build = make_layer}}};
}

}  // namespace fuselage
