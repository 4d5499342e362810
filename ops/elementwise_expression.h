#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/op.h"

namespace fuselage {

/// What a chain of elementwise ops computes for one element: steps over the elements of operands,
/// numbers and earlier steps. As text, operand i is `x<i>`, a step is written where it is used, and
/// one that is used several times gets a name first; what stands without a name is a result:
///
///     t0 = sigmoid(add(x0, x1)); add(mul(sub(1, t0), tanh(x2)), mul(t0, x3))
struct ElementwiseExpression {
  struct Argument {
    enum class Kind : std::uint8_t { operand, step, number };
    Kind kind = Kind::operand;
    std::uint32_t index = 0;  ///< of the operand or step
    double number = 0;
    friend bool operator==(const Argument&, const Argument&) = default;
  };
  struct Step {
    const OpDef* op = nullptr;  ///< has Trait::elementwise
    std::vector<Argument> arguments;
  };
  std::vector<Step> steps;
  std::vector<Argument> results;  ///< steps
};

/// The expression that `text` writes. Throws Error saying where it is wrong.
ElementwiseExpression parse_expression(std::string_view text);

/// The text of an expression; that of a parsed text in the normal form is the text itself.
std::string print_expression(const ElementwiseExpression& expression);

/// One more than the highest operand that an expression reads.
std::size_t operand_count(const ElementwiseExpression& expression);

}  // namespace fuselage
