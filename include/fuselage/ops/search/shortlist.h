#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>

#include "fuselage/base/api.h"
#include "fuselage/graph/attributes.h"

namespace FUSELAGE_API fuselage {

namespace op {

/// Row r is element `element(r)` of row `row(r)` of the operand.
struct SelectElements {
  static constexpr std::string_view kName = "select_elements";
  MapPath row;
  MapPath element;
  static constexpr auto attributes() {
    return std::tuple(required("row", &SelectElements::row),
                      required("element", &SelectElements::element));
  }
};

/// The k largest numbers in each group of rows with the same image under `to`, and their words, the
/// images under `words`.
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

/// Scores of shortlisted words: a row is a pair of a hypothesis and a word.
std::span<const OpDef> shortlist_ops();

}  // namespace fuselage
