#include "passes/fusion/polynomial.h"

#include <algorithm>

#include "passes/rewrite/pattern.h"

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

/// The number that all elements of a constant are.
std::optional<double> uniform(const Node& node) {
  if (!is_constant(node)) return std::nullopt;
  const auto& values = node.attr<std::vector<double>>("values");
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
  const std::string_view name = node.op->name;
  if (name == "add" || name == "sub" || name == "mul" || name == "neg")
    return of_sum(node, columns, width);
  const bool selects = name == "select_rows" && node.attr<MapPath>("via") == MapPath{via_};
  if (selects || name == "slice" || name == "concat") return of_part(node, columns, width);
  return Polynomial{{{columns}, 1}};
}

std::optional<Polynomial> Expansion::of_sum(const Node& node, Columns columns, std::int64_t width) {
  const auto a = expand({node.operands[0], columns.begin}, width);
  if (!a) return std::nullopt;
  if (node.op->name == "neg") return plus({}, *a, -1);
  const auto b = expand({node.operands[1], columns.begin}, width);
  if (!b || a->size() * b->size() > kMaxTerms || a->size() + b->size() > kMaxTerms)
    return std::nullopt;
  if (node.op->name == "mul") return times(*a, *b);
  return plus(*a, *b, node.op->name == "sub" ? -1 : 1);
}

std::optional<Polynomial> Expansion::of_part(const Node& node, Columns columns,
                                             std::int64_t width) {
  if (node.op->name == "select_rows") return expand({node.operands[0], columns.begin}, width);
  if (node.op->name == "slice")
    return expand({node.operands[0], columns.begin + node.attr<std::int64_t>("begin")}, width);
  std::int64_t begin = columns.begin;
  for (const ValueId part : node.operands) {
    const std::int64_t size = graph_.value(part).type.dims[0];
    if (begin < size) return expand({part, begin}, width);
    begin -= size;
  }
  return std::nullopt;
}

}  // namespace fuselage
