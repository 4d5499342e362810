#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>

#include "fuselage/base/api.h"
#include "fuselage/graph/attributes.h"

namespace FUSELAGE_API fuselage {

namespace op {

/// The number of the row that `via` leads to, of a word its id; `unmapped` if a row is unmapped.
struct RowNumber {
  static constexpr std::string_view kName = "row_number";
  MapPath via;
  std::int64_t unmapped = -1;  ///< from -1 on
  static constexpr auto attributes() {
    return std::tuple(required("via", &RowNumber::via),
                      defaulted("unmapped", &RowNumber::unmapped));
  }
};

/// Scores of words after a text: a word of the text is penalized, and one that would repeat an
/// n-gram of it, or complete a forbidden sequence, gets -infinity. See Keskar et al. 2019, "CTRL: A
/// conditional transformer language model for controllable generation", section 4.1, and Paulus et
/// al. 2018, "A deep reinforced model for abstractive summarization", section 2.5. The text of row
/// r are the ids `words(via(p))` of the pairs p that `to` maps to r, in order.
struct PenalizeRepeats {
  static constexpr std::string_view kName = "penalize_repeats";
  MapPath to;
  MapPath via;
  double penalty = 1;      ///< what a score below 0 is multiplied by, and others are divided by
  std::int64_t ngram = 0;  ///< 0: n-grams may be repeated
  Dims forbidden = {};     ///< sequences of ids, each with -1 behind it
  static constexpr auto attributes() {
    return std::tuple(required("to", &PenalizeRepeats::to), required("via", &PenalizeRepeats::via),
                      defaulted("penalty", &PenalizeRepeats::penalty),
                      defaulted("ngram", &PenalizeRepeats::ngram),
                      defaulted("forbidden", &PenalizeRepeats::forbidden));
  }
};

/// As PenalizeRepeats, for the words of shortlists: a score for each pair of a row and a word.
/// `row` leads from these pairs to the row, `listed` to the word; the words of a row ascend.
struct SegmentPenalizeRepeats {
  static constexpr std::string_view kName = "segment_penalize_repeats";
  MapPath row;
  MapPath listed;
  MapPath to;
  MapPath via;
  double penalty = 1;
  std::int64_t ngram = 0;
  Dims forbidden = {};
  static constexpr auto attributes() {
    return std::tuple(required("row", &SegmentPenalizeRepeats::row),
                      required("listed", &SegmentPenalizeRepeats::listed),
                      required("to", &SegmentPenalizeRepeats::to),
                      required("via", &SegmentPenalizeRepeats::via),
                      defaulted("penalty", &SegmentPenalizeRepeats::penalty),
                      defaulted("ngram", &SegmentPenalizeRepeats::ngram),
                      defaulted("forbidden", &SegmentPenalizeRepeats::forbidden));
  }
};

/// The attributes that PenalizeRepeats and SegmentPenalizeRepeats share.
struct Repeats {
  MapPath to;
  MapPath via;
  double penalty = 1;
  std::int64_t ngram = 0;
  Dims forbidden = {};
  static constexpr auto attributes() {
    return std::tuple(required("to", &Repeats::to), required("via", &Repeats::via),
                      defaulted("penalty", &Repeats::penalty), defaulted("ngram", &Repeats::ngram),
                      defaulted("forbidden", &Repeats::forbidden));
  }
};

}  // namespace op

/// Ops against repetitions in a text that a search makes.
std::span<const OpDef> repetition_ops();

}  // namespace fuselage
