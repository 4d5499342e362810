#include "fuselage/backends/plan/refusals.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fuselage/backends/plan/plan.h"
#include "fuselage/base/quantized.h"
#include "fuselage/ops/fused/attention.h"
#include "fuselage/ops/fused/output.h"
#include "fuselage/ops/precision/quantize.h"
#include "fuselage/ops/search/repetition.h"

namespace fuselage {
namespace {

constexpr const char* kOneVector = "it works on one vector a row";
constexpr const char* kOtherWords = "its words are not those of the right members of its pairs";
constexpr const char* kNotStored = "its matrix is not stored";

/// A parameter or an import.
bool is_external(const Graph& graph, ValueId value) {
  return graph.producer(value).has(Trait::external);
}

/// Whether the matrix of a product has one column.
bool has_one_column(const Graph& graph, const Node& product) {
  return graph.value(product.results[0]).type.dims.back() == 1;
}

/// Whether `bias` has one element per column of a matrix with `k` rows, and no row domain.
bool is_bias_of(const Graph& graph, ValueId bias, ValueId matrix, std::int64_t k) {
  const Type& type = graph.value(bias).type;
  return type.domain == graph.none() && row_size(type) == matrix_columns(graph, matrix, k);
}

std::string refuse_quantized_weights(const Node& attention) {
  const Dims quantized = quantized_results(attention);
  const bool mixture_alone =
      std::count(quantized.begin(), quantized.end(), 1) == std::ssize(quantized);
  return mixture_alone ? "" : "of its results it quantizes the mixture alone";
}

std::string refuse_member(const Graph& graph, const Node& node, const MemberOperands& member) {
  const Type& x = graph.value(node.operands[member.x]).type;
  const ValueId w = node.operands[member.w];
  if (x.dims.size() != 1) return kOneVector;
  if (std::string reason = refuse_types(x, graph.value(w).type); !reason.empty()) return reason;
  if (!is_external(graph, w)) return "a matrix is not stored";
  if (member.bias && !is_bias_of(graph, node.operands[*member.bias], w, x.dims[0]))
    return "a bias is not one element a column, the same for all rows";
  return "";
}

}  // namespace

std::string needs_vectors(const Graph& graph, const Node& node) {
  for (const ValueId operand : node.operands)
    if (graph.value(operand).type.dims.size() > 1) return kOneVector;
  return "";
}

std::string needs_vector_input(const Graph& graph, const Node& node) {
  const Type& type = graph.value(node.operands[0]).type;
  return type.dims.size() == 1 && type.dtype == DType::f32 ? "" : kOneVector;
}

std::string needs_words(const Graph& graph, const Node& node) {
  const Type& type = graph.value(node.operands[0]).type;
  if (is_half(type.dtype)) return row_size(type) % 2 == 0 ? "" : "its rows are of an odd size";
  const bool real = type.dtype == DType::f32 || is_quantized(type.dtype);
  return real ? "" : "it works on f32, 16-bit floats or quantized numbers";
}

std::string needs_f32(const Graph& graph, const Node& node) {
  return graph.value(node.operands[0]).type.dtype == DType::f32 ? "" : "it works on f32";
}

std::string refuse_elements(const Graph& graph, const Node& node, std::size_t matrix) {
  if (node.operands.size() > kMaxExpressionOperands || node.results.size() > kMaxExpressionResults)
    return fmt::format("it takes {} operands and gives {} results at most", kMaxExpressionOperands,
                       kMaxExpressionResults);
  const std::size_t own = node.results.size() - quantized_results(node).size();
  for (std::size_t i = 1; i < own; ++i)
    if (graph.value(node.results[i]).type.dims != graph.value(node.results[0]).type.dims)
      return "it gives results of one width";
  if (matrix == node.operands.size()) return "";
  for (std::size_t i = 0; i < node.operands.size(); ++i)
    if (i != matrix && graph.value(node.operands[i]).type.dims.size() > 1) return kOneVector;
  return "";
}

bool is_mixed(const Type& x, const Type& w) {
  return is_quantized(w.dtype) && !is_quantized(x.dtype);
}

std::string refuse_types(const Type& x, const Type& w) {
  const char* reason = "";
  if (is_half(x.dtype))
    reason = "it takes no rows of 16-bit floats";
  else if (is_quantized(x.dtype) && x.dtype != row_type_of(w.dtype))
    reason = "its operands are quantized differently";
  return reason;
}

std::string refuse_types(const Graph& graph, const Node& node) {
  return refuse_types(graph.value(node.operands[0]).type, graph.value(node.operands[1]).type);
}

std::int64_t matrix_columns(const Graph& graph, ValueId matrix, std::int64_t k) {
  const Type& type = graph.value(matrix).type;
  return row_size(type) * std::max<std::int64_t>(graph.domain(type.domain).size, 1) / k;
}

std::string refuse_one_column(const Graph& graph, const Node& node) {
  return has_one_column(graph, node) ? "its matrix has one column" : "";
}

std::string refuse_lookup_product(const Graph& graph, const Node& node) {
  if (std::string reason = refuse_types(graph, node); !reason.empty()) return reason;
  for (std::size_t i = 1; i < node.operands.size(); ++i)
    if (!is_external(graph, node.operands[i])) return "its matrix or its table is not stored";
  return "";
}

std::string refuse_row_dot(const Graph& graph, const Node& node) {
  if (!has_one_column(graph, node)) return "its matrix has several columns";
  if (graph.value(node.operands[1]).type.dtype != DType::f32) return "its matrix is not of floats";
  return needs_vector_input(graph, node);
}

std::string refuse_output_layer(const Graph& graph, const Node& node) {
  if (std::string reason = refuse_types(graph, node); !reason.empty()) return reason;
  const ValueId w = node.operands[1];
  if (!is_external(graph, w)) return kNotStored;
  const Type& x = graph.value(node.operands[0]).type;
  if (node.operands.size() > 2 && !is_bias_of(graph, node.operands[2], w, row_size(x)))
    return "its bias is not one element a column, the same for all rows";
  return x.dims.size() == 1 ? "" : kOneVector;
}

std::string refuse_other_lists(const Graph& graph, const Node& node) {
  const MapPath listed = node.as<op::SegmentPenalizeRepeats>().listed;
  if (listed.size() == 2 && graph.map(listed[0]).kind == MapKind::right) return "";
  return kOtherWords;
}

std::string refuse_shortlist(const Graph& graph, const Node& node) {
  if (std::string reason = refuse_output_layer(graph, node); !reason.empty()) return reason;
  if (is_mixed(graph.value(node.operands[0]).type, graph.value(node.operands[1]).type))
    return "its matrix is quantized, but not its rows";
  const auto words = node.as<op::ShortlistWords>().words;
  if (words.size() != 2 || graph.map(words[0]).kind != MapKind::right) return kOtherWords;
  const Domain& list = graph.domain(graph.map(words[0]).to);
  return list.kind == DomainKind::shortlist ? "" : "its words are not one list a sentence";
}

std::string refuse_ensemble(const Graph& graph, const Node& node, std::size_t most) {
  const std::vector<MemberOperands> members = ensemble_members(node.as<op::EnsembleKBest>());
  if (members.size() > most) return fmt::format("it takes {} members at most", most);
  for (const MemberOperands& member : members)
    if (std::string reason = refuse_member(graph, node, member); !reason.empty()) return reason;
  return "";
}

std::string refuse_quantize(const Graph&, const Node& node) {
  const Quantizer quantizer = quantizer_of(node);
  if (quantizer.largest_sum > 0) return "it bounds no sums";
  return quantizer.to == DType::qlog4 ? "it fits no scales" : "";
}

std::string refuse_additive_attention(const Graph& graph, const Node& node) {
  if (!is_stored(graph, graph.producer(node.operands[2]))) return "its vector v is not stored";
  return refuse_quantized_weights(node);
}

std::string refuse_dot_attention(const Graph& graph, const Node& node) {
  for (const ValueId operand : node.operands)
    if (graph.value(operand).type.dtype != DType::f32) return "it reads f32";
  return refuse_quantized_weights(node);
}

std::string refuse_rounded_attention(const Graph& graph, const Node& node) {
  constexpr std::size_t kKeys = 1, kValues = 2;
  const auto type = [&](std::size_t i) { return graph.value(node.operands[i]).type.dtype; };
  if (!is_half(type(kKeys)) || type(kKeys) != type(kValues))
    return "it reads keys and values of one type of 16-bit floats";
  for (std::size_t i = 0; i < node.operands.size(); ++i)
    if (i != kKeys && i != kValues && type(i) != DType::f32) return "its other operands are f32";
  return refuse_quantized_weights(node);
}

std::string refuse_quantized_attention(const Graph& graph, const Node& node) {
  constexpr std::array kTypes{DType::qint16, DType::qint8, DType::qint8};
  const std::int64_t heads = node.as<op::Heads>().heads;
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    const Type& type = graph.value(node.operands[i]).type;
    if (type.dtype != kTypes.at(i) || row_size(type) != heads * type.dims.back())
      return "it reads queries of qint16 and keys and values of qint8, a vector for each head";
  }
  if (graph.value(node.operands[0]).type.dims.back() > kMaxInt16Int8Products)
    return "a sum of its products may not fit 32 bits";
  return refuse_quantized_weights(node);
}

}  // namespace fuselage
