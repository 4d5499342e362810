#include "passes/precision/round_rows.h"

#include <fmt/format.h>

#include "fuselage/ops/arithmetic/matmul.h"
#include "fuselage/ops/fused/chains.h"
#include "fuselage/ops/precision/quantize.h"
#include "fuselage/ops/structure/loop.h"

namespace fuselage {
namespace {

constexpr Capture kNewest{"x"}, kHistory{"history"};

/// Elements that a vector must be a multiple of, for products to read it in place.
constexpr std::int64_t kTile = 16;

const Type& operand_type(const Graph& graph, const Node& node, std::size_t operand) {
  return graph.value(node.operands[operand]).type;
}

bool rounds_its_rows(const Graph& graph, const Node& node) {
  return (node.is<op::Matmul>() || node.is<op::Linear>()) &&
         operand_type(graph, node, 0).dtype == DType::f32 &&
         is_half(operand_type(graph, node, 1).dtype);
}

std::optional<std::string> not_in_place(const Match& match) {
  const std::int64_t k = operand_type(match.graph(), match.root_node(), 0).dims.back();
  if (k % kTile == 0) return std::nullopt;
  return fmt::format("its vectors have {} elements, not a multiple of {}", k, kTile);
}

/// Stored rows are rounded when they are loaded, or read where they are.
std::optional<std::string> stored_rows(const Match& match) {
  const ValueId x = match.root_node().operands[0];
  if (match.graph().binding(x) != BindingTime::load) return std::nullopt;
  return fmt::format("{} is known at load time", match.graph().describe(match.graph().producer(x)));
}

void round_operand(Rewriter& rewriter, const Match& match) {
  const Graph& graph = match.graph();
  const Node& product = match.root_node();
  const DType to = operand_type(graph, product, 1).dtype;
  std::vector<ValueId> operands = product.operands;
  operands[0] = rewriter.add(op::Quantize{{.to = to}}, {operands[0]});
  const NodeId rounded = rewriter.clone(product, std::move(operands));
  for (std::size_t i = 0; i < product.results.size(); ++i)
    rewriter.replace(product.results[i], graph.result(rounded, i));
}

bool rounds(const Graph&, const Node& node) { return is_half(node.as<op::Quantization>().to); }

void round_where_kept(Rewriter& rewriter, const Match& match) {
  auto history = match.node(kHistory).as<op::History>();
  history.to = match.root_node().as<op::Quantization>().to;
  rewriter.replace(match.result(), rewriter.add(history, {match[kNewest]}));
}

}  // namespace

Pass round_rows() {
  return {
      .name = "round_rows",
      .rules = {
          {.name = "rounded_rows",
           .pattern = match::node(rounds_its_rows),
           .guards = {{"in_place", not_in_place}, {"computed", stored_rows}},
           .numerics = {NumericClass::quantizes, 0, "what products do by themselves"},
           .build = round_operand},
          {.name = "rounded_history",
           .pattern = match::op<op::Quantize>(
                          {match::op<op::History>({match::any(kNewest)}).named(kHistory).shared()})
                          .where(rounds),
           .build = round_where_kept}}};
}

}  // namespace fuselage
