#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/exported.h"
#include "fuselage/graph/op.h"

namespace fuselage {

/// The computation of a chain of elementwise ops for one element: steps whose arguments are
/// elements of operands, numbers and earlier steps. In the text form operand i is `x<i>`, a step
/// used once is written inline, and a step used several times is named first. Unnamed expressions
/// are results. Attributes follow an op as in a graph:
///
///     t0 = sigmoid(add(x0, x1)); add(mul(sub(1, t0), tanh(x2)), mul(t0, x3))
///     hard_sigmoid(add(x0, x1)) {slope = 0.2}
struct ElementwiseExpression {
  struct Argument {
    enum class Kind : std::uint8_t { operand, step, number };
    Kind kind = Kind::operand;
    std::uint32_t index = 0;  ///< of the operand or step
    double number = 0;
    friend bool operator==(const Argument&, const Argument&) = default;
  };
  struct Step {
    const OpDef* op = nullptr;  ///< refuse_step does not refuse it
    std::vector<Argument> arguments;
    std::vector<Attr> attrs = {};  ///< in the order of op->attributes
  };
  std::vector<Step> steps;
  std::vector<Argument> results;  ///< steps
};

/// The reason why the op cannot be a step of an expression; nullopt: it can. Steps have one result
/// and as many arguments as the op declares operands; their attributes are numbers and truth
/// values.
std::optional<std::string> refuse_step(const OpDef& op);

/// Parses an expression. Throws Error with the position of a mistake.
FUSELAGE_EXPORTED ElementwiseExpression parse_expression(std::string_view text);

/// The text of an expression, in normal form: printing a parsed normal form gives the same text.
std::string print_expression(const ElementwiseExpression& expression);

/// One more than the highest operand that an expression reads.
std::size_t operand_count(const ElementwiseExpression& expression);

}  // namespace fuselage
