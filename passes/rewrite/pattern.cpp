#include "fuselage/passes/rewrite/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>

#include "fuselage/base/error.h"
#include "fuselage/ops/structure/leaf.h"

namespace fuselage {
namespace {

void append(std::vector<Match>& to, std::vector<Match> from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

std::uint32_t float_bits(double number) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(number));
}

}  // namespace

bool is_constant(const Node& node) { return node.is<op::Constant>(); }

bool is_constant(const Node& node, double number) {
  if (!is_constant(node)) return false;
  const std::vector<double> values = node.as<op::Constant>().values;
  return std::all_of(values.begin(), values.end(),
                     [number](double value) { return float_bits(value) == float_bits(number); });
}

ValueId Match::operator[](Capture capture) const {
  for (const auto& [captured, value] : captures_)
    if (captured == capture) return value;
  throw InternalError(fmt::format("internal error: the pattern captures no '{}'", capture.name));
}

const std::any& Match::analyzed() const {
  check(analyze_ && *analyze_, "the rule has no analysis");
  if (!analysis_.has_value()) analysis_ = (*analyze_)(*this);
  return analysis_;
}

Pattern make_leaf() { return Pattern(); }

Pattern make_node(std::vector<const OpDef*> ops, std::optional<std::vector<Pattern>> operands) {
  Pattern pattern;
  pattern.leaf_ = false;
  pattern.ops_ = std::move(ops);
  pattern.operands_ = std::move(operands);
  return pattern;
}

namespace match {

Pattern any(Capture capture) { return make_leaf().named(capture); }
Pattern node(NodePredicate test) { return make_node({}, std::nullopt).where(std::move(test)); }
Pattern node(NodePredicate test, std::vector<Pattern> operands) {
  return make_node({}, std::move(operands)).where(std::move(test));
}
Pattern constant(Capture capture) {
  return make_leaf().named(capture).where(
      [](const Graph&, const Node& node) { return is_constant(node); });
}
Pattern number(double number) {
  return make_leaf().where(
      [number](const Graph&, const Node& node) { return is_constant(node, number); });
}

}  // namespace match

Pattern::Pattern() = default;
Pattern::Pattern(const Pattern&) = default;
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(const Pattern&) = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

Pattern Pattern::named(Capture capture) && {
  capture_ = capture;
  return std::move(*this);
}
Pattern Pattern::shared() && {
  shared_ = true;
  return std::move(*this);
}
Pattern Pattern::commutative() && {
  check(operands_ && operands_->size() == 2, "only two operands come in either order");
  commutative_ = true;
  return std::move(*this);
}
Pattern Pattern::variadic() && {
  variadic_ = true;
  return std::move(*this);
}
Pattern Pattern::having(Pattern operand) && {
  having_.push_back(std::move(operand));
  return std::move(*this);
}
Pattern Pattern::where(NodePredicate test) && {
  tests_.push_back(std::move(test));
  return std::move(*this);
}

void Pattern::add_captures(std::vector<Capture>& captures) const {
  if (capture_) captures.push_back(*capture_);
  if (operands_)
    for (const Pattern& operand : *operands_) operand.add_captures(captures);
  for (const Pattern& operand : having_) operand.add_captures(captures);
}

std::vector<Capture> Pattern::captures() const {
  std::vector<Capture> captures;
  add_captures(captures);
  return captures;
}

std::size_t Pattern::depth() const {
  std::size_t below = 0;
  if (operands_)
    for (const Pattern& operand : *operands_) below = std::max(below, operand.depth());
  for (const Pattern& operand : having_) below = std::max(below, operand.depth());
  return below + 1;
}

bool Pattern::consumes_inner() const {
  const auto consumes = [](const Pattern& operand) {
    return (!operand.leaf_ && !operand.shared_) || operand.consumes_inner();
  };
  return (operands_ && std::any_of(operands_->begin(), operands_->end(), consumes)) ||
         std::any_of(having_.begin(), having_.end(), consumes);
}

std::vector<Match> Pattern::find(const Graph& graph, NodeId root) const {
  if (leaf_ || !fits_node(graph, graph.node(root))) return {};
  std::vector<Match> found = extend_by_node(Match(graph, root), root);
  for (Match& match : found) std::erase(match.consumed_, root);
  return found;
}

bool Pattern::fits_node(const Graph& graph, const Node& node) const {
  if (!ops_.empty() && std::find(ops_.begin(), ops_.end(), node.op) == ops_.end()) return false;
  return std::all_of(tests_.begin(), tests_.end(),
                     [&](const NodePredicate& test) { return test(graph, node); });
}

bool Pattern::capture(Match& match, ValueId value) const {
  if (!capture_) return true;
  for (const auto& [captured, earlier] : match.captures_)
    if (captured == *capture_) return earlier == value;
  match.captures_.emplace_back(*capture_, value);
  return true;
}

std::vector<Match> Pattern::extend_by_value(const Match& partial, ValueId value) const {
  const NodeId producer = partial.graph().value(value).producer;
  if (!fits_node(partial.graph(), partial.graph().node(producer))) return {};
  Match extended = partial;
  if (!capture(extended, value)) return {};
  if (leaf_) return {std::move(extended)};
  return extend_by_node(std::move(extended), producer);
}

std::vector<Match> Pattern::extend_by_node(Match partial, NodeId id) const {
  const Node& node = partial.graph().node(id);
  if (id == partial.root() && !node.results.empty() && !capture(partial, node.results[0]))
    return {};
  partial.nodes_.push_back(id);
  if (!shared_) partial.consumed_.push_back(id);

  std::vector<Match> found;
  if (!operands_) {
    found.push_back(std::move(partial));
  } else {
    found = extend_in_order(partial, node.operands);
    if (commutative_ && node.operands.size() == 2)
      append(found, extend_in_order(partial, {node.operands[1], node.operands[0]}));
  }
  for (const Pattern& some : having_) {
    std::vector<Match> extended;
    for (const Match& match : found)
      for (const ValueId operand : node.operands)
        append(extended, some.extend_by_value(match, operand));
    found = std::move(extended);
  }
  return found;
}

std::vector<Match> Pattern::extend_in_order(const Match& partial,
                                            const std::vector<ValueId>& operands) const {
  const std::size_t count = operands_->size();
  if (operands.size() < count || (operands.size() > count && !variadic_)) return {};
  std::vector<Match> found{partial};
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<Match> extended;
    for (const Match& match : found)
      append(extended, (*operands_)[i].extend_by_value(match, operands[i]));
    found = std::move(extended);
  }
  return found;
}

}  // namespace fuselage
