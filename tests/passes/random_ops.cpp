#include "tests/passes/random_ops.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuselage/ops/registry.h"

namespace fuselage {

void RandomOps::grow(DomainId domain, int count) {
  for (int i = 0; i < count; ++i) keep(domain, random_op(domain));
}

ValueId RandomOps::random_op(DomainId domain) {
  const ValueId x = pick(domain);
  switch (random_() % 15) {
    case 0:
      return unary(x);
    case 1:
      return tame(x);
    case 2:
      return binary(domain, x);
    case 3:
      return matmul(x);
    case 4:
      return concat(domain, x);
    case 5:
      return cut(x);
    case 6:
      return add(chance(2) ? "softmax" : "log_softmax", {x});
    case 7:
      return norm(domain, x);
    case 8:
      return chance(3) ? rotary(domain, x) : head_dot(domain, x);
    case 9:
      return no_op(x);
    case 10:
      return choose(domain, x);
    case 11:
      return reduce(x);
    case 12:
      return reshape(x);
    case 13:
      return product(domain, x);
    default:
      return again(x);
  }
}

ValueId RandomOps::unary(ValueId x) {
  static constexpr std::string_view kNames[] = {"neg",  "sigmoid", "tanh", "relu", "swish",
                                                "gelu", "abs",     "relu", "sin",  "cos"};
  return add(kNames[random_() % std::size(kNames)], {x});
}

ValueId RandomOps::tame(ValueId x) {
  const ValueId positive = add("abs", {x});
  switch (random_() % 3) {
    case 0:
      return add("exp", {add("tanh", {x})});
    case 1:
      return add("log", {add("add", {constant(1, 1), positive})});
    default:
      return add("sqrt", {positive});
  }
}

ValueId RandomOps::binary(DomainId domain, ValueId x) {
  ValueId y = pick(domain);
  if (chance(3)) y = constant(0.75, 1);
  if (chance(4)) y = param(graph_.none(), width(x));
  if (width(y) != 1) y = of_width(y, width(x));
  if (chance(5)) return add("div", {x, add("add", {add("abs", {y}), constant(1, 1)})});
  static constexpr std::string_view kNames[] = {"add", "sub", "mul", "max", "min"};
  const std::string_view name = kNames[random_() % std::size(kNames)];
  return chance(2) ? add(name, {x, y}) : add(name, {y, x});
}

ValueId RandomOps::choose(DomainId domain, ValueId x) {
  static constexpr std::string_view kNames[] = {"equal",      "not_equal", "less",
                                                "less_equal", "greater",   "greater_equal"};
  const std::string_view name = kNames[random_() % std::size(kNames)];
  const ValueId positive = add("add", {constant(1, 1), add("abs", {x})});
  const ValueId negative = add("neg", {add("relu", {of_width(pick(domain), width(x))})});
  const ValueId condition =
      chance(2) ? add(name, {positive, negative}) : add(name, {negative, positive});
  if (chance(3)) return condition;
  return add("where", {condition, x, chance(2) ? negative : constant(0.5, 1)});
}

ValueId RandomOps::reduce(ValueId x) {
  static constexpr std::string_view kNames[] = {"reduce_sum", "reduce_max", "reduce_mean"};
  const std::string_view name = kNames[random_() % std::size(kNames)];
  if (width(x) % 2 != 0 || chance(2)) return add(name, {x});
  return add(name, {add("reshape", {x}, {{"dims", Dims{2, width(x) / 2}}})});
}

ValueId RandomOps::reshape(ValueId x) {
  const ValueId matrix = add("reshape", {x}, {{"dims", Dims{width(x), 1}}});
  return add("reshape", {matrix}, {{"dims", Dims{width(x)}}});
}

ValueId RandomOps::product(DomainId domain, ValueId x) {
  const auto as = [&](ValueId y, std::int64_t rows, std::int64_t cols) {
    return add("reshape", {y}, {{"dims", Dims{rows, cols}}});
  };
  ValueId y = chance(3) ? param(graph_.none(), 2) : of_width(pick(domain), 2);
  const ValueId narrow = width(x) > 6 ? of_width(x, 6) : x;
  const std::int64_t n = width(narrow);
  // Not so large that sums of products of products overflow.
  y = add("tanh", {y});
  const ValueId column = add("tanh", {as(narrow, n, 1)});
  ValueId matrix = chance(2) ? add("batch_matmul", {column, as(y, 1, 2)})
                             : add("batch_matmul", {column, as(y, 2, 1)}, {{"transposed", true}});
  if (chance(2)) matrix = add("add", {matrix, add("expand", {column}, {{"dims", Dims{n, 2}}})});
  if (chance(4)) return as_vector(add("concat", {matrix, column}));
  if (chance(2)) return as_vector(add("permute", {matrix}, {{"order", Dims{1, 0}}}));
  if (chance(2))
    matrix = add("slice", {matrix}, {{"begin", std::int64_t{1}}, {"end", std::int64_t{2}}});
  return as_vector(matrix);
}

ValueId RandomOps::as_vector(ValueId x) {
  return add("reshape", {x}, {{"dims", Dims{row_size(graph_.value(x).type)}}});
}

ValueId RandomOps::matmul(ValueId x) {
  if (width(x) == 4 && chance(3)) return add("matmul", {x, table_}, {{"transposed", true}});
  const std::int64_t out = chance(2) ? 4 : 6;
  if (chance(4)) return add("matmul", {x, rows_of_matrix(width(x), out)});
  const ValueId w =
      chance(6) ? stored_in_few_bits(width(x), out) : param(graph_.none(), width(x), out);
  return add("matmul", {x, w});
}

ValueId RandomOps::rows_of_matrix(std::int64_t rows, std::int64_t cols) {
  const std::int64_t begin = below(3);
  const ValueId all = param(graph_.none(), rows + begin + below(3), cols);
  return add("slice_leading", {all}, {{"begin", begin}, {"end", begin + rows}});
}

ValueId RandomOps::concat(DomainId domain, ValueId x) {
  std::vector<ValueId> parts{x};
  while (parts.size() < 3 && chance(2)) parts.push_back(pick(domain));
  const ValueId all = add("concat", parts);
  return width(all) > 24 ? of_width(all, 6) : all;
}

ValueId RandomOps::cut(ValueId x) {
  const std::int64_t begin = below(width(x));
  const std::int64_t end = begin + 1 + below(width(x) - begin);
  return add("slice", {x}, {{"begin", begin}, {"end", end}});
}

ValueId RandomOps::norm(DomainId domain, ValueId x) {
  // Often of a sum, since the two fuse.
  const ValueId normalized = chance(2) ? add("add", {x, of_width(pick(domain), width(x))}) : x;
  std::vector<ValueId> operands{normalized, param(graph_.none(), width(x))};
  if (chance(3)) return add("rms_norm", operands, {{"epsilon", 1e-3}});
  if (chance(2)) operands.push_back(param(graph_.none(), width(x)));
  return add("layer_norm", operands, {{"epsilon", 1e-3}});
}

ValueId RandomOps::head_dot(DomainId domain, ValueId x) {
  const ValueId y = of_width(pick(domain), width(x));
  const std::int64_t heads = width(x) % 2 == 0 ? 2 : 1;
  return add("head_dot", {x, y}, {{"heads", heads}, {"scale", 0.125}});
}

ValueId RandomOps::rotary(DomainId domain, ValueId x) {
  const std::int64_t heads = chance(2) ? 2 : 1;
  const ValueId angle =
      chance(3) ? param(graph_.none(), 2 / heads) : of_width(pick(domain), 2 / heads);
  return add("rotary", {of_width(x, 4), add("cos", {angle}), add("sin", {angle})},
             {{"heads", heads}});
}

ValueId RandomOps::no_op(ValueId x) {
  switch (random_() % 9) {
    case 0:
      return add("mul", {constant(1, 1), x});
    case 1:
      return add("div", {x, constant(1, 1)});
    case 2:
      return add("neg", {add("neg", {x})});
    case 3:
      return add("add", {x, constant(0, 1)});
    case 4:
      return add("sub", {x, constant(0, width(x))});
    case 5:
      return add("slice", {x}, {{"begin", std::int64_t{0}}, {"end", width(x)}});
    case 6: {
      const std::int64_t middle = below(width(x));
      if (middle == 0) return add("concat", {x});
      return add("concat", {add("slice", {x}, {{"begin", std::int64_t{0}}, {"end", middle}}),
                            add("slice", {x}, {{"begin", middle}, {"end", width(x)}})});
    }
    case 7:
      return add("mul", {x, add("exp", {add("tanh", {constant(0.1, 1)})})});
    default:
      return add("slice", {add("concat", {x, x})}, {{"begin", width(x)}, {"end", 2 * width(x)}});
  }
}

ValueId RandomOps::again(ValueId x) {
  const Node node = graph_.producer(x);
  if (node.has(Trait::loop_state)) return add("tanh", {x});
  const std::uint32_t result = graph_.value(x).result;
  return graph_.result(graph_.add_node_with_attrs(*node.op, node.operands, node.attrs), result);
}

ValueId RandomOps::add(std::string_view name, std::vector<ValueId> operands, const Attrs& attrs) {
  return graph_.result(graph_.add_node(find_op(name), std::move(operands), attrs));
}

ValueId RandomOps::stored_in_few_bits(std::int64_t rows, std::int64_t cols) {
  constexpr DType kStored[] = {DType::qint8, DType::qlog4, DType::bf16};
  const DType dtype = kStored[random_() % std::size(kStored)];
  if (dtype == DType::bf16)
    return add("cast", {param(graph_.none(), rows, cols, dtype)}, {{"to", DType::f32}});
  const ValueId vectors = param(graph_.none(), cols, rows, dtype);
  return add("transpose", {add("dequantize", {vectors})});
}

ValueId RandomOps::param(DomainId domain, std::int64_t rows, std::int64_t cols, DType dtype) {
  Dims dims{rows};
  if (cols > 0) dims.push_back(cols);
  const std::string name = fmt::format("w{}", params_++);
  const ValueId id =
      add("param", {},
          {{"name", name}, {"domain", domain}, {"dims", std::move(dims)}, {"dtype", dtype}});
  graph_.set_value_name(id, name);
  return id;
}

ValueId RandomOps::vector(double number, std::int64_t size) {
  return add("constant", {}, {{"values", std::vector<double>{number}}, {"dims", Dims{size}}});
}

ValueId RandomOps::constant(double number, std::int64_t size) {
  if (size > 1 || chance(2)) return vector(number, size);
  return add("constant", {}, {{"values", std::vector<double>{number}}});
}

ValueId RandomOps::of_width(ValueId x, std::int64_t wanted) {
  while (width(x) < wanted) x = add("concat", {x, x});
  if (width(x) == wanted) return x;
  return add("slice", {x}, {{"begin", std::int64_t{0}}, {"end", wanted}});
}

std::int64_t RandomOps::width(ValueId x) const {
  return graph_.value(x).type.dims.empty() ? 1 : graph_.value(x).type.dims.back();
}

void RandomOps::keep(DomainId domain, ValueId value) {
  if (graph_.value(value).type.dims.empty()) return;
  if (chance(3)) graph_.set_value_name(value, fmt::format("v{}", value.index));
  pools_[domain].push_back(value);
}

ValueId RandomOps::pick(DomainId domain) {
  const auto& pool = pools_[domain];
  if (pool.empty()) return table_;
  const auto size = static_cast<std::int64_t>(pool.size());
  const std::int64_t from = chance(2) ? std::max<std::int64_t>(0, size - 3) : 0;
  return pool[static_cast<std::size_t>(from + below(size - from))];
}

bool RandomOps::chance(std::uint64_t one_in) { return random_() % one_in == 0; }

std::int64_t RandomOps::below(std::int64_t limit) {
  return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(limit));
}

}  // namespace fuselage
