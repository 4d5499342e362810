#include "passes/motion/select_stored_rows.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "fuselage/base/quantized.h"
#include "fuselage/ops/precision/quantize.h"
#include "fuselage/ops/structure/rows.h"

namespace fuselage {
namespace {

constexpr Capture kStored{"stored"};
constexpr Capture kTable{"table"};

std::optional<std::string> not_stored(const Match& match) {
  const Graph& graph = match.graph();
  const ValueId stored = match[kStored];
  if (graph.producer(stored).has(Trait::external)) return std::nullopt;
  return fmt::format("{} computes the integers", graph.describe(graph.value(stored).producer));
}

/// Rows of 4-bit integers exist in tables only.
std::optional<std::string> no_type_of_rows(const Match& match) {
  const DType dtype = match.graph().value(match[kStored]).type.dtype;
  if (row_type_of(dtype) == dtype) return std::nullopt;
  return fmt::format("no rows are {}", to_string(dtype));
}

std::optional<std::string> not_only_selected(const Match& match) {
  const Graph& graph = match.graph();
  if (graph.is_output(match[kTable])) return "the table is an output of the graph";
  for (const Use& use : graph.value(match[kTable]).uses) {
    const Node& user = graph.node(use.node);
    if (!user.is<op::SelectRows>() || user.operands.size() > 1)
      return fmt::format("{} needs the table", graph.describe(use.node));
  }
  return std::nullopt;
}

/// Where the path leads nowhere, the row is zeros: a vector with the scale 0.
Rule convert_selected() {
  const auto at_load = [](const Graph& graph, const Node& table) {
    return graph.domain(graph.value(table.results[0]).type.domain).kind == DomainKind::vocabulary;
  };
  return {
      .name = "convert_selected",
      .pattern = match::op<op::SelectRows>(
          {match::op<op::Dequantize>({match::any(kStored)}).where(at_load).named(kTable).shared()}),
      .guards = {{"stored", not_stored},
                 {"row_type", no_type_of_rows},
                 {"only_selected", not_only_selected}},
      .build = [](Rewriter& rewriter, const Match& match) {
        const ValueId selected = rewriter.add(
            op::SelectRows{.via = match.root_node().as<op::SelectRows>().via}, {match[kStored]});
        rewriter.replace(match.result(), rewriter.add(op::Dequantize{}, {selected}));
      }};
}

}  // namespace

Pass select_stored_rows() { return {.name = "select_stored_rows", .rules = {convert_selected()}}; }

}  // namespace fuselage
