#include "passes/cleanup/simplify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/ops/structure/leaf.h"
#include "fuselage/ops/structure/rows.h"
#include "fuselage/ops/structure/shape.h"

namespace fuselage {
namespace {

constexpr Capture kC{"c"}, kX{"x"}, kInner{"inner"}, kParts{"parts"}, kOnce{"once"},
    kDefault{"default"};

using Build = std::function<void(Rewriter&, const Match&)>;

/// A builder that replaces the root by a captured value.
Build keep(Capture capture) {
  return [capture](Rewriter& rewriter, const Match& match) {
    rewriter.replace(match.result(), match[capture]);
  };
}

// --- Order of operands ---

/// From right to left: constants, values without rows, other values.
int operand_rank(const Graph& graph, ValueId value) {
  if (graph.value(value).type.domain != graph.none()) return 0;
  return is_constant(graph.producer(value)) ? 2 : 1;
}

bool out_of_order(const Graph& graph, const Node& node) {
  return node.has(Trait::commutative) &&
         operand_rank(graph, node.operands[0]) > operand_rank(graph, node.operands[1]);
}

/// If both operands have one element per row, the result has the dimensions of the first.
std::optional<std::string> exchange_changes_dims(const Match& match) {
  const Graph& graph = match.graph();
  const Type& right = graph.value(match.root_node().operands[1]).type;
  const Dims& dims = match.result_type().dims;
  if (right.dims == dims || row_size(right) != row_size(match.result_type())) return std::nullopt;
  return fmt::format("the result would be {} instead of {}",
                     graph.show({DType::f32, match.result_type().domain, right.dims}),
                     graph.show(match.result_type()));
}

void exchange_operands(Rewriter& rewriter, const Match& match) {
  const ValueId left = match.root_node().operands[0];
  const ValueId right = match.root_node().operands[1];
  rewriter.set_operand({match.root(), 0}, right);
  rewriter.set_operand({match.root(), 1}, left);
}

// --- Arithmetic ---

std::optional<std::string> reciprocal_is_rounded(const Match& match) {
  for (const double value : match.node(kC).as<op::Constant>().values) {
    const auto divisor = static_cast<float>(value);
    int exponent = 0;
    if (std::abs(std::frexp(divisor, &exponent)) != 0.5f || !std::isnormal(divisor) ||
        !std::isnormal(1 / divisor))
      return fmt::format("1 / {} would be rounded", value);
  }
  return std::nullopt;
}

void multiply_by_reciprocal(Rewriter& rewriter, const Match& match) {
  std::vector<double> values = match.node(kC).as<op::Constant>().values;
  for (double& value : values) value = 1 / static_cast<float>(value);
  const ValueId factor =
      rewriter.add(op::Constant{.values = values, .dims = match.node(kC).as<op::Constant>().dims});
  rewriter.replace(match.result(), rewriter.add(op::Mul{}, {match[kX], factor}));
}

// --- Parts of rows ---

std::int64_t begin_of(const Node& slice) { return slice.as<op::Range>().begin; }
std::int64_t end_of(const Node& slice) { return slice.as<op::Range>().end; }

bool has_all(const Graph& graph, const Node& slice) {
  return graph.value(slice.results[0]).type == graph.value(slice.operands[0]).type;
}

void cut(Rewriter& rewriter, const Match& match, ValueId x, std::int64_t offset) {
  const Node& slice = match.root_node();
  rewriter.replace(match.result(), rewriter.add(op::Slice{.begin = begin_of(slice) + offset,
                                                          .end = end_of(slice) + offset},
                                                {x}));
}

void slice_of_slice(Rewriter& rewriter, const Match& match) {
  cut(rewriter, match, match[kX], begin_of(match.node(kInner)));
}

struct Part {
  ValueId value;
  std::int64_t offset = 0;
};

/// The operand of a concatenation in which a slice of it begins.
Part part_of(const Match& match) {
  std::int64_t offset = 0;
  for (const ValueId part : match.node(kParts).operands) {
    const std::int64_t width = match.graph().value(part).type.dims.back();
    if (begin_of(match.root_node()) < offset + width) return {part, offset};
    offset += width;
  }
  return {};
}

std::optional<std::string> crosses_parts(const Match& match) {
  const Part part = part_of(match);
  const std::int64_t end = part.offset + match.graph().value(part.value).type.dims.back();
  if (end_of(match.root_node()) <= end) return std::nullopt;
  return fmt::format("elements {} to {} go beyond the part that ends at {}",
                     begin_of(match.root_node()), end_of(match.root_node()), end);
}

void slice_of_concat(Rewriter& rewriter, const Match& match) {
  const Part part = part_of(match);
  cut(rewriter, match, part.value, -part.offset);
}

void flatten_concat(Rewriter& rewriter, const Match& match) {
  std::vector<ValueId> parts;
  for (const ValueId part : match.root_node().operands) {
    if (part == match[kInner])
      parts.insert(parts.end(), match.node(kInner).operands.begin(),
                   match.node(kInner).operands.end());
    else
      parts.push_back(part);
  }
  rewriter.replace(match.result(), rewriter.add(op::Concat{}, std::move(parts)));
}

bool is_slice(const Node& node) { return node.is<op::Slice>(); }

/// Whether the second of two slices of one value begins at the end of the first.
bool adjacent(const Graph& graph, ValueId first, ValueId second) {
  const Node& a = graph.producer(first);
  const Node& b = graph.producer(second);
  return is_slice(a) && is_slice(b) && a.operands == b.operands && end_of(a) == begin_of(b);
}

bool has_adjacent_slices(const Graph& graph, const Node& concat) {
  return std::adjacent_find(concat.operands.begin(), concat.operands.end(),
                            [&graph](ValueId first, ValueId second) {
                              return adjacent(graph, first, second);
                            }) != concat.operands.end();
}

void join_slices(Rewriter& rewriter, const Match& match) {
  const Graph& graph = match.graph();
  const std::vector<ValueId> parts = match.root_node().operands;
  std::vector<ValueId> joined;
  for (std::size_t i = 0; i < parts.size();) {
    std::size_t last = i;
    while (last + 1 < parts.size() && adjacent(graph, parts[last], parts[last + 1])) ++last;
    if (last == i) {
      joined.push_back(parts[i]);
    } else {
      const ValueId x = graph.producer(parts[i]).operands[0];
      const std::int64_t begin = begin_of(graph.producer(parts[i]));
      const std::int64_t end = end_of(graph.producer(parts[last]));
      joined.push_back(rewriter.add(op::Slice{.begin = begin, .end = end}, {x}));
    }
    i = last + 1;
  }
  rewriter.replace(match.result(), rewriter.add(op::Concat{}, std::move(joined)));
}

// --- Selections of rows ---

bool leads_everywhere(const Graph& graph, const Node& select) {
  const MapPath via = select.as<op::Via>().via;
  return std::none_of(via.begin(), via.end(), [&](MapId id) { return graph.map(id).partial; });
}

// The outer path is total, so default rows come only from the inner selection.
void select_of_select(Rewriter& rewriter, const Match& match) {
  const Node& inner = match.node(kInner);
  MapPath via = match.root_node().as<op::Via>().via;
  const MapPath further = inner.as<op::Via>().via;
  via.insert(via.end(), further.begin(), further.end());
  std::vector<ValueId> operands = inner.operands;
  rewriter.replace(match.result(),
                   rewriter.add(op::SelectRows{.via = std::move(via)}, std::move(operands)));
}

void drop_default(Rewriter& rewriter, const Match& match) {
  rewriter.replace(
      match.result(),
      rewriter.add(op::SelectRows{.via = match.root_node().as<op::Via>().via}, {match[kX]}));
}

const Numerics kSignOfZero{NumericClass::reassociates, 0, "-0 + 0 is 0"};

std::vector<Rule> rules() {
  using match::any, match::constant, match::node, match::number, match::op;
  return {
      // One order of operands.
      {.name = "order_operands",
       .pattern = node(out_of_order),
       .guards = {{"same_dims", exchange_changes_dims}},
       .build = exchange_operands},

      // Arithmetic identities.
      {.name = "multiply_by_one",
       .pattern = op<op::Mul>({any(kX), number(1)}),
       .guards = {same_type(kX)},
       .build = keep(kX)},
      {.name = "divide_by_one",
       .pattern = op<op::Div>({any(kX), number(1)}),
       .guards = {same_type(kX)},
       .build = keep(kX)},
      {.name = "subtract_zero",
       .pattern = op<op::Sub>({any(kX), number(0)}),
       .guards = {same_type(kX)},
       .build = keep(kX)},
      {.name = "add_negative_zero",
       .pattern = op<op::Add>({any(kX), number(-0.0)}),
       .guards = {same_type(kX)},
       .build = keep(kX)},
      {.name = "add_zero",
       .pattern = op<op::Add>({any(kX), number(0)}),
       .guards = {same_type(kX)},
       .numerics = kSignOfZero,
       .build = keep(kX)},
      {.name = "negate_twice",
       .pattern = op<op::Neg>({op<op::Neg>({any(kX)}).shared()}),
       .build = keep(kX)},
      {.name = "relu_twice",
       .pattern = op<op::Relu>({op<op::Relu>().named(kOnce).shared()}),
       .build = keep(kOnce)},
      {.name = "absolute_twice",
       .pattern = op<op::Abs>({op<op::Abs>().named(kOnce).shared()}),
       .build = keep(kOnce)},
      {.name = "extreme_of_itself",
       .pattern = op<op::Max, op::Min>({any(kX), any(kX)}),
       .build = keep(kX)},
      {.name = "absolute_of_negated",
       .pattern = op<op::Abs>({op<op::Neg>({any(kX)}).shared()}),
       .build =
           [](Rewriter& rewriter, const Match& match) {
             rewriter.replace(match.result(), rewriter.add(op::Abs{}, {match[kX]}));
           }},
      // A product can be merged with others; a quotient cannot.
      {.name = "divide_by_power_of_two",
       .pattern = op<op::Div>({any(kX), constant(kC)}),
       .guards = {{"exact_reciprocal", reciprocal_is_rounded}},
       .build = multiply_by_reciprocal},

      // Parts of rows.
      {.name = "concat_of_one", .pattern = op<op::Concat>({any(kX)}), .build = keep(kX)},
      {.name = "flatten_concat",
       .pattern = op<op::Concat>().having(op<op::Concat>().named(kInner)),
       .build = flatten_concat},
      {.name = "concat_of_adjacent_slices",
       .pattern = op<op::Concat>().where(has_adjacent_slices),
       .build = join_slices},
      {.name = "slice_of_all",
       .pattern = op<op::Slice>({any(kX)}).where(has_all),
       .build = keep(kX)},
      {.name = "slice_of_slice",
       .pattern = op<op::Slice>({op<op::Slice>({any(kX)}).named(kInner).shared()}),
       .build = slice_of_slice},
      {.name = "slice_of_concat",
       .pattern = op<op::Slice>({op<op::Concat>().named(kParts).shared()}),
       .guards = {{"one_part", crosses_parts}},
       .build = slice_of_concat},

      // Selections of rows.
      {.name = "select_of_select",
       .pattern = op<op::SelectRows>({op<op::SelectRows>().named(kInner).shared()})
                      .variadic()
                      .where(leads_everywhere),
       .build = select_of_select},
      {.name = "drop_unused_default",
       .pattern = op<op::SelectRows>({any(kX), any(kDefault)}).where(leads_everywhere),
       .build = drop_default},
      {.name = "drop_zero_default",
       .pattern = op<op::SelectRows>({any(kX), number(0)}),
       .build = drop_default},
  };
}

}  // namespace

Pass simplify() { return {.name = "simplify", .rules = rules()}; }

}  // namespace fuselage
