#pragma once

#include "passes/motion/commute_rows.h"
#include "passes/rewrite/pass.h"

namespace fuselage {

/// Helpers of the law of row domains. A product of what was put together from parts is put together
/// from products of the parts,
///
///     matmul(concat(a, b), W) = add(matmul(a, rows of W), matmul(b, other rows of W))
///     matmul(add(a, b), W) = add(matmul(a, W), matmul(b, W)),
///
/// where that saves time because commute_rows can then compute some of them for fewer rows: a part
/// is a selection of rows, or a mixture that has one head.
Pass split_products(const CommuteOptions& options = {});

}  // namespace fuselage
