#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>

#include "fuselage/base/api.h"
#include "fuselage/graph/attributes.h"
#include "fuselage/ops/precision/quantize.h"

namespace FUSELAGE_API fuselage {

namespace op {

/// The dot product of the operands, times `scale`, for each of `heads` contiguous slices of a row.
struct HeadDot {
  static constexpr std::string_view kName = "head_dot";
  std::int64_t heads = 0;
  double scale = 1;
  static constexpr auto attributes() {
    return std::tuple(required("heads", &HeadDot::heads), defaulted("scale", &HeadDot::scale));
  }
};

/// Dot-product attention, per head: weights are the softmax of scale × (query · key) over the pairs
/// of a left row, and mix the values. Operands query, keys, values; they may be quantized, with a
/// vector for each head, or rows of bf16 or f16. An optional fourth operand, f32 [heads] for each
/// pair, is added to the scores: relative positions, for example.
struct DotAttention : QuantizedResults {
  static constexpr std::string_view kName = "dot_attention";
  MapPath left;
  MapPath right;
  std::int64_t heads = 0;
  double scale = 1;
  static constexpr auto attributes() {
    return std::tuple_cat(
        std::tuple(required("left", &DotAttention::left), required("right", &DotAttention::right),
                   required("heads", &DotAttention::heads),
                   defaulted("scale", &DotAttention::scale)),
        QuantizedResults::attributes());
  }
};

/// As DotAttention, with the score v · tanh(q + k); operands exp(q), exp(k), v, values.
struct AdditiveAttention : QuantizedResults {
  static constexpr std::string_view kName = "additive_attention";
  MapPath left;
  MapPath right;
  static constexpr auto attributes() {
    return std::tuple_cat(std::tuple(required("left", &AdditiveAttention::left),
                                     required("right", &AdditiveAttention::right)),
                          QuantizedResults::attributes());
  }
};

/// The number of heads, and the factor of their scores.
struct Heads {
  std::int64_t heads = 0;
  double scale = 1;
  static constexpr auto attributes() {
    return std::tuple(required("heads", &Heads::heads), defaulted("scale", &Heads::scale));
  }
};

/// The paths from a pair to the rows of its members.
struct PairMembers {
  MapPath left;
  MapPath right;
  static constexpr auto attributes() {
    return std::tuple(required("left", &PairMembers::left), required("right", &PairMembers::right));
  }
};

}  // namespace op

/// Multi-head dot-product attention and additive attention as single ops, and the scores of several
/// heads. See Vaswani et al. 2017, section 3.2, and Bahdanau et al. 2015, appendix A.1.2.
std::span<const OpDef> attention_ops();

}  // namespace fuselage
