#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>

#include "fuselage/base/api.h"
#include "fuselage/graph/attributes.h"

namespace FUSELAGE_API fuselage {

namespace op {

/// A random number f32[1], above 0 and below 1, for each row: that of number `position`, i32[], in
/// the stream of the row, f32[4]. A stream is a 64-bit key of the generator Philox4x32-10, as four
/// numbers of 16 bits, the lowest first. The same stream and position give the same bits anywhere.
struct Uniform {
  static constexpr std::string_view kName = "uniform";
};

/// A word drawn by its probability: its score f32[1], unmodified, and the word i32[1]. Operands are
/// the scores f32[n], a random number f32[1] between 0 and 1, and optionally the words i32[n] of
/// the scores; without, a word is the index of its score.
///
/// Probabilities are softmax(scores / temperature) over the words that are not excluded and, with
/// top_k, over the first top_k of these, which are the k best of a sorted list. Then only the
/// smallest set of the most probable words with a sum of at least top_p stays (the nucleus,
/// Holtzman et al. 2020, "The curious case of neural text degeneration", section 3.1; of equal ones
/// the lower index), and of it the words of at least the probability epsilon; the most probable
/// word always stays. Of the rest, the first word is drawn whose cumulative sum, by ascending
/// index, exceeds the random number times the whole sum. Sums are in double, in an order that
/// depends on n alone. A score of -infinity is never drawn. If no word can be drawn, or a score is
/// NaN, the score is -infinity and the word -1.
struct Sample {
  static constexpr std::string_view kName = "sample";
  double temperature = 1;
  std::int64_t top_k = 0;  ///< 0: all; needs words
  double top_p = 1;
  double epsilon = 0;
  Dims excluded;  ///< words, ascending
  static constexpr auto attributes() {
    return std::tuple(defaulted("temperature", &Sample::temperature),
                      defaulted("top_k", &Sample::top_k), defaulted("top_p", &Sample::top_p),
                      defaulted("epsilon", &Sample::epsilon),
                      defaulted("excluded", &Sample::excluded));
  }
};

/// As Sample, for scores f32[1] of pairs: a word for each group of rows with the same image under
/// `to`; words are images under `words`.
struct SegmentSample {
  static constexpr std::string_view kName = "segment_sample";
  MapPath to;
  MapPath words;
  double temperature = 1;
  double top_p = 1;
  double epsilon = 0;
  Dims excluded;
  static constexpr auto attributes() {
    return std::tuple(required("to", &SegmentSample::to), required("words", &SegmentSample::words),
                      defaulted("temperature", &SegmentSample::temperature),
                      defaulted("top_p", &SegmentSample::top_p),
                      defaulted("epsilon", &SegmentSample::epsilon),
                      defaulted("excluded", &SegmentSample::excluded));
  }
};

/// How an op draws a word from scores.
struct Draw {
  double temperature = 1;
  double top_p = 1;
  double epsilon = 0;
  Dims excluded;
  static constexpr auto attributes() {
    return std::tuple(defaulted("temperature", &Draw::temperature),
                      defaulted("top_p", &Draw::top_p), defaulted("epsilon", &Draw::epsilon),
                      defaulted("excluded", &Draw::excluded));
  }
};

}  // namespace op

/// Ops that draw words at random.
std::span<const OpDef> sampling_ops();

}  // namespace fuselage
