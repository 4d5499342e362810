#include "ops/registry.h"

#include <fmt/format.h>

#include "base/error.h"
#include "ops/attention.h"
#include "ops/frequent_rows.h"
#include "ops/fused.h"
#include "ops/leaf.h"
#include "ops/loop.h"
#include "ops/matmul.h"
#include "ops/normalization.h"
#include "ops/output.h"
#include "ops/pointwise.h"
#include "ops/positions.h"
#include "ops/quantize.h"
#include "ops/recurrent.h"
#include "ops/rows.h"
#include "ops/search.h"
#include "ops/shape.h"
#include "ops/shortlist.h"
#include "ops/softmax.h"

namespace fuselage {

namespace {

struct AllOps {
  AllOps() {
    for (const auto family :
         {leaf_ops, loop_ops, recurrent_ops, pointwise_ops, matmul_ops, quantize_ops,
          normalization_ops, softmax_ops, shape_ops, row_ops, frequent_row_ops, attention_ops,
          position_ops, search_ops, shortlist_ops, fused_ops, output_ops})
      registry.add(family());
  }

  OpRegistry registry;
};

OpRegistry& the_registry() {
  static AllOps all;
  return all.registry;
}

}  // namespace

const OpRegistry& all_ops() { return the_registry(); }

void register_ops(std::span<const OpDef> ops) { the_registry().add(ops); }

const OpDef& find_op(std::string_view name) {
  const OpDef* found = all_ops().find(name);
  if (!found)
    throw InternalError(fmt::format(
        "internal error: there is no op '{}'; an op is registered before it is used", name));
  return *found;
}

}  // namespace fuselage
