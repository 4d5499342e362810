#include "passes/motion/merge_products.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuselage/ops/arithmetic/matmul.h"
#include "fuselage/ops/structure/rows.h"
#include "fuselage/ops/structure/shape.h"
#include "graph/schedule.h"
#include "passes/rewrite/stored_type.h"

namespace fuselage {
namespace {

constexpr Capture kX{"x"}, kW{"w"}, kWeights{"weights"}, kProduct{"product"};

using Test = std::function<bool(const Node&)>;

/// The nodes that use a value as operand number `operand` and pass a test, in order of its uses.
std::vector<NodeId> users(const Graph& graph, ValueId value, std::uint32_t operand,
                          const Test& test) {
  std::vector<NodeId> found;
  for (const Use& use : graph.value(value).uses)
    if (use.operand == operand && test(graph.node(use.node))) found.push_back(use.node);
  return found;
}

std::int64_t width(const Graph& graph, ValueId value) {
  return graph.value(value).type.dims.back();
}

/// Replaces the nodes' results by slices of `merged`.
void replace_by_slices(Rewriter& rewriter, const std::vector<NodeId>& nodes, ValueId merged) {
  std::int64_t begin = 0;
  for (const NodeId id : nodes) {
    const ValueId result = rewriter.graph().result(id);
    const std::int64_t end = begin + width(rewriter.graph(), result);
    rewriter.replace(result, rewriter.add(op::Slice{.begin = begin, .end = end}, {merged}));
    begin = end;
  }
}

// --- Products ---

bool has_plain_matrix(const Graph& graph, const Node& product) {
  return graph.value(product.operands[1]).type.domain == graph.none() &&
         !product.as<op::Matmul>().transposed;
}

bool is_mergeable(const Graph& graph, const Node& product) {
  return has_plain_matrix(graph, product) && width(graph, product.results[0]) > 1;
}

/// The products that can be merged with `product`, which share its operand and, by stored type,
/// the type of its matrix; includes `product` itself if it can be merged.
std::vector<NodeId> mergeable_products(const Graph& graph, const Node& product,
                                       bool by_stored_type) {
  const auto type_of = [&](const Node& node) {
    return by_stored_type ? stored_type(graph, node.operands[1]) : std::nullopt;
  };
  const auto type = type_of(product);
  return users(graph, product.operands[0], 0, [&](const Node& other) {
    return other.op == product.op && is_mergeable(graph, other) && type_of(other) == type;
  });
}

/// The pattern matches only the second product of each set of siblings, since one rewrite merges
/// the set. It also matches every product that cannot be merged, so that guards report the reason.
bool has_sibling_product(const Graph& graph, const Node& product, bool by_stored_type) {
  const std::vector<NodeId> found = mergeable_products(graph, product, by_stored_type);
  if (!is_mergeable(graph, product)) return !found.empty();
  return found.size() > 1 && graph.value(product.results[0]).producer == found[1];
}

std::optional<std::string> known_at_load(const Match& match) {
  if (match.graph().binding(match[kX]) != BindingTime::load) return std::nullopt;
  return fmt::format("{} is known at load, so its products are made once and save nothing",
                     match.graph().show(match.type(kX)));
}

std::optional<std::string> other_layout(const Match& match) {
  const Graph& graph = match.graph();
  if (has_plain_matrix(graph, match.root_node())) return std::nullopt;
  return fmt::format("the columns of {}{} cannot stand beside those of others",
                     graph.show(match.type(kW)),
                     match.root_node().as<op::Matmul>().transposed ? " transposed" : "");
}

void merge_all_products(Rewriter& rewriter, const Match& match, bool by_stored_type) {
  const std::vector<NodeId> products =
      mergeable_products(match.graph(), match.root_node(), by_stored_type);
  const ValueId x = match[kX];
  std::vector<ValueId> matrices;
  for (const NodeId id : products) {
    rewriter.include(id);
    matrices.push_back(match.graph().node(id).operands[1]);
  }
  const ValueId matrix = rewriter.add(op::Concat{}, std::move(matrices));
  replace_by_slices(rewriter, products, rewriter.add(op::Matmul{}, {x, matrix}));
}

// --- Mixtures ---

/// All mixtures with the same weights and maps.
std::vector<NodeId> sibling_mixtures(const Graph& graph, const Node& mix) {
  return users(graph, mix.operands[0], 0,
               [&](const Node& other) { return other.op == mix.op && other.attrs == mix.attrs; });
}

bool has_earlier_mixture(const Graph& graph, const Node& mix) {
  return sibling_mixtures(graph, mix)[0] != graph.value(mix.results[0]).producer;
}

/// Orders slices of one value by their position, so that their concatenation is one slice again.
void order_by_source(const Graph& graph, std::vector<NodeId>& mixtures) {
  const auto source = [&graph](NodeId id) {
    const ValueId x = graph.node(id).operands[1];
    const Node& producer = graph.producer(x);
    if (!producer.has(Trait::slices)) return std::pair<ValueId, std::int64_t>(x, 0);
    return std::pair(producer.operands[0], producer.as<op::Range>().begin);
  };
  std::stable_sort(mixtures.begin(), mixtures.end(),
                   [&](NodeId a, NodeId b) { return source(a) < source(b); });
}

/// The root and its siblings that depend neither on the root nor on each other.
std::vector<NodeId> mergeable_mixtures(const Graph& graph, NodeId root) {
  std::vector<NodeId> together{root};
  std::vector<std::vector<bool>> follows{followers(graph, root)};
  for (const NodeId id : sibling_mixtures(graph, graph.node(root))) {
    if (id == root) continue;
    std::vector<bool> after = followers(graph, id);
    bool waits = false;
    for (std::size_t i = 0; i < together.size(); ++i)
      waits = waits || follows[i][id.index] || after[together[i].index];
    if (waits) continue;
    together.push_back(id);
    follows.push_back(std::move(after));
  }
  order_by_source(graph, together);
  return together;
}

std::optional<std::string> waits_for_siblings(const Match& match) {
  const Graph& graph = match.graph();
  if (match.analysis<std::vector<NodeId>>().size() > 1) return std::nullopt;
  const NodeId other = sibling_mixtures(graph, match.root_node())[0];
  return fmt::format("one of it and {} needs the other's result", graph.describe(other));
}

void merge_all_mixtures(Rewriter& rewriter, const Match& match) {
  const auto& mixtures = match.analysis<std::vector<NodeId>>();
  const ValueId weights = match[kWeights];
  const auto paths = match.root_node().as<op::MixRows>();
  std::vector<ValueId> mixed;
  for (const NodeId id : mixtures) {
    rewriter.include(id);
    mixed.push_back(match.graph().node(id).operands[1]);
  }
  const ValueId all = rewriter.add(op::Concat{}, std::move(mixed));
  replace_by_slices(rewriter, mixtures, rewriter.add(paths, {weights, all}));
}

}  // namespace

Pass merge_products(bool by_stored_type) {
  using match::any, match::op;
  const auto has_sibling = [by_stored_type](const Graph& graph, const Node& product) {
    return has_sibling_product(graph, product, by_stored_type);
  };
  const auto merge_all = [by_stored_type](Rewriter& rewriter, const Match& match) {
    merge_all_products(rewriter, match, by_stored_type);
  };
  return {
      .name = "merge_products",
      .rules = {{.name = "products",
                 .pattern = op<op::Matmul>({any(kX), any(kW)}).named(kProduct).where(has_sibling),
                 .guards = {{"at_run_time", known_at_load},
                            {"plain_matrix", other_layout},
                            several_columns(kProduct,
                                            "so it is a dot product, which sums in another order")},
                 .build = merge_all},
                {.name = "mixtures",
                 .pattern = op<op::MixRows>({any(kWeights), any(kX)}).where(has_earlier_mixture),
                 .analyze = [](const Match& match) -> std::any {
                   return mergeable_mixtures(match.graph(), match.root());
                 },
                 .guards = {one_head(kWeights), {"independent", waits_for_siblings}},
                 .build = merge_all_mixtures}}};
}

}  // namespace fuselage
