#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/base/dtype.h"
#include "fuselage/graph/ids.h"

namespace FUSELAGE_API fuselage {

/// Dimensions of one row, leading first.
using Dims = std::vector<std::int64_t>;

/// The type of a value: a row of shape `dims` for each row of `domain`. The number of rows is
/// symbolic; it is known at the domain's binding time.
struct Type {
  DType dtype = DType::f32;
  DomainId domain;  ///< never invalid in a graph; the graph's `none()` for a value without rows
  Dims dims;

  friend bool operator==(const Type&, const Type&) = default;
};

/// Number of elements in one row.
std::int64_t row_size(const Type& type);

/// Bytes of one row, with the scales of quantized vectors.
std::size_t row_bytes(const Type& type);

}  // namespace fuselage
