#pragma once

#include <span>
#include <string_view>
#include <tuple>

#include "graph/attributes.h"

namespace fuselage {

namespace op {

/// Row r is row via(r) of operand 0; the default row (operand 1, else zeros) where `via` leads
/// nowhere.
struct SelectRows {
  static constexpr std::string_view kName = "select_rows";
  MapPath via;
  static constexpr auto attributes() { return std::tuple(required("via", &SelectRows::via)); }
};

/// Softmax over the rows that `to` maps to one row, column by column.
struct SegmentSoftmax {
  static constexpr std::string_view kName = "segment_softmax";
  MapPath to;
  static constexpr auto attributes() { return std::tuple(required("to", &SegmentSoftmax::to)); }
};

struct SegmentLogSoftmax {
  static constexpr std::string_view kName = "segment_log_softmax";
  MapPath to;
  static constexpr auto attributes() { return std::tuple(required("to", &SegmentLogSoftmax::to)); }
};

/// Sum over the pairs p of a row of weights(p) x(via(p)), head by head: attention.
struct MixRows {
  static constexpr std::string_view kName = "mix_rows";
  MapPath to;
  MapPath via;
  static constexpr auto attributes() {
    return std::tuple(required("to", &MixRows::to), required("via", &MixRows::via));
  }
};

/// Mean of the rows that `to` maps to one row.
struct MeanRows {
  static constexpr std::string_view kName = "mean_rows";
  MapPath to;
  static constexpr auto attributes() { return std::tuple(required("to", &MeanRows::to)); }
};

/// The path through which an op reads rows.
struct Via {
  MapPath via;
  static constexpr auto attributes() { return std::tuple(required("via", &Via::via)); }
};

/// The map, a path of one, whose rows an op takes together: those with one image.
struct Segments {
  MapPath to;
  static constexpr auto attributes() { return std::tuple(required("to", &Segments::to)); }
};

}  // namespace op

/// Selecting and mixing rows: the ways in which a value changes its row domain.
std::span<const OpDef> row_ops();

}  // namespace fuselage
