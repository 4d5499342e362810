#include "fuselage/ops/registry.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "base/registrant.h"
#include "fuselage/base/error.h"
#include "fuselage/ops/arithmetic/batch_matmul.h"
#include "fuselage/ops/arithmetic/matmul.h"
#include "fuselage/ops/arithmetic/normalization.h"
#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/ops/arithmetic/reduction.h"
#include "fuselage/ops/arithmetic/softmax.h"
#include "fuselage/ops/fused/attention.h"
#include "fuselage/ops/fused/chains.h"
#include "fuselage/ops/fused/frequent_rows.h"
#include "fuselage/ops/fused/output.h"
#include "fuselage/ops/fused/recurrent.h"
#include "fuselage/ops/precision/quantize.h"
#include "fuselage/ops/search/k_best.h"
#include "fuselage/ops/search/repetition.h"
#include "fuselage/ops/search/sampling.h"
#include "fuselage/ops/search/shortlist.h"
#include "fuselage/ops/structure/leaf.h"
#include "fuselage/ops/structure/loop.h"
#include "fuselage/ops/structure/positions.h"
#include "fuselage/ops/structure/rows.h"
#include "fuselage/ops/structure/shape.h"

namespace fuselage {

namespace {

struct Family {
  std::string_view file;  ///< OpDef::family
  std::span<const OpDef> (*ops)();
};

constexpr Family kFamilies[] = {
    {"leaf", leaf_ops},
    {"loop", loop_ops},
    {"recurrent", recurrent_ops},
    {"pointwise", pointwise_ops},
    {"matmul", matmul_ops},
    {"batch_matmul", batch_matmul_ops},
    {"quantize", quantize_ops},
    {"normalization", normalization_ops},
    {"softmax", softmax_ops},
    {"reduction", reduction_ops},
    {"shape", shape_ops},
    {"rows", row_ops},
    {"frequent_rows", frequent_row_ops},
    {"attention", attention_ops},
    {"positions", position_ops},
    {"search", search_ops},
    {"repetition", repetition_ops},
    {"shortlist", shortlist_ops},
    {"sampling", sampling_ops},
    {"fused", fused_ops},
    {"output", output_ops},
};

struct AllOps {
  AllOps() {
    for (const Family& family : kFamilies) {
      const std::span<const OpDef> plain = family.ops();
      std::vector<OpDef> ops(plain.begin(), plain.end());
      for (OpDef& op : ops) op.family = family.file;
      registry.add(ops);
    }
  }

  OpRegistry registry;
};

OpRegistry& the_registry() {
  static AllOps all;
  return all.registry;
}

}  // namespace

const OpRegistry& all_ops() { return the_registry(); }

void register_ops(std::span<const OpDef> ops) {
  std::vector<OpDef> registered(ops.begin(), ops.end());
  for (OpDef& op : registered) op.registered_by = current_registrant();
  the_registry().add(registered);
}

const OpDef& find_op(std::string_view name) {
  const OpDef* found = all_ops().find(name);
  if (!found)
    throw InternalError(fmt::format(
        "internal error: there is no op '{}'; an op is registered before it is used", name));
  return *found;
}

}  // namespace fuselage
