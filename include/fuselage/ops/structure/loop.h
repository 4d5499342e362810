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

/// A hypothesis value kept for every token generated so far, in a prefix domain.
struct History {
  static constexpr std::string_view kName = "history";
  DomainId domain;
  static constexpr auto attributes() { return std::tuple(required("domain", &History::domain)); }
};

}  // namespace op

/// Loop ops; see docs/architecture.md, "Loops are domains".
std::span<const OpDef> loop_ops();

}  // namespace fuselage
