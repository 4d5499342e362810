#include "ops/registry.h"

#include "base/error.h"
#include "ops/families.h"

namespace fuselage {

const OpRegistry& all_ops() {
  static const OpRegistry registry = [] {
    OpRegistry made;
    for (const auto family :
         {leaf_ops, loop_ops, recurrent_ops, pointwise_ops, matmul_ops, quantize_ops,
          normalization_ops, softmax_ops, shape_ops, row_ops, frequent_row_ops, attention_ops,
          position_ops, search_ops, shortlist_ops, fused_ops, output_ops})
      made.add(family());
    return made;
  }();
  return registry;
}

const OpDef& op(std::string_view name) {
  const OpDef* found = all_ops().find(name);
  check(found != nullptr, "there is no op of that name");
  return *found;
}

}  // namespace fuselage
