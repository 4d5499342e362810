#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>

#include "fuselage/base/api.h"
#include "fuselage/graph/attributes.h"

namespace FUSELAGE_API fuselage {

namespace op {

/// The k largest elements of a row, and their indexes.
struct KBest {
  static constexpr std::string_view kName = "k_best";
  std::int64_t k = 0;
  static constexpr auto attributes() { return std::tuple(required("k", &KBest::k)); }
};

}  // namespace op

/// Ops of the beam search.
std::span<const OpDef> search_ops();

}  // namespace fuselage
