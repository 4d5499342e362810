#include "graph/infer_types.h"

#include <fmt/format.h>

#include "base/registrant.h"
#include "fuselage/base/error.h"

namespace fuselage {

std::string registered_op(const OpDef& op) { return fmt::format("op '{}'", op.name); }

std::vector<Type> infer_types(const Graph& graph, const Node& node) {
  const OpDef& op = *node.op;
  try {
    std::vector<Type> types = op.infer(InferContext(graph, node));
    if (op.registered_by.empty()) return types;
    if (types.empty() && !op.has(Trait::sink))
      fail_for(op.registered_by, registered_op(op), "infer gives no type of a result");
    // Throws for a domain of another graph.
    for (const Type& type : types) (void)graph.domain(type.domain);
    return types;
  } catch (...) {
    rethrow_for(op.registered_by, registered_op(op), RegistrantFaults::all_but_errors);
  }
}

}  // namespace fuselage
