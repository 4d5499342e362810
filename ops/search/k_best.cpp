// Ops of the beam search.

#include "fuselage/ops/search/k_best.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fuselage/ops/evaluate.h"
#include "fuselage/ops/infer.h"

namespace fuselage {
namespace {

std::vector<Type> infer_k_best(const InferContext& in) {
  const std::int64_t width = expect_vector(in, 0);
  const auto k = in.as<op::KBest>().k;
  if (k <= 0 || k > width)
    in.fail(fmt::format("it cannot take the {} best of {}", k, in.show(in.operand(0))));
  const DomainId domain = in.operand(0).domain;
  return {{DType::f32, domain, {k}}, {DType::i32, domain, {k}}};
}

template <typename T>
void evaluate_k_best(EvalContext<T>& context) {
  const Array<T>& x = *context.operands[0];
  const std::int64_t k = context.results[0].cols;
  std::vector<std::int64_t> ids(static_cast<std::size_t>(x.cols));
  for (std::int64_t r = 0; r < x.rows; ++r) {
    std::iota(ids.begin(), ids.end(), 0);
    const T* row = x.row(r);
    const auto key = [row](std::int64_t id) {
      return std::isnan(row[id]) ? -std::numeric_limits<T>::infinity() : row[id];
    };
    std::partial_sort(ids.begin(), ids.begin() + k, ids.end(),
                      [&key](std::int64_t a, std::int64_t b) {
                        return key(a) > key(b) || (key(a) == key(b) && a < b);
                      });
    for (std::int64_t i = 0; i < k; ++i) {
      const std::int64_t id = ids[static_cast<std::size_t>(i)];
      context.results[0].row(r)[i] = key(id);
      context.results[1].row(r)[i] = static_cast<T>(id);
    }
  }
}

}  // namespace

std::span<const OpDef> search_ops() {
  static const OpDef ops[] = {
      define<op::KBest>(
          {.summary =
               "The k largest elements of a row, and their indexes; ties go to the lower index.",
           .operands = {{"x"}},
           .traits = Trait::row_wise,
           .infer = infer_k_best,
           .evaluate_f32 = evaluate_k_best<float>,
           .evaluate_f64 = evaluate_k_best<double>}),
  };
  return ops;
}

}  // namespace fuselage
