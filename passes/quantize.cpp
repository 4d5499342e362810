#include "passes/quantize.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/quantized.h"
#include "base/suggest.h"

namespace fuselage {
namespace {

constexpr std::array<std::pair<Precision, std::string_view>, 3> kNames{
    {{Precision::fp32, "fp32"}, {Precision::int16, "int16"}, {Precision::int8, "int8"}}};

DType type_of(Precision precision) {
  return precision == Precision::int16 ? DType::qint16 : DType::qint8;
}

Quantizer for_rows(DType to) {
  if (to == DType::qint16) return {.to = to, .largest = kLargestOfInt16Rows};
  return {.to = to};
}

Quantizer for_columns(DType to) {
  if (to == DType::qint16)
    return {.to = to, .largest = 32767, .largest_sum = kLargestSumOfInt16Columns};
  return {.to = to};
}

ValueId add_quantize(Rewriter& rewriter, ValueId x, const Quantizer& quantizer) {
  return rewriter.add("quantize", {x},
                      {{"to", quantizer.to},
                       {"largest", std::int64_t{quantizer.largest}},
                       {"largest_sum", quantizer.largest_sum}});
}

// --- Guards ---

std::optional<std::string> one_column(const Match& match) {
  if (match.result_type().dims.back() > 1) return std::nullopt;
  return "its matrix has one column, which the rows' quantization would cost more than";
}

std::optional<std::string> scales_of_rows(const Match& match) {
  const Graph& graph = match.graph();
  if (match.root_node().attr<bool>("transposed") || match.type("w").domain == graph.none())
    return std::nullopt;
  return fmt::format("{} has its scales along the wrong dimension", graph.show(match.type("w")));
}

// --- Rules ---

Pattern product(bool (*fits)(const Type& x, const Type& w)) {
  return match::op("matmul", {match::any("x"), match::any("w")})
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

/// The columns of a product's matrix, as rows.
ValueId columns_of(Rewriter& rewriter, const Match& match) {
  const ValueId w = match["w"];
  if (match.root_node().attr<bool>("transposed")) return w;
  const Node& producer = match.graph().producer(w);
  return producer.op->name == "transpose" ? producer.operands[0] : rewriter.add("transpose", {w});
}

Rule integer_products(DType to) {
  const auto build = [to](Rewriter& rewriter, const Match& match) {
    const ValueId w = columns_of(rewriter, match);
    const ValueId rows = add_quantize(rewriter, match["x"], for_rows(to));
    const ValueId columns = add_quantize(rewriter, w, for_columns(to));
    rewriter.replace(match.result(),
                     rewriter.add("matmul", {rows, columns}, {{"transposed", true}}));
  };
  return {.name = "integer_products",
          .pattern = product(both_f32),
          .guards = {{"one_column", one_column}, {"scales_of_rows", scales_of_rows}},
          .numerics = {NumericClass::quantizes, 0, "translations of the same BLEU"},
          .build = build};
}

Rule stored_integers() {
  const auto build = [](Rewriter& rewriter, const Match& match) {
    const ValueId rows = add_quantize(rewriter, match["x"], for_rows(match.type("w").dtype));
    rewriter.replace(match.result(),
                     rewriter.add("matmul", {rows, match["w"]}, {{"transposed", true}}));
  };
  return {.name = "stored_integers",
          .pattern = product(stored_in_integers),
          .guards = {{"one_column", one_column}},
          .numerics = {NumericClass::quantizes, 0, "translations of the same BLEU"},
          .build = build};
}

// --- Integers that are there already ---

std::optional<std::string> other_type(const Match& match) {
  if (match.result_type() == match.type("stored")) return std::nullopt;
  return fmt::format("{} is stored, not {}", match.graph().show(match.type("stored")),
                     match.graph().show(match.result_type()));
}

/// Those that are stored may be any of their type.
std::optional<std::string> smaller_integers(const Match& match) {
  const auto largest = match.root_node().attr<std::int64_t>("largest");
  if (largest == for_columns(match.result_type().dtype).largest) return std::nullopt;
  return fmt::format("integers up to {} are asked for", largest);
}

Rule stored_vectors() {
  const auto build = [](Rewriter& rewriter, const Match& match) {
    rewriter.replace(match.result(), match["stored"]);
  };
  return {
      .name = "stored_vectors",
      .pattern = match::op("quantize", {match::op("dequantize", {match::any("stored")}).shared()}),
      .guards = {{"stored_type", other_type}, {"any_integer", smaller_integers}},
      .numerics = {NumericClass::quantizes, 0, "the numbers that are stored, not nearer ones"},
      .build = build};
}

}  // namespace

std::string_view to_string(Precision precision) {
  return kNames[static_cast<std::size_t>(precision)].second;
}

Precision precision_from_string(std::string_view name) {
  std::vector<std::string_view> known;
  for (const auto& [precision, known_name] : kNames) {
    if (known_name == name) return precision;
    known.push_back(known_name);
  }
  throw Error("there is no precision {}; it can be {}", in_quotes(name), fmt::join(known, ", "));
}

Quantizer weight_quantizer(Precision precision) { return for_columns(type_of(precision)); }

Pass quantize(Precision precision) {
  const DType to = type_of(precision);
  return {.name = "quantize", .rules = {integer_products(to), stored_integers(), stored_vectors()}};
}

}  // namespace fuselage
