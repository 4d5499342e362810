#pragma once

#include "graph/op.h"

namespace fuselage {

/// Every op of Fuselage. To add one, write its definition beside its family and list the family in
/// registry.cpp; see docs/add-an-op.md.
const OpRegistry& all_ops();

/// The op of that name; an internal error when there is none.
const OpDef& op(std::string_view name);

}  // namespace fuselage
