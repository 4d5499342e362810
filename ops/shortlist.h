#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>

#include "graph/attributes.h"

namespace fuselage {

namespace op {

/// Row r is element number element(r) of row row(r) of the operand.
struct SelectElements {
  static constexpr std::string_view kName = "select_elements";
  MapPath row;
  MapPath element;
  static constexpr auto attributes() {
    return std::tuple(required("row", &SelectElements::row),
                      required("element", &SelectElements::element));
  }
};

/// The k largest numbers of the rows that `to` maps to one row, and where `words` leads from these.
struct SegmentKBest {
  static constexpr std::string_view kName = "segment_k_best";
  std::int64_t k = 0;
  MapPath to;
  MapPath words;
  static constexpr auto attributes() {
    return std::tuple(required("k", &SegmentKBest::k), required("to", &SegmentKBest::to),
                      required("words", &SegmentKBest::words));
  }
};

}  // namespace op

/// Scores of the words of a shortlist: a pair of a hypothesis and a word for each.
std::span<const OpDef> shortlist_ops();

}  // namespace fuselage
