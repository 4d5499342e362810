// Products of looked-up rows, with a precomputed table for the most frequent vocabulary entries
// (Devlin 2017, section 4.2, for vocabularies too large for a complete table).

#include "fuselage/ops/fused/frequent_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fuselage/ops/arithmetic/matmul.h"
#include "fuselage/ops/decompose.h"
#include "fuselage/ops/evaluate.h"
#include "fuselage/ops/infer.h"
#include "fuselage/ops/structure/rows.h"

namespace fuselage {
namespace {

/// Throws if operand i exists and is not one i32 per row of operand 0.
void expect_ranks(const InferContext& in, std::size_t i) {
  if (in.operand_count() <= i) return;
  const Type& rank = in.operand(i);
  if (rank.dtype != DType::i32 || rank.domain != in.operand(0).domain || row_size(rank) != 1)
    in.fail(fmt::format("its ranks must be {}, not {}",
                        in.show({DType::i32, in.operand(0).domain, {}}), in.show(rank)));
}

/// Throws unless operand 0 has a vocabulary domain; returns its number of entries.
std::int64_t expect_vocabulary(const InferContext& in) {
  const Domain& domain = in.graph().domain(in.operand(0).domain);
  if (domain.kind != DomainKind::vocabulary)
    in.fail(fmt::format("operand 0 must have a row per vocabulary entry, not {}",
                        in.show(in.operand(0))));
  return domain.size;
}

// --- leading_rows ---

std::vector<Type> infer_leading_rows(const InferContext& in) {
  expect_real(in, 0);
  expect_ranks(in, 1);
  const std::int64_t size = expect_vocabulary(in);
  const auto count = in.as<op::LeadingRows>().count;
  if (count < 1 || count > size)
    in.fail(fmt::format("there are no {} leading rows of {}", count, size));
  Type type = in.operand(0);
  type.domain = in.none();
  type.dims.insert(type.dims.begin(), count);
  return {type};
}

template <typename T>
void evaluate_leading_rows(EvalContext<T>& context) {
  const auto count = context.node.template as<op::LeadingRows>().count;
  const Array<T>& x = *context.operands[0];
  T* out = context.results[0].data.data();
  for (std::int64_t r = 0; r < x.rows; ++r) {
    const T rank = context.operands.size() > 1 ? *context.operands[1]->row(r) : static_cast<T>(r);
    if (rank >= 0 && rank < static_cast<T>(count))
      std::copy_n(x.row(r), x.cols, out + static_cast<std::int64_t>(rank) * x.cols);
  }
}

// --- lookup_matmul ---

std::vector<ValueId> decompose_lookup_matmul(Decomposition& in) {
  const auto [transposed, via] = in.as<op::LookupMatmul>();
  const ValueId x = in.add(op::SelectRows{.via = via}, {in.operands()[0]});
  return {in.add(op::Matmul{.transposed = transposed}, {x, in.operands()[1]})};
}

std::vector<Type> infer_lookup_matmul(const InferContext& in) {
  expect_ranks(in, 3);
  const std::int64_t size = expect_vocabulary(in);
  std::vector<Type> types = infer_decomposed(in);
  const Type& table = in.operand(2);
  if (types[0].dims.size() != 1 || table.domain != in.none() || table.dtype != DType::f32 ||
      table.dims.size() != 2 || table.dims[0] > size || table.dims[1] != types[0].dims[0])
    in.fail(fmt::format("its table must have rows of the product {}, not be {}", in.show(types[0]),
                        in.show(table)));
  return types;
}

/// Counts only the rows that the table lacks.
Cost cost_lookup_matmul(const InferContext& in) {
  Cost cost = cost_decomposed(in);
  cost.flop *=
      1 - expected_hit_rate(in.operand(2).dims[0], in.graph().domain(in.operand(0).domain).size);
  return cost;
}

}  // namespace

double expected_hit_rate(std::int64_t count, std::int64_t size) {
  if (count >= size) return 1;
  // The n-th harmonic number, to four digits.
  const auto harmonic = [](std::int64_t n) {
    constexpr double kEuler = 0.57721566490153286;
    const auto x = static_cast<double>(n);
    return n < 1 ? 0 : std::log(x) + kEuler + 1 / (2 * x) - 1 / (12 * x * x);
  };
  return harmonic(count) / harmonic(size);
}

std::span<const OpDef> frequent_row_ops() {
  static const OpDef ops[] = {
      define<op::LeadingRows>({.summary = "The first `count` rows of x as a matrix, in order of "
                                          "rank, by default of vocabulary id.",
                               .operands = {{"x"}, {"rank", OperandSpec::Arity::optional}},
                               .infer = infer_leading_rows,
                               .evaluate_f32 = evaluate_leading_rows<float>,
                               .evaluate_f64 = evaluate_leading_rows<double>}),
      define<op::LookupMatmul>(
          {.summary = "select_rows(x, via) W, or select_rows(x, via) Wᵀ if transposed; `table` has "
                      "the products of the leading rows of x, in order of rank or id.",
           .operands = {{.name = "x", .through = "via"},
                        {"w"},
                        {"table"},
                        {"rank", OperandSpec::Arity::optional}},
           .infer = infer_lookup_matmul,
           .cost = cost_lookup_matmul,
           .evaluate_f32 = evaluate_decomposed,
           .evaluate_f64 = evaluate_decomposed,
           .decompose = decompose_lookup_matmul}),
  };
  return ops;
}

}  // namespace fuselage
