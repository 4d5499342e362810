#include "fuselage/ops/registry.h"

#include <fmt/format.h>

#include "fuselage/base/error.h"
#include "fuselage/ops/attention.h"
#include "fuselage/ops/frequent_rows.h"
#include "fuselage/ops/fused.h"
#include "fuselage/ops/leaf.h"
#include "fuselage/ops/loop.h"
#include "fuselage/ops/matmul.h"
#include "fuselage/ops/normalization.h"
#include "fuselage/ops/output.h"
#include "fuselage/ops/pointwise.h"
#include "fuselage/ops/positions.h"
#include "fuselage/ops/quantize.h"
#include "fuselage/ops/recurrent.h"
#include "fuselage/ops/rows.h"
#include "fuselage/ops/search.h"
#include "fuselage/ops/shape.h"
#include "fuselage/ops/shortlist.h"
#include "fuselage/ops/softmax.h"

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
