#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>

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

/// The range [begin, end) of a slice; an attribute group of ops with Trait::slices.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  static constexpr auto attributes() {
    return std::tuple(required("begin", &Range::begin), required("end", &Range::end));
  }
};

}  // namespace op

/// Concatenation, slicing and reshaping.
std::span<const OpDef> shape_ops();

}  // namespace fuselage
