#include "passes/fusion/polynomial.h"

#include <algorithm>

#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/ops/structure/leaf.h"
#include "fuselage/ops/structure/rows.h"
#include "fuselage/ops/structure/shape.h"
#include "fuselage/passes/rewrite/pattern.h"

namespace fuselage {
namespace {

constexpr std::size_t kMaxTerms = 64;

void add_term(Polynomial& sum, const std::vector<Columns>& factors, double coefficient) {
  if ((sum[factors] += coefficient) == 0) sum.erase(factors);
}

Polynomial plus(Polynomial a, const Polynomial& b, double sign) {
  for (const auto& [factors, coefficient] : b) add_term(a, factors, sign * coefficient);
  return a;
}

Polynomial times(const Polynomial& a, const Polynomial& b) {
  Polynomial product;
  for (const auto& [factors, coefficient] : a)
    for (const auto& [others, other] : b) {
      std::vector<Columns> all = factors;
      all.insert(all.end(), others.begin(), others.end());
      std::sort(all.begin(), all.end());
      add_term(product, all, coefficient * other);
    }
  return product;
}

/// The common value of all elements of a constant, if they are equal.
std::optional<double> uniform(const Node& node) {
  if (!is_constant(node)) return std::nullopt;
  const auto values = node.as<op::Constant>().values;
  const auto same = [&values](double value) { return value == values[0]; };
  if (!std::all_of(values.begin(), values.end(), same)) return std::nullopt;
  return values[0];
}

}  // namespace

std::optional<Polynomial> Expansion::expand(Columns columns, std::int64_t width) {
  if (--budget_ < 0) return std::nullopt;
  const Value& value = graph_.value(columns.value);
  const Node& node = graph_.node(value.producer);
  met_.insert(value.producer);
  if (const auto number = uniform(node)) {
    Polynomial constant;
    add_term(constant, {}, *number);
    return constant;
  }
  if (value.type.dims.size() != 1 || columns.begin + width > value.type.dims[0])
    return std::nullopt;
  if (graph_.binding(columns.value) == BindingTime::load) return Polynomial{{{columns}, 1}};
  if (node.is<op::Add>() || node.is<op::Sub>() || node.is<op::Mul>() || node.is<op::Neg>())
    return of_sum(node, columns, width);
  const bool selects = node.has(Trait::selects_rows) && node.as<op::Via>().via == MapPath{via_};
  if (selects || node.has(Trait::slices) || node.is<op::Concat>())
    return of_part(node, columns, width);
  return Polynomial{{{columns}, 1}};
}

std::optional<Polynomial> Expansion::of_sum(const Node& node, Columns columns, std::int64_t width) {
  const auto a = expand({node.operands[0], columns.begin}, width);
  if (!a) return std::nullopt;
  if (node.is<op::Neg>()) return plus({}, *a, -1);
  const auto b = expand({node.operands[1], columns.begin}, width);
  if (!b || a->size() * b->size() > kMaxTerms || a->size() + b->size() > kMaxTerms)
    return std::nullopt;
  if (node.is<op::Mul>()) return times(*a, *b);
  return plus(*a, *b, node.is<op::Sub>() ? -1 : 1);
}

std::optional<Polynomial> Expansion::of_part(const Node& node, Columns columns,
                                             std::int64_t width) {
  if (node.has(Trait::selects_rows)) return expand({node.operands[0], columns.begin}, width);
  if (node.has(Trait::slices))
    return expand({node.operands[0], columns.begin + node.as<op::Range>().begin}, width);
  std::int64_t begin = columns.begin;
  for (const ValueId part : node.operands) {
    const std::int64_t size = graph_.value(part).type.dims[0];
    if (begin < size) return expand({part, begin}, width);
    begin -= size;
  }
  return std::nullopt;
}

}  // namespace fuselage
