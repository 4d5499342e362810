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

bool is_table(const Graph& graph, const Node& node) {
  return graph.domain(graph.value(node.results[0]).type.domain).kind == DomainKind::vocabulary;
}

/// Where the path leads nowhere, the row is zeros: a vector with the scale 0.
Rule convert_selected() {
  return {.name = "convert_selected",
          .pattern = match::op<op::SelectRows>({match::op<op::Dequantize>({match::any(kStored)})
                                                    .where(is_table)
                                                    .named(kTable)
                                                    .shared()}),
          .guards = {{"stored", not_stored},
                     {"row_type", no_type_of_rows},
                     {"only_selected", not_only_selected}},
          .build = [](Rewriter& rewriter, const Match& match) {
            const ValueId selected =
                rewriter.add(op::SelectRows{.via = match.root_node().as<op::SelectRows>().via},
                             {match[kStored]});
            rewriter.replace(match.result(), rewriter.add(op::Dequantize{}, {selected}));
          }};
}

// --- Tables computed from integers, as scaled embeddings ---

/// The operands of a node that are converted integers.
std::vector<std::size_t> converted_operands(const Graph& graph, const Node& node) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < node.operands.size(); ++i)
    if (graph.producer(node.operands[i]).is<op::Dequantize>()) places.push_back(i);
  return places;
}

/// Whether a table is an elementwise function of converted rows, and of numbers that all rows
/// share.
bool is_function_of_rows(const Graph& graph, const Node& node) {
  if (!node.has(Trait::elementwise) || node.results.size() != 1 || !is_table(graph, node))
    return false;
  const std::vector<std::size_t> places = converted_operands(graph, node);
  if (places.size() != 1) return false;
  for (std::size_t i = 0; i < node.operands.size(); ++i)
    if (i != places.front() && graph.value(node.operands[i]).type.domain != graph.none())
      return false;
  return true;
}

/// Whether a node selects rows of a table, and where its path leads nowhere has the table's
/// function of a row of zeros, as a selection of the integers has.
bool selects_function(const Graph& graph, const Node& user, const Node& table) {
  if (!user.is<op::SelectRows>()) return false;
  if (!graph.is_partial(user.as<op::SelectRows>().via)) return true;
  if (user.operands.size() == 1) return false;
  const Node& row = graph.producer(user.operands[1]);
  if (row.op != table.op || row.attrs != table.attrs) return false;
  const std::size_t place = converted_operands(graph, table).front();
  for (std::size_t i = 0; i < table.operands.size(); ++i)
    if (i == place ? !is_constant(graph.producer(row.operands[i]), 0)
                   : row.operands[i] != table.operands[i])
      return false;
  return true;
}

/// The stored rows of a table that is a function of them.
ValueId stored_rows(const Graph& graph, const Node& table) {
  return graph.producer(table.operands[converted_operands(graph, table).front()]).operands[0];
}

std::optional<std::string> not_stored_rows(const Match& match) {
  const Graph& graph = match.graph();
  const ValueId stored = stored_rows(graph, match.node(kTable));
  const DType dtype = graph.value(stored).type.dtype;
  if (!graph.producer(stored).has(Trait::external))
    return fmt::format("{} computes the integers", graph.describe(graph.value(stored).producer));
  if (row_type_of(dtype) != dtype) return fmt::format("no rows are {}", to_string(dtype));
  return std::nullopt;
}

std::optional<std::string> not_only_selected_with_zeros(const Match& match) {
  const Graph& graph = match.graph();
  const Node& table = match.node(kTable);
  if (graph.is_output(match[kTable])) return "the table is an output of the graph";
  for (const Use& use : graph.value(match[kTable]).uses)
    if (!selects_function(graph, graph.node(use.node), table))
      return fmt::format("{} needs the table", graph.describe(use.node));
  return std::nullopt;
}

/// The converted rows that the table is computed from would be kept for their other readers.
std::optional<std::string> rows_read_elsewhere(const Match& match) {
  const Graph& graph = match.graph();
  const Node& table = match.node(kTable);
  const ValueId rows = table.operands[converted_operands(graph, table).front()];
  if (graph.is_output(rows)) return "its rows are an output of the graph";
  for (const Use& use : graph.value(rows).uses)
    if (graph.node(use.node).results != table.results)
      return fmt::format("{} needs its rows", graph.describe(use.node));
  return std::nullopt;
}

/// The function of the selected rows: the law that made the table saved less than it takes.
Rule compute_selected() {
  return {.name = "compute_selected",
          .pattern =
              match::op<op::SelectRows>({match::node(is_function_of_rows).named(kTable).shared()})
                  .variadic(),
          .guards = {{"stored", not_stored_rows},
                     {"only_selected", not_only_selected_with_zeros},
                     {"own_rows", rows_read_elsewhere}},
          .build = [](Rewriter& rewriter, const Match& match) {
            // A copy, since nodes move when others are added.
            // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
            const Node table = match.node(kTable);
            const Graph& graph = match.graph();
            const std::size_t place = converted_operands(graph, table).front();
            const ValueId selected =
                rewriter.add(op::SelectRows{.via = match.root_node().as<op::SelectRows>().via},
                             {stored_rows(graph, table)});
            std::vector<ValueId> operands = table.operands;
            operands[place] = rewriter.add(op::Dequantize{}, {selected});
            rewriter.replace(match.result(), rewriter.apply(table, std::move(operands)));
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
  Pass pass{.name = "select_stored_rows", .rules = {convert_selected(), compute_selected()}};
  if (halves) pass.rules.push_back(widen_selected());
  return pass;
}

}  // namespace fuselage
