#pragma once

#include "fuselage/passes/motion/commute_rows.h"
#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

/// Prepares for the law of row domains. A product of a concatenation or sum is a sum of products of
/// the parts:
///
///     matmul(concat(a, b), W) = add(matmul(a, rows of W), matmul(b, other rows of W))
///     matmul(add(a, b), W) = add(matmul(a, W), matmul(b, W))
///
/// The pass splits if commute_rows can then compute some of the products for fewer rows: a part is
/// a selection of rows, or a mixture with one head.
Pass split_products(const CommuteOptions& options = {});

}  // namespace fuselage
