#include "ops/call_op.h"

#include <fmt/format.h>

#include <utility>

#include "base/registrant.h"
#include "fuselage/base/error.h"
#include "graph/infer_types.h"

namespace fuselage {
namespace {

void call_evaluation(const OpDef& op, EvalContext<float>& context) { op.evaluate_f32(context); }
void call_evaluation(const OpDef& op, EvalContext<double>& context) { op.evaluate_f64(context); }

template <typename T>
void evaluate_registered(EvalContext<T>& context) {
  const OpDef& op = *context.node.op;
  std::vector<std::size_t> sizes;
  for (const Array<T>& result : context.results) sizes.push_back(result.data.size());
  call_evaluation(op, context);
  if (context.results.size() != sizes.size())
    fail_for(op.registered_by, registered_op(op),
             fmt::format("its evaluation leaves {} results in place of {}", context.results.size(),
                         sizes.size()));
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (context.results[i].data.size() != sizes[i])
      fail_for(op.registered_by, registered_op(op),
               fmt::format("its evaluation leaves {} numbers in result {} in place of {}",
                           context.results[i].data.size(), i, sizes[i]));
}

template <typename T>
void evaluate_any(EvalContext<T>& context) {
  const OpDef& op = *context.node.op;
  if (op.registered_by.empty()) return call_evaluation(op, context);
  try {
    evaluate_registered(context);
  } catch (...) {
    rethrow_for(op.registered_by, registered_op(op));
  }
}

/// The function `f` of a registered op.
template <typename T>
std::function<void(RowOperands<T>, std::span<T>)> guarded(
    const OpDef& op, std::function<void(RowOperands<T>, std::span<T>)> f) {
  if (!f) fail_for(op.registered_by, registered_op(op), "its row function is empty");
  return [&op, f = std::move(f)](RowOperands<T> in, std::span<T> out) {
    try {
      f(in, out);
    } catch (...) {
      rethrow_for(op.registered_by, registered_op(op));
    }
  };
}

}  // namespace

void evaluate_op(EvalContext<float>& context) { evaluate_any(context); }

void evaluate_op(EvalContext<double>& context) { evaluate_any(context); }

RowFunction bind_row_function(const Node& node) {
  const OpDef& op = *node.op;
  if (op.registered_by.empty()) return op.row(node);
  try {
    RowFunction function = op.row(node);
    return {guarded<float>(op, std::move(function.f32)),
            guarded<double>(op, std::move(function.f64))};
  } catch (...) {
    rethrow_for(op.registered_by, registered_op(op));
  }
}

Cost cost_of_op(const Graph& graph, const Node& node) {
  const OpDef& op = *node.op;
  if (!op.cost) return {};
  try {
    return op.cost(InferContext(graph, node));
  } catch (...) {
    rethrow_for(op.registered_by, registered_op(op));
  }
}

}  // namespace fuselage
