#pragma once

#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

/// Computes rows before they are appended to a history, so that merge_products merges them with
/// other products of the same rows:
///
/// * `products_before_history`: matmul(history(x), W) is history(matmul(x, W)), if x has another
///   product;
/// * `elements_before_history`: elementwise ops on the history of a product, such as its bias, are
///   on the product.
///
/// All ops are row by row, so no bit changes. It is for back-ends whose products do not write to
/// the rows of a history, or whose kernels append rows that they read (KernelInfo::appends): else
/// what is appended is a copy more.
Pass append_products();

}  // namespace fuselage
