#pragma once

#include <span>
#include <string_view>
#include <tuple>

#include "fuselage/base/api.h"
#include "fuselage/graph/attributes.h"

namespace FUSELAGE_API fuselage {

namespace op {

/// A value carried from one iteration of a loop to the next, initially its operand.
struct State {
  static constexpr std::string_view kName = "state";
  DomainId domain;
  static constexpr auto attributes() { return std::tuple(required("domain", &State::domain)); }
};

/// Sets the value of a state (operand 0) in the next iteration (operand 1).
struct Next {
  static constexpr std::string_view kName = "next";
};

/// The rows of all iterations of a scan, each at its source position.
struct Collect {
  static constexpr std::string_view kName = "collect";
};

/// A hypothesis value kept for every token generated so far, in a prefix domain. `to` bf16 or f16
/// rounds f32 rows where they are kept, ties to even; f32 keeps rows of any type as they are.
struct History {
  static constexpr std::string_view kName = "history";
  DomainId domain;
  DType to = DType::f32;
  static constexpr auto attributes() {
    return std::tuple(required("domain", &History::domain), defaulted("to", &History::to));
  }
};

}  // namespace op

/// Loop ops; see docs/architecture.md, "Loops are domains".
std::span<const OpDef> loop_ops();

}  // namespace fuselage
