#include "fuselage/passes/precision/quantize.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/numbers/logarithmic.h"
#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"
#include "fuselage/ops/arithmetic/matmul.h"
#include "fuselage/ops/precision/quantize.h"
#include "passes/rewrite/stored_type.h"

namespace fuselage {
namespace {

constexpr Capture kProduct{"product"}, kW{"w"}, kRows{"x"}, kStored{"stored"};

Quantizer for_columns(DType to) {
  if (to == DType::qint16)
    return {.to = to, .largest = 32767, .largest_sum = kLargestSumOfInt16Columns};
  if (to == DType::qlog4) return {.to = to, .largest = 1 << kTopExponent};
  return {.to = to};
}

/// The quantizer of rows that are multiplied with columns of a type.
Quantizer for_rows(DType columns, Precision precision) {
  if (columns == DType::qint16) return {.to = columns, .largest = kLargestOfInt16Rows};
  if (columns == DType::qlog4 && precision == Precision::int4_log)
    return {.largest = 1 << kTopRowExponent, .logarithmic = true};
  return {};
}

ValueId add_quantize(Rewriter& rewriter, ValueId x, const Quantizer& quantizer) {
  return rewriter.add(op::Quantize{quantization_of(quantizer)}, {x});
}

// --- Guards ---

std::optional<std::string> scales_of_rows(const Match& match) {
  const Graph& graph = match.graph();
  if (match.root_node().as<op::Matmul>().transposed || match.type(kW).domain == graph.none())
    return std::nullopt;
  return fmt::format("{} has its scales along the wrong dimension", graph.show(match.type(kW)));
}

// --- Rules ---

Pattern product(bool (*fits)(const Type& x, const Type& w)) {
  return match::op<op::Matmul>({match::any(kRows), match::any(kW)})
      .named(kProduct)
      .where([fits](const Graph& graph, const Node& node) {
        return fits(graph.value(node.operands[0]).type, graph.value(node.operands[1]).type);
      });
}

bool both_f32(const Type& x, const Type& w) {
  return x.dtype == DType::f32 && w.dtype == DType::f32;
}

bool stored_in_integers(const Type& x, const Type& w) {
  return x.dtype == DType::f32 && is_quantized(w.dtype);
}

/// The columns of a product's matrix, as rows (transposed if necessary).
ValueId columns_of(Rewriter& rewriter, const Match& match) {
  const ValueId w = match[kW];
  if (match.root_node().as<op::Matmul>().transposed) return w;
  const Node& producer = match.graph().producer(w);
  return producer.is<op::Transpose>() ? producer.operands[0] : rewriter.add(op::Transpose{}, {w});
}

void make_integer_product(Rewriter& rewriter, const Match& match, Precision precision) {
  const Quantizer quantizer = weight_quantizer(precision);
  const ValueId w = columns_of(rewriter, match);
  const ValueId rows = add_quantize(rewriter, match[kRows], for_rows(quantizer.to, precision));
  const ValueId columns = add_quantize(rewriter, w, quantizer);
  rewriter.replace(match.result(), rewriter.add(op::Matmul{.transposed = true}, {rows, columns}));
}

Rule integer_products(Precision precision) {
  const auto build = [precision](Rewriter& rewriter, const Match& match) {
    make_integer_product(rewriter, match, precision);
  };
  return {.name = "integer_products",
          .pattern = product(both_f32),
          .guards = {several_columns(kProduct, "too little to save on"),
                     {"scales_of_rows", scales_of_rows}},
          .numerics = {NumericClass::quantizes, 0, "translations of the same BLEU"},
          .build = build};
}

Rule stored_integers(Precision precision) {
  const auto build = [precision](Rewriter& rewriter, const Match& match) {
    const ValueId rows =
        add_quantize(rewriter, match[kRows], for_rows(match.type(kW).dtype, precision));
    rewriter.replace(match.result(),
                     rewriter.add(op::Matmul{.transposed = true}, {rows, match[kW]}));
  };
  return {.name = "stored_integers",
          .pattern = product(stored_in_integers),
          .guards = {several_columns(kProduct, "too little to save on")},
          .numerics = {NumericClass::quantizes, 0, "translations of the same BLEU"},
          .build = build};
}

/// The matrix type of precisions bf16 and fp16; nullopt for others.
std::optional<DType> half_type(Precision precision) {
  if (precision == Precision::bf16) return DType::bf16;
  return precision == Precision::fp16 ? std::optional(DType::f16) : std::nullopt;
}

void make_half_product(Rewriter& rewriter, const Match& match, DType to) {
  const ValueId w = rewriter.add(op::Cast{.to = to}, {match[kW]});
  const bool transposed = match.root_node().as<op::Matmul>().transposed;
  rewriter.replace(match.result(),
                   rewriter.add(op::Matmul{.transposed = transposed}, {match[kRows], w}));
}

Rule half_products(DType to) {
  const auto build = [to](Rewriter& rewriter, const Match& match) {
    make_half_product(rewriter, match, to);
  };
  return {.name = to == DType::bf16 ? "bf16_products" : "fp16_products",
          .pattern = product(both_f32),
          .guards = {several_columns(kProduct, "too little to save on")},
          .numerics = {NumericClass::quantizes, 0, "translations of the same BLEU"},
          .build = build};
}

/// The precision of products with matrices of a stored type.
Precision precision_of(DType stored) {
  if (stored == DType::bf16) return Precision::bf16;
  if (stored == DType::f16) return Precision::fp16;
  if (stored == DType::qint16) return Precision::int16;
  return stored == DType::qlog4 ? Precision::int4 : Precision::int8;
}

/// The product in the type in which its matrix is stored.
Rule stored_products(const EnumSet<Precision>& products) {
  const auto not_stored = [products](const Match& match) -> std::optional<std::string> {
    const auto stored = stored_type(match.graph(), match[kW]);
    if (!stored) return "its matrix is not stored in one type of fewer bits than f32";
    if (products.contains(precision_of(*stored))) return std::nullopt;
    return fmt::format("its matrix is stored as {}, and the back-end has no products in {}",
                       to_string(*stored), to_string(precision_of(*stored)));
  };
  const auto build = [](Rewriter& rewriter, const Match& match) {
    const DType stored = *stored_type(match.graph(), match[kW]);
    if (is_half(stored)) return make_half_product(rewriter, match, stored);
    make_integer_product(rewriter, match, precision_of(stored));
  };
  return {.name = "stored_products",
          .pattern = product(both_f32),
          .guards = {several_columns(kProduct, "too little to save on"),
                     {"scales_of_rows", scales_of_rows},
                     {"stored_type", not_stored}},
          .numerics = {NumericClass::quantizes, 0, "translations of the same BLEU"},
          .build = build};
}

// --- Numbers that are there already ---

std::optional<std::string> other_type(const Match& match) {
  if (match.result_type() == match.type(kStored)) return std::nullopt;
  return fmt::format("{} is stored, not {}", match.graph().show(match.type(kStored)),
                     match.graph().show(match.result_type()));
}

/// Refuses quantizers with a smaller bound: stored integers may use the full range of their type.
std::optional<std::string> smaller_integers(const Match& match) {
  const auto largest = match.root_node().as<op::Quantization>().largest;
  if (largest == for_columns(match.result_type().dtype).largest) return std::nullopt;
  return fmt::format("integers up to {} are asked for", largest);
}

std::optional<std::string> other_scale(const Match& match) {
  const double scale = match.root_node().as<op::Quantization>().given_scale;
  if (scale == 0) return std::nullopt;
  return fmt::format("a scale of {} is asked for", scale);
}

Rule stored_vectors() {
  const auto build = [](Rewriter& rewriter, const Match& match) {
    rewriter.replace(match.result(), match[kStored]);
  };
  return {.name = "stored_vectors",
          .pattern =
              match::op<op::Quantize>({match::op<op::Dequantize>({match::any(kStored)}).shared()}),
          .guards = {{"stored_type", other_type},
                     {"any_integer", smaller_integers},
                     {"own_scale", other_scale}},
          .numerics = {NumericClass::quantizes, 0, "the numbers that are stored, not nearer ones"},
          .build = build};
}

/// Conversion of 16-bit floats to f32 and back is the identity.
Rule stored_halves(DType to) {
  const auto casts_to = [](DType dtype) {
    return [dtype](const Graph&, const Node& node) { return node.as<op::Cast>().to == dtype; };
  };
  const auto build = [](Rewriter& rewriter, const Match& match) {
    rewriter.replace(match.result(), match[kStored]);
  };
  return {.name = to == DType::bf16 ? "stored_bf16" : "stored_fp16",
          .pattern =
              match::op<op::Cast>(
                  {match::op<op::Cast>({match::any(kStored)}).where(casts_to(DType::f32)).shared()})
                  .where(casts_to(to)),
          .guards = {{"stored_type", other_type}},
          .build = build};
}

}  // namespace

Quantizer weight_quantizer(Precision precision) {
  check(!half_type(precision) && precision != Precision::stored,
        "quantize: a precision of integers");
  if (precision == Precision::int16) return for_columns(DType::qint16);
  const bool narrow = precision == Precision::int4 || precision == Precision::int4_log;
  return for_columns(narrow ? DType::qlog4 : DType::qint8);
}

Pass quantize(Precision precision, const EnumSet<Precision>& products) {
  if (precision == Precision::fp32)
    return {.name = "quantize", .run = [](Rewriter&) { return false; }};
  if (precision == Precision::stored)
    return {.name = "quantize",
            .rules = {stored_products(products), stored_integers(precision), stored_vectors(),
                      stored_halves(DType::bf16), stored_halves(DType::f16)}};
  if (const auto to = half_type(precision))
    return {.name = "quantize",
            .rules = {half_products(*to), stored_integers(precision), stored_halves(*to)}};
  return {.name = "quantize",
          .rules = {integer_products(precision), stored_integers(precision), stored_vectors()}};
}

}  // namespace fuselage
