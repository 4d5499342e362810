#pragma once

#include <string>
#include <string_view>

#include "fuselage/graph/op.h"

namespace fuselage {

/// The default of an optional attribute as the text form of graphs writes it.
std::string print_default(const AttrSpec& attribute);

/// How many values an operand stands for: "one", "optional", "one or more" or "any number".
std::string_view arity_in_words(OperandSpec::Arity arity);

}  // namespace fuselage
