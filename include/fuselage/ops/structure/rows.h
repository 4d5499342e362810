#pragma once

#include <span>
#include <string_view>
#include <tuple>

#include "fuselage/base/api.h"
#include "fuselage/graph/attributes.h"

namespace FUSELAGE_API fuselage {

namespace op {

/// Row r is row via(r) of operand 0, or the default row (operand 1, else zeros) if r is unmapped.
struct SelectRows {
  static constexpr std::string_view kName = "select_rows";
  MapPath via;
  static constexpr auto attributes() { return std::tuple(required("via", &SelectRows::via)); }
};

/// Softmax over each group of rows with the same image under `to`, column by column.
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

/// Mean over each group of rows with the same image under `to`.
struct MeanRows {
  static constexpr std::string_view kName = "mean_rows";
  MapPath to;
  static constexpr auto attributes() { return std::tuple(required("to", &MeanRows::to)); }
};

/// Sum over each group of rows with the same image under `to`; 0 for an empty group.
struct SumRows {
  static constexpr std::string_view kName = "sum_rows";
  MapPath to;
  static constexpr auto attributes() { return std::tuple(required("to", &SumRows::to)); }
};

/// Maximum over each group of rows with the same image under `to`: NaN if an element is NaN,
/// -infinity for an empty group.
struct MaxRows {
  static constexpr std::string_view kName = "max_rows";
  MapPath to;
  static constexpr auto attributes() { return std::tuple(required("to", &MaxRows::to)); }
};

/// log sum exp over each group of rows with the same image under `to`; -infinity for an empty
/// group.
struct SegmentLogSumExp {
  static constexpr std::string_view kName = "segment_log_sum_exp";
  MapPath to;
  static constexpr auto attributes() { return std::tuple(required("to", &SegmentLogSumExp::to)); }
};

/// The path through which an op reads rows.
struct Via {
  MapPath via;
  static constexpr auto attributes() { return std::tuple(required("via", &Via::via)); }
};

/// The map (a path of length one) that groups rows: a group has one image.
struct Segments {
  MapPath to;
  static constexpr auto attributes() { return std::tuple(required("to", &Segments::to)); }
};

}  // namespace op

/// Ops that select or mix rows, changing the row domain of a value.
std::span<const OpDef> row_ops();

}  // namespace fuselage
