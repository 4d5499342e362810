#pragma once

#include <span>

#include "graph/op.h"

namespace fuselage {

// One function a file of ops/: the definitions that it holds.
std::span<const OpDef> leaf_ops();
std::span<const OpDef> loop_ops();
std::span<const OpDef> recurrent_ops();
std::span<const OpDef> pointwise_ops();
std::span<const OpDef> matmul_ops();
std::span<const OpDef> quantize_ops();
std::span<const OpDef> frequent_row_ops();
std::span<const OpDef> normalization_ops();
std::span<const OpDef> softmax_ops();
std::span<const OpDef> shape_ops();
std::span<const OpDef> row_ops();
std::span<const OpDef> attention_ops();
std::span<const OpDef> position_ops();
std::span<const OpDef> search_ops();
std::span<const OpDef> shortlist_ops();
std::span<const OpDef> fused_ops();
std::span<const OpDef> output_ops();

}  // namespace fuselage
