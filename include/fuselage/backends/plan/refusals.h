#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "fuselage/base/api.h"
#include "fuselage/graph/graph.h"

namespace FUSELAGE_API fuselage {

// Conditions of kernels shared by several back-ends. Each function returns the reason why a node
// violates the condition, or "".

/// All operands have one vector or one number per row.
std::string needs_vectors(const Graph& graph, const Node& node);
/// The first operand has one f32 vector per row.
std::string needs_vector_input(const Graph& graph, const Node& node);
/// The rows of the first operand are words of 4 bytes: f32, quantized, or an even number of 16-bit
/// floats.
std::string needs_words(const Graph& graph, const Node& node);
/// The first operand is f32.
std::string needs_f32(const Graph& graph, const Node& node);

/// Maximum number of operands and of results of an expression.
inline constexpr std::size_t kMaxExpressionOperands = 64;
inline constexpr std::size_t kMaxExpressionResults = 16;

/// An expression reads and writes rows of one width; an operand may have one element that is
/// broadcast. All operands of the node except operand `matrix` are operands of the expression.
std::string refuse_elements(const Graph& graph, const Node& node, std::size_t matrix);

/// Whether a product's matrix is quantized and its rows are not.
bool is_mixed(const Type& x, const Type& w);

/// Supported types of a product's operands.
std::string refuse_types(const Type& x, const Type& w);
/// The same for a node's first two operands.
std::string refuse_types(const Graph& graph, const Node& node);

/// Number of columns of a matrix operand with `k` rows; a vocabulary value counts as a matrix.
std::int64_t matrix_columns(const Graph& graph, ValueId matrix, std::int64_t k);

/// Refuses a matrix of one column, for kernels that would pad it.
std::string refuse_one_column(const Graph& graph, const Node& node);

/// A product of looked-up rows with stored matrix, table and ranks.
std::string refuse_lookup_product(const Graph& graph, const Node& node);

/// A matrix of one column: one dot product per row.
std::string refuse_row_dot(const Graph& graph, const Node& node);

/// Product and bias of an output layer: vectors, and a stored matrix.
std::string refuse_output_layer(const Graph& graph, const Node& node);

/// The same for a shortlist per sentence.
std::string refuse_shortlist(const Graph& graph, const Node& node);

/// Refuses segment_penalize_repeats unless its words are those of the right members of its pairs.
std::string refuse_other_lists(const Graph& graph, const Node& node);

/// The output layers of at most `most` models.
std::string refuse_ensemble(const Graph& graph, const Node& node, std::size_t most);

/// Quantization without a bound on sums and without fitted scales.
std::string refuse_quantize(const Graph& graph, const Node& node);

/// Attention with operands of type f32; of its results only the mixture may be quantized.
std::string refuse_additive_attention(const Graph& graph, const Node& node);
std::string refuse_dot_attention(const Graph& graph, const Node& node);

/// Dot-product attention with keys and values of one type of 16-bit floats, and other operands of
/// type f32; of its results only the mixture may be quantized.
std::string refuse_rounded_attention(const Graph& graph, const Node& node);

/// Dot-product attention with queries of type qint16, and keys and values of type qint8, that have
/// a vector for each head; of its results only the mixture may be quantized.
std::string refuse_quantized_attention(const Graph& graph, const Node& node);

}  // namespace fuselage
