#include "fuselage/ops/builder.h"

#include <fmt/format.h>

#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"
#include "fuselage/ops/arithmetic/batch_matmul.h"
#include "fuselage/ops/arithmetic/matmul.h"
#include "fuselage/ops/arithmetic/normalization.h"
#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/ops/arithmetic/reduction.h"
#include "fuselage/ops/arithmetic/softmax.h"
#include "fuselage/ops/fused/attention.h"
#include "fuselage/ops/precision/quantize.h"
#include "fuselage/ops/structure/leaf.h"
#include "fuselage/ops/structure/loop.h"
#include "fuselage/ops/structure/positions.h"
#include "fuselage/ops/structure/rows.h"
#include "fuselage/ops/structure/shape.h"

namespace fuselage {
namespace {

[[noreturn]] void fail(const Operand& x, const std::string& message) {
  throw Error(fmt::format("{}:{}: {}", x.location.file_name(), x.location.line(), message));
}

/// The builder of a value; a number alone has none.
Builder& builder_of(const Operand& x) {
  if (!x.expr.valid()) fail(x, "this needs a value of a graph, not a number or an empty Expr");
  return x.expr.builder();
}

/// The map of kind `kind` from x's domain.
MapPath map_of_rows(const Operand& x, MapKind kind) {
  Builder& builder = builder_of(x);
  const Graph& graph = builder.graph();
  const Type& type = x.expr.type();
  const DomainKind from = graph.domain(type.domain).kind;
  const DomainKind wanted = kind == MapKind::structural ? DomainKind::source : DomainKind::pairs;
  if (from != wanted)
    fail(x, fmt::format("this needs rows of a {} domain, not {}", to_string(wanted),
                        graph.show(type)));
  return {graph.map_of(type.domain, kind)};
}

/// The map that groups x's rows: source tokens by sentences, or pairs by left members.
MapPath grouping_of(const Operand& x) {
  builder_of(x);
  const Graph& graph = x.expr.builder().graph();
  const DomainId domain = x.expr.type().domain;
  const bool pairs = graph.domain(domain).kind == DomainKind::pairs;
  if (!pairs && graph.domain(domain).kind != DomainKind::source)
    fail(x, fmt::format("this needs rows of a source or pairs domain, not {}",
                        graph.show(x.expr.type())));
  return {graph.map_of(domain, pairs ? MapKind::left : MapKind::structural)};
}

template <OpStruct Op>
Expr reduce_rows(const Operand& x) {
  const MapPath to = grouping_of(x);
  return x.expr.builder().add(Op{.to = to}, {x.expr}, x.location);
}

template <OpStruct Op>
Expr unary(const Operand& x) {
  return builder_of(x).add(Op{}, {x.expr}, x.location);
}

/// The value of an operand; a number becomes a constant.
Expr value_of(Builder& builder, const Operand& operand) {
  return operand.expr.valid() ? operand.expr
                              : builder.constant(operand.number, {}, operand.location);
}

template <OpStruct Op>
Expr binary(const Operand& a, const Operand& b) {
  Builder& builder = builder_of(a.expr.valid() ? a : b);
  return builder.add(Op{}, {value_of(builder, a), value_of(builder, b)}, a.location);
}

/// The path from pairs through one member to the domain of x; empty if there is none.
MapPath member_path(const Graph& graph, DomainId pairs, MapKind member, DomainId to) {
  const Domain& domain = graph.domain(pairs);
  auto path = graph.structural_path(member == MapKind::left ? domain.left : domain.right, to);
  if (!path) return {};
  path->insert(path->begin(), graph.map_of(pairs, member));
  return *path;
}

Expr select_member(const Operand& x, DomainId pairs, MapKind member) {
  const Graph& graph = builder_of(x).graph();
  const Domain& domain = graph.domain(pairs);
  if (domain.kind != DomainKind::pairs)
    fail(x, fmt::format("'{}' is a {} domain and has no members", domain.name,
                        to_string(domain.kind)));
  const MapPath path = member_path(graph, pairs, member, x.expr.type().domain);
  if (path.empty())
    fail(x, fmt::format("{} has no rows of the {} member of '{}', '{}'", graph.show(x.expr.type()),
                        member == MapKind::left ? "left" : "right", domain.name,
                        graph.domain(member == MapKind::left ? domain.left : domain.right).name));
  return select_rows(x, path);
}

}  // namespace

const Type& Expr::type() const {
  check(valid(), "an empty Expr has no type");
  return builder_->graph().value(id_).type;
}

std::int64_t Expr::width() const { return type().dims.empty() ? 1 : type().dims.back(); }

const Expr& Expr::named(std::string_view name) const {
  check(valid(), "an empty Expr has no name");
  builder_->graph().set_value_name(id_, std::string(name));
  return *this;
}

Builder::Scope::Scope(Builder& builder, std::string name)
    : builder_(builder), outer_(std::move(builder.scope_)) {
  builder_.scope_ = outer_.empty() ? std::move(name) : outer_ + "." + name;
}

Expr Builder::add(const OpDef& op, const std::vector<Expr>& operands, const AttrList& attrs,
                  CodeLocation at) {
  std::vector<ValueId> ids;
  for (const Expr& operand : operands) {
    check(operand.valid() && &operand.builder() == this, "an operand of another builder", at);
    ids.push_back(operand.id());
  }
  const NodeId node =
      graph_.add_node(op, std::move(ids), attrs, {std::string(at.file_name()), at.line()});
  if (graph_.node(node).results.empty()) return {};
  const ValueId result = graph_.result(node);
  if (!scope_.empty()) {
    std::string name = fmt::format("{}.{}", scope_, op.name);
    if (const std::size_t number = ++uses_of_name_[name]; number > 1)
      name += fmt::format(".{}", number);
    graph_.set_value_name(result, std::move(name));
  }
  return {this, result};
}

Expr Builder::param(const std::string& name, Dims dims, DomainId domain, DType dtype,
                    CodeLocation at) {
  return add(op::Param{.name = name, .domain = domain, .dims = std::move(dims), .dtype = dtype}, {},
             at)
      .named(name);
}

Expr Builder::constant(double number, Dims dims, CodeLocation at) {
  return add(op::Constant{.values = {number}, .dims = std::move(dims)}, {}, at);
}

Expr Builder::input(const std::string& name, DomainId domain, Dims dims, CodeLocation at) {
  graph_.add_input(name, domain, std::move(dims));
  return add(op::Input{.name = name}, {}, at);
}

Expr Builder::position(DomainId domain, CodeLocation at) {
  return add(op::Position{.domain = domain}, {}, at);
}

Expr Builder::state(Expr init, DomainId domain, CodeLocation at) {
  return add(op::State{.domain = domain}, {init}, at);
}

void Builder::next(Expr state, Expr value, CodeLocation at) { add(op::Next{}, {state, value}, at); }

void Builder::multiply_in_integers(Expr weight, const IntegerProduct& product) {
  integer_products_[weight.id()] = product;
}

Expr Builder::product(Expr x, Expr w, bool transposed, CodeLocation at) {
  if (const auto found = integer_products_.find(w.id()); found != integer_products_.end()) {
    const auto& [columns, scale] = found->second;
    if (scale.valid()) x = add(op::Quantize{{.to = columns.type().dtype}}, {x, scale}, at);
    w = columns;
  }
  transposed = transposed || is_quantized(w.type().dtype);
  return add(op::Matmul{.transposed = transposed}, {x, w}, at);
}

Expr operator+(Operand a, Operand b) { return binary<op::Add>(a, b); }
Expr operator-(Operand a, Operand b) { return binary<op::Sub>(a, b); }
Expr operator*(Operand a, Operand b) { return binary<op::Mul>(a, b); }
Expr operator/(Operand a, Operand b) { return binary<op::Div>(a, b); }
Expr operator-(Operand a) { return unary<op::Neg>(a); }

Expr max(Operand a, Operand b) { return binary<op::Max>(a, b); }
Expr min(Operand a, Operand b) { return binary<op::Min>(a, b); }
Expr equal(Operand a, Operand b) { return binary<op::Equal>(a, b); }
Expr not_equal(Operand a, Operand b) { return binary<op::NotEqual>(a, b); }
Expr less(Operand a, Operand b) { return binary<op::Less>(a, b); }
Expr less_equal(Operand a, Operand b) { return binary<op::LessEqual>(a, b); }
Expr greater(Operand a, Operand b) { return binary<op::Greater>(a, b); }
Expr greater_equal(Operand a, Operand b) { return binary<op::GreaterEqual>(a, b); }

Expr where(Operand condition, Operand a, Operand b) {
  Builder& builder = builder_of(condition);
  return builder.add(op::Where{}, {condition.expr, value_of(builder, a), value_of(builder, b)},
                     condition.location);
}

Expr dot(Operand x, Expr w) { return builder_of(x).product(x.expr, w, false, x.location); }

Expr dot_transposed(Operand x, Expr w) {
  return builder_of(x).product(x.expr, w, true, x.location);
}

Expr batch_matmul(Operand a, Expr b, bool transposed) {
  return builder_of(a).add(op::BatchMatmul{.transposed = transposed}, {a.expr, b}, a.location);
}

Expr outer(Operand a, Operand b) {
  const auto as_matrix = [](const Operand& x, bool is_column) {
    builder_of(x);
    Dims dims = x.expr.type().dims;
    if (dims.empty())
      fail(x, fmt::format("an outer product is of vectors, not {}",
                          x.expr.builder().graph().show(x.expr.type())));
    dims.insert(is_column ? dims.end() : dims.end() - 1, 1);
    return reshape(x, std::move(dims));
  };
  const Expr column = as_matrix(a, true);
  return batch_matmul({column, a.location}, as_matrix(b, false), false);
}

Expr sigmoid(Operand x) { return unary<op::Sigmoid>(x); }
Expr tanh(Operand x) { return unary<op::Tanh>(x); }
Expr relu(Operand x) { return unary<op::Relu>(x); }
Expr swish(Operand x) { return unary<op::Swish>(x); }
Expr gelu(Operand x) { return unary<op::Gelu>(x); }
Expr exp(Operand x) { return unary<op::Exp>(x); }
Expr log(Operand x) { return unary<op::Log>(x); }
Expr sqrt(Operand x) { return unary<op::Sqrt>(x); }
Expr abs(Operand x) { return unary<op::Abs>(x); }
Expr sin(Operand x) { return unary<op::Sin>(x); }
Expr cos(Operand x) { return unary<op::Cos>(x); }
Expr softmax(Operand x) { return unary<op::Softmax>(x); }
Expr log_softmax(Operand x) { return unary<op::LogSoftmax>(x); }

Expr layer_norm(Operand x, Expr gain, Expr bias, double epsilon) {
  std::vector<Expr> operands{x.expr, gain};
  if (bias.valid()) operands.push_back(bias);
  return builder_of(x).add(op::LayerNorm{.epsilon = epsilon}, operands, x.location);
}

Expr rms_norm(Operand x, Expr gain, double epsilon) {
  return builder_of(x).add(op::RmsNorm{.epsilon = epsilon}, {x.expr, gain}, x.location);
}

Expr reduce_sum(Operand x) { return unary<op::ReduceSum>(x); }
Expr reduce_max(Operand x) { return unary<op::ReduceMax>(x); }
Expr reduce_mean(Operand x) { return unary<op::ReduceMean>(x); }

Expr concat(const std::vector<Expr>& parts, CodeLocation at) {
  check(!parts.empty(), "nothing to put side by side", at);
  return parts[0].builder().add(op::Concat{}, parts, at);
}

Expr slice(Operand x, std::int64_t begin, std::int64_t end) {
  return builder_of(x).add(op::Slice{.begin = begin, .end = end}, {x.expr}, x.location);
}

Expr reshape(Operand x, Dims dims) {
  return builder_of(x).add(op::Reshape{.dims = std::move(dims)}, {x.expr}, x.location);
}

Expr expand(Operand x, Dims dims) {
  return builder_of(x).add(op::Expand{.dims = std::move(dims)}, {x.expr}, x.location);
}

Expr permute(Operand x, Dims order) {
  return builder_of(x).add(op::Permute{.order = std::move(order)}, {x.expr}, x.location);
}

Expr cast(Operand x, DType to) {
  return builder_of(x).add(op::Cast{.to = to}, {x.expr}, x.location);
}

Expr select_rows(Operand x, MapPath via, Expr default_row) {
  std::vector<Expr> operands{x.expr};
  if (default_row.valid()) operands.push_back(default_row);
  return builder_of(x).add(op::SelectRows{.via = std::move(via)}, operands, x.location);
}

Expr broadcast(Operand x, DomainId domain) {
  const Graph& graph = builder_of(x).graph();
  const DomainId from = x.expr.type().domain;
  if (from == domain || from == graph.none()) return x.expr;
  if (graph.domain(domain).kind == DomainKind::pairs) {
    const bool is_left = !member_path(graph, domain, MapKind::left, from).empty();
    if (graph.domain(domain).left == from && graph.domain(domain).right == from)
      fail(x, fmt::format("both members of '{}' have rows of {}; choose one with left or right",
                          graph.domain(domain).name, graph.show(x.expr.type())));
    return select_member(x, domain, is_left ? MapKind::left : MapKind::right);
  }
  const auto path = graph.structural_path(domain, from);
  if (!path)
    fail(x, fmt::format("rows of '{}' do not belong to rows of {}", graph.domain(domain).name,
                        graph.show(x.expr.type())));
  return select_rows(x, *path);
}

Expr collect(Operand x) { return unary<op::Collect>(x); }

Expr history(Operand x, DomainId prefix) {
  return builder_of(x).add(op::History{.domain = prefix}, {x.expr}, x.location);
}

Expr mean_rows(Operand x) {
  const MapPath to = map_of_rows(x, MapKind::structural);
  return x.expr.builder().add(op::MeanRows{.to = to}, {x.expr}, x.location);
}

Expr sum_rows(Operand x) { return reduce_rows<op::SumRows>(x); }
Expr max_rows(Operand x) { return reduce_rows<op::MaxRows>(x); }
Expr log_sum_exp_rows(Operand x) { return reduce_rows<op::SegmentLogSumExp>(x); }

Expr left(Operand x, DomainId pairs) { return select_member(x, pairs, MapKind::left); }
Expr right(Operand x, DomainId pairs) { return select_member(x, pairs, MapKind::right); }

Expr softmax_over_right(Operand scores) {
  const MapPath to = map_of_rows(scores, MapKind::left);
  return scores.expr.builder().add(op::SegmentSoftmax{.to = to}, {scores.expr}, scores.location);
}

Expr mix(Operand weights, Expr right_values) {
  const MapPath to = map_of_rows(weights, MapKind::left);
  const MapPath via = map_of_rows(weights, MapKind::right);
  return weights.expr.builder().add(op::MixRows{.to = to, .via = via}, {weights.expr, right_values},
                                    weights.location);
}

Expr joint_attention(const std::vector<AttendedGroup>& groups, CodeLocation at) {
  check(!groups.empty(), "nothing to attend to", at);
  // A group without members has -infinity, and with a finite lower bound no difference is NaN.
  constexpr double kLowest = -1e30;
  std::vector<Operand> logs;
  Operand largest{kLowest, at};
  for (const AttendedGroup& group : groups) {
    logs.emplace_back(log_sum_exp_rows({group.scores, at}), at);
    largest = {max(logs.back(), largest), at};
  }
  std::vector<Operand> shares;
  Operand total{0, at};
  for (const Operand& log : logs) {
    shares.emplace_back(exp({operator-(log, largest), at}), at);
    total = total.expr.valid() ? Operand{operator+(total, shares.back()), at} : shares.back();
  }
  // At least 1, the share of the largest, if any group has a member.
  const Operand divisor{max(total, {1, at}), at};
  Expr sum;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Expr mixed =
        mix({softmax_over_right({groups[i].scores, at}), at}, groups[i].right_values);
    const std::int64_t heads = groups[i].scores.width(), width = mixed.width() / heads;
    const Expr share = operator/(shares[i], divisor);
    const Expr by_head = expand({reshape({share, at}, {heads, 1}), at}, {heads, width});
    const Expr weight = reshape({by_head, at}, {heads * width});
    const Expr part = operator*({weight, at}, {mixed, at});
    sum = sum.valid() ? operator+({sum, at}, {part, at}) : part;
  }
  return sum;
}

Expr head_dot(Operand a, Expr b, std::int64_t heads, double scale) {
  return builder_of(a).add(op::HeadDot{.heads = heads, .scale = scale}, {a.expr, b}, a.location);
}

Expr rotary(Operand x, Expr cos, Expr sin, std::int64_t heads) {
  return builder_of(x).add(op::Rotary{.heads = heads}, {x.expr, cos, sin}, x.location);
}

Expr sinusoid(Operand position, std::int64_t dim) {
  return builder_of(position).add(op::Sinusoid{.dim = dim}, {position.expr}, position.location);
}

}  // namespace fuselage
