#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/graph/attributes.h"

namespace FUSELAGE_API fuselage {

namespace op {

/// Concatenation of the operands along the last dimension.
struct Concat {
  static constexpr std::string_view kName = "concat";
};

/// Elements begin … end-1 of the last dimension.
struct Slice {
  static constexpr std::string_view kName = "slice";
  std::int64_t begin = 0;
  std::int64_t end = 0;
  static constexpr auto attributes() {
    return std::tuple(required("begin", &Slice::begin), required("end", &Slice::end));
  }
};

/// Elements begin … end-1 of the leading dimension: rows of a matrix.
struct SliceLeading {
  static constexpr std::string_view kName = "slice_leading";
  std::int64_t begin = 0;
  std::int64_t end = 0;
  static constexpr auto attributes() {
    return std::tuple(required("begin", &SliceLeading::begin), required("end", &SliceLeading::end));
  }
};

/// The same elements, in the same order, under other dimensions of a row. Their number stays.
struct Reshape {
  static constexpr std::string_view kName = "reshape";
  Dims dims;
  static constexpr auto attributes() { return std::tuple(required("dims", &Reshape::dims)); }
};

/// Dimensions of size 1 repeated, as numpy's broadcast_to: dimensions are matched from the last one
/// on, and missing leading dimensions count as 1.
struct Expand {
  static constexpr std::string_view kName = "expand";
  Dims dims;
  static constexpr auto attributes() { return std::tuple(required("dims", &Expand::dims)); }
};

/// The dimensions of a row in another order: dimension i of the result is dimension order[i].
struct Permute {
  static constexpr std::string_view kName = "permute";
  Dims order;
  static constexpr auto attributes() { return std::tuple(required("order", &Permute::order)); }
};

/// The range [begin, end) of a slice; an attribute group of ops with Trait::slices.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  static constexpr auto attributes() {
    return std::tuple(required("begin", &Range::begin), required("end", &Range::end));
  }
};

}  // namespace op

/// The elements of an operand's row that a row of the result holds, in order: with the coordinates
/// c of an element of the result in `sizes`, element offset + Σ c[d] strides[d].
struct StridedView {
  Dims sizes;
  Dims strides;
  std::int64_t offset = 0;
};

/// The view of a node of slice, slice_leading, expand, permute or transpose, with as few dimensions
/// as possible and at least one.
StridedView strided_view(const Graph& graph, const Node& node);

/// The elements of a view, in order.
std::vector<std::int64_t> elements_of(const StridedView& view);

/// Concatenation, slicing, reshaping, repetition and permutation.
std::span<const OpDef> shape_ops();

}  // namespace fuselage
