#pragma once

#include <utility>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/graph/graph.h"
#include "fuselage/ops/structure/rows.h"

namespace FUSELAGE_API fuselage {

// Type checks shared by several families. All throw Error through the context.

/// The common domain of the operands that have rows; none if no operand has rows.
DomainId common_domain(const InferContext& in);

/// Throws unless operand i holds f32.
void expect_f32(const InferContext& in, std::size_t i);

/// Throws unless operand i holds f32 or quantized numbers.
void expect_real(const InferContext& in, std::size_t i);

/// Throws for a 16-bit float type in a run-time domain: the op is for weights of such types.
void expect_weights_if_half(const InferContext& in, DType dtype, DomainId domain);

/// Throws for rows of a run-time domain with an odd number of 16-bit floats: such rows lie in units
/// of 4 bytes.
void expect_even_if_half(const InferContext& in, const Type& type);

/// Throws unless operand i has one f32 vector per row; returns its length.
std::int64_t expect_vector(const InferContext& in, std::size_t i);

/// Throws unless operand i is a vector [length] without rows.
void expect_gain(const InferContext& in, std::size_t i, std::int64_t length);

/// For ops whose result has the type of the first operand.
std::vector<Type> same_as_first(const InferContext& in);

/// Checks the dimensions given by an attribute: positive, and small enough that sizes in bytes
/// cannot overflow.
void expect_dims(const InferContext& in, const Dims& dims);

/// Checks that each map of a path starts where the previous one ends; returns the first and last
/// domain.
std::pair<DomainId, DomainId> path_ends(const InferContext& in, const MapPath& path);

/// The map by which an op groups rows; the rows of a group must be contiguous.
const RowMap& grouping_map(const InferContext& in);

}  // namespace fuselage
