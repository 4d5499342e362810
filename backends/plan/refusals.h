#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "graph/graph.h"

namespace fuselage {

// Why kernels cannot run a node: what the tables of several back-ends have in common. Each function
// gives the reason, or "" where it has none.

/// Vectors, or single numbers, in each row of all operands.
std::string needs_vectors(const Graph& graph, const Node& node);
/// A vector of f32 in each row of the first operand.
std::string needs_vector_input(const Graph& graph, const Node& node);
/// The first operand is of f32 or quantized.
std::string needs_real(const Graph& graph, const Node& node);
/// The first operand is of f32.
std::string needs_f32(const Graph& graph, const Node& node);

/// Most operands and results of an expression.
inline constexpr std::size_t kMaxExpressionOperands = 64;
inline constexpr std::size_t kMaxExpressionResults = 16;

/// An expression reads and writes rows of one width; an operand may have one element for all
/// columns. The operands of the node but number `matrix` are elements of it.
std::string refuse_elements(const Graph& graph, const Node& node, std::size_t matrix);

/// Whether a product's matrix is quantized and its rows are not.
bool is_mixed(const Type& x, const Type& w);

/// A product of operands of these types.
std::string refuse_types(const Type& x, const Type& w);
/// The same of a node's first two operands.
std::string refuse_types(const Graph& graph, const Node& node);

/// Columns of a matrix operand with `k` rows, a row per vocabulary entry being one of its own.
std::int64_t matrix_columns(const Graph& graph, ValueId matrix, std::int64_t k);

/// A matrix of one column, for kernels that would pad it.
std::string refuse_one_column(const Graph& graph, const Node& node);

/// A product of looked-up rows, whose matrix, table and ranks are stored.
std::string refuse_lookup_product(const Graph& graph, const Node& node);

/// A matrix of one column: a dot product a row.
std::string refuse_row_dot(const Graph& graph, const Node& node);

/// The product of an output layer, and its bias: of vectors and a stored matrix.
std::string refuse_output_layer(const Graph& graph, const Node& node);

/// The same for words that are one list a sentence.
std::string refuse_shortlist(const Graph& graph, const Node& node);

/// The output layers of several models, `most` of them.
std::string refuse_ensemble(const Graph& graph, const Node& node, std::size_t most);

/// Quantization without a bound on sums or a scale to be fitted.
std::string refuse_quantize(const Graph& graph, const Node& node);

/// Attention, of whose results the mixture may be quantized too.
std::string refuse_additive_attention(const Graph& graph, const Node& node);
std::string refuse_dot_attention(const Graph& graph, const Node& node);

}  // namespace fuselage
