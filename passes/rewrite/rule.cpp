#include "fuselage/passes/rewrite/rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "fuselage/base/error.h"

namespace fuselage {

std::string_view to_string(NumericClass numeric_class) {
  constexpr std::array<std::string_view, 4> kNames{"exact", "reassociates", "approximates",
                                                   "quantizes"};
  return kNames[static_cast<std::size_t>(numeric_class)];
}

std::vector<Match> find_matches(const Rule& rule, const Graph& graph, NodeId root) {
  std::vector<Match> found = rule.pattern.find(graph, root);
  for (Match& match : found) match.analyze_ = &rule.analyze;
  return found;
}

void check_rule(const Rule& rule) {
  const std::vector<Capture> captures = rule.pattern.captures();
  for (const Capture& a : captures)
    for (const Capture& b : captures)
      if (a.name == b.name && !(a == b))
        throw InternalError(fmt::format(
            "internal error: rule '{}' has two captures called '{}'; rename one of them", rule.name,
            a.name));
  for (const Guard& guard : rule.guards)
    for (const Capture& read : guard.reads)
      if (std::find(captures.begin(), captures.end(), read) == captures.end())
        throw InternalError(fmt::format(
            "internal error: guard '{}' of rule '{}' reads '{}', which the pattern does "
            "not capture",
            guard.name, rule.name, read.name));
  if (!rule.build)
    throw InternalError(fmt::format("internal error: rule '{}' has no builder", rule.name));
}

void check_rules(std::string_view pass, const std::vector<Rule>& rules) {
  std::set<std::string_view> names;
  for (const Rule& rule : rules) {
    check_rule(rule);
    if (!names.insert(rule.name).second)
      throw InternalError(
          fmt::format("internal error: pass '{}' has two rules called '{}'", pass, rule.name));
  }
}

std::vector<Guard> all_guards(const Rule& rule) {
  std::vector<Guard> guards = rule.guards;
  if (rule.pattern.consumes_inner()) guards.insert(guards.begin(), single_use());
  return guards;
}

namespace {

/// The guard's answer. An exception in a guard is an internal error with its name.
std::optional<std::string> ask(const Rule& rule, const Guard& guard, const Match& match) {
  try {
    return guard.refuse(match);
  } catch (const ExtensionError&) {
    throw;
  } catch (const std::exception& error) {
    throw InternalError(fmt::format("internal error: guard '{}' of rule '{}' at {}: {}", guard.name,
                                    rule.name, match.graph().describe(match.root()), error.what()));
  }
}

}  // namespace

std::vector<Refusal> ask_guards(const Rule& rule, const Match& match) {
  std::vector<Refusal> refusals;
  for (const Guard& guard : all_guards(rule))
    if (auto reason = ask(rule, guard, match))
      refusals.push_back(
          {rule.name, match.graph().describe(match.root()), guard.name, std::move(*reason)});
  return refusals;
}

Guard single_use() {
  const auto refuse = [](const Match& match) -> std::optional<std::string> {
    const Graph& graph = match.graph();
    const auto inside = [&](const Use& use) {
      return std::find(match.nodes().begin(), match.nodes().end(), use.node) != match.nodes().end();
    };
    for (const NodeId id : match.consumed())
      for (const ValueId result : graph.node(id).results) {
        if (graph.is_output(result))
          return fmt::format("{} is an output of the graph", graph.describe(id));
        const auto& uses = graph.value(result).uses;
        const auto outside =
            uses.size() - static_cast<std::size_t>(std::count_if(uses.begin(), uses.end(), inside));
        if (outside > 0)
          return fmt::format("{} has {} other use{}", graph.describe(id), outside,
                             outside == 1 ? "" : "s");
      }
    return std::nullopt;
  };
  return {"single_use", refuse};
}

Guard same_type(Capture capture) {
  const auto refuse = [capture](const Match& match) {
    const Graph& graph = match.graph();
    if (match.type(capture) == match.result_type()) return std::optional<std::string>();
    return std::optional(fmt::format("the result is {}, but {} is {}",
                                     graph.show(match.result_type()), capture.name,
                                     graph.show(match.type(capture))));
  };
  return {"same_type", refuse, {capture}};
}

Guard several_columns(Capture product, std::string consequence) {
  const auto refuse = [product, consequence = std::move(consequence)](
                          const Match& match) -> std::optional<std::string> {
    if (match.type(product).dims.back() > 1) return std::nullopt;
    return fmt::format("its matrix has one column, {}", consequence);
  };
  return {"several_columns", refuse, {product}};
}

std::optional<std::string> several_heads(const Graph& graph, ValueId weights) {
  const std::int64_t heads = row_size(graph.value(weights).type);
  if (heads == 1) return std::nullopt;
  return fmt::format("it mixes {} heads, each of its own part of the row", heads);
}

Guard one_head(Capture weights) {
  const auto refuse = [weights](const Match& match) {
    return several_heads(match.graph(), match[weights]);
  };
  return {"one_head", refuse, {weights}};
}

Guard same_rows() {
  const auto refuse = [](const Match& match) -> std::optional<std::string> {
    const Graph& graph = match.graph();
    for (const NodeId id : match.consumed()) {
      const Type& inner = graph.value(graph.result(id)).type;
      if (inner.domain != match.result_type().domain)
        return fmt::format("{} is {} and would be computed again for the rows of {}",
                           graph.describe(id), graph.show(inner), graph.show(match.result_type()));
    }
    return std::nullopt;
  };
  return {"same_rows", refuse};
}

}  // namespace fuselage
