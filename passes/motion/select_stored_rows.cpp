#include "passes/motion/select_stored_rows.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fuselage/base/quantized.h"
#include "fuselage/ops/precision/quantize.h"
#include "fuselage/ops/structure/rows.h"
#include "passes/rewrite/widening.h"

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

// --- Tables in 16 bits ---

std::optional<std::string> odd_rows(const Match& match) {
  const std::int64_t size = row_size(match.type(kStored));
  if (size % 2 == 0) return std::nullopt;
  return fmt::format("its rows have {} elements, an odd number", size);
}

/// Rows of a small table are read in place by attention, for example.
std::optional<std::string> small_table(const Match& match) {
  constexpr std::int64_t kLeast = std::int64_t{4} << 20;
  const Type& type = match.type(kStored);
  const std::int64_t size = row_size(type) * match.graph().domain(type.domain).size;
  if (size >= kLeast) return std::nullopt;
  return fmt::format("its {} numbers take little memory in f32", size);
}

/// Whether a node selects rows of a table of `stored` numbers, with a default row of such numbers
/// if any.
bool selects_halves(const Graph& graph, const Node& node, ValueId stored) {
  if (!node.is<op::SelectRows>()) return false;
  if (node.operands.size() == 1) return true;
  const Node& row = graph.producer(node.operands[1]);
  return is_widening(graph, row) &&
         graph.value(row.operands[0]).type.dtype == graph.value(stored).type.dtype;
}

std::optional<std::string> read_as_floats(const Match& match) {
  const Graph& graph = match.graph();
  if (graph.is_output(match[kTable])) return "the table is an output of the graph";
  for (const Use& use : graph.value(match[kTable]).uses)
    if (!selects_halves(graph, graph.node(use.node), match[kStored]))
      return fmt::format("{} needs the table", graph.describe(use.node));
  return std::nullopt;
}

Rule widen_selected() {
  const auto at_load = [](const Graph& graph, const Node& table) {
    return is_widening(graph, table) &&
           graph.domain(graph.value(table.results[0]).type.domain).kind == DomainKind::vocabulary;
  };
  return {
      .name = "widen_selected",
      .pattern =
          match::op<op::SelectRows>(
              {match::op<op::Cast>({match::any(kStored)}).where(at_load).named(kTable).shared()})
              .variadic(),
      .guards = {{"even_rows", odd_rows},
                 {"large_table", small_table},
                 {"only_selected", read_as_floats}},
      .build = [](Rewriter& rewriter, const Match& match) {
        const Node& select = match.root_node();
        std::vector<ValueId> stored{match[kStored]};
        if (select.operands.size() > 1)
          stored.push_back(match.graph().producer(select.operands[1]).operands[0]);
        const ValueId rows = rewriter.apply(select, std::move(stored));
        rewriter.replace(match.result(), rewriter.add(op::Cast{.to = DType::f32}, {rows}));
      }};
}

}  // namespace

Pass select_stored_rows(bool halves) {
  Pass pass{.name = "select_stored_rows", .rules = {convert_selected()}};
  if (halves) pass.rules.push_back(widen_selected());
  return pass;
}

}  // namespace fuselage
