#include "backends/reference/interpreter.h"

#include <algorithm>
#include <type_traits>

#include "fuselage/base/error.h"
#include "fuselage/ops/structure/loop.h"
#include "graph/weights.h"
#include "ops/call_op.h"

namespace fuselage {

template <typename T>
Interpreter<T>::Interpreter(const Graph& graph, const TensorMap& weights)
    : graph_(graph),
      weights_(weights),
      schedule_(schedule(graph)),
      values_(graph.value_limit()),
      carried_(graph.node_limit()) {}

template <typename T>
void Interpreter<T>::run(BindingTime time, RowFrame& frame) {
  for (const ScheduleItem& item : schedule_) {
    if (graph_.binding(item.nodes.front()) != time) continue;
    if (!item.scan.valid()) {
      run_node(item.nodes.front(), frame.table());
      continue;
    }
    for (std::int64_t t = 0; t < frame.iterations(item.scan); ++t) {
      frame.begin_iteration(item.scan, t);
      for (const NodeId id : item.nodes) run_node(id, frame.table());
    }
  }
}

template <typename T>
void Interpreter<T>::run_node(NodeId id, const RowTable& rows) {
  const Node& node = graph_.node(id);
  if (node.has(Trait::external)) {
    values_[node.results[0].index] = external(node);
  } else if (node.has(Trait::loop_state)) {
    run_state(node, id, rows);
  } else if (node.has(Trait::loop_next)) {
    carried_[graph_.value(node.operands[0]).producer.index] = values_[node.operands[1].index];
  } else if (node.has(Trait::changes_domain)) {
    run_domain_change(node, rows);
  } else {
    EvalContext<T> context{.graph = graph_, .node = node, .rows = rows};
    for (const ValueId operand : node.operands) context.operands.push_back(&values_[operand.index]);
    for (const ValueId result : node.results) {
      const Type& type = graph_.value(result).type;
      context.results.emplace_back(rows.rows(type.domain), row_size(type));
    }
    evaluate_op(context);
    if (observer_) observer_(context);
    for (std::size_t i = 0; i < node.results.size(); ++i)
      values_[node.results[i].index] = std::move(context.results[i]);
  }
}

template <typename T>
Array<T> Interpreter<T>::external(const Node& node) const {
  const auto& name = node.as<ExternalName>().name;
  if (const auto import = imports_.find(name); import != imports_.end()) return import->second;
  const Type& type = graph_.value(node.results[0]).type;
  const Domain& domain = graph_.domain(type.domain);
  const Dims shape = graph_.stored_shape(type);
  const std::string where = graph_.describe(node);
  const Tensor& weight = find_weight({.name = name, .shape = shape, .where = where}, weights_);
  Array<T> value(domain.kind == DomainKind::vocabulary ? domain.size : 1, row_size(type));
  const Tensor wide = weight.to_f32();
  std::copy_n(wide.data<float>(), wide.size(), value.data.begin());
  return value;
}

template <typename T>
void Interpreter<T>::run_state(const Node& node, NodeId id, const RowTable& rows) {
  const Type& type = graph_.value(node.results[0]).type;
  const Array<T>& init = values_[node.operands[0].index];
  const DomainId init_domain = graph_.value(node.operands[0]).type.domain;
  std::vector<std::int32_t> sentence;
  if (init_domain != graph_.none())
    if (const auto path = graph_.structural_path(type.domain, init_domain))
      rows.resolve(*path, sentence);
  const auto previous = rows.previous(type.domain);
  Array<T> value(rows.rows(type.domain), row_size(type));
  for (std::int64_t r = 0; r < value.rows; ++r) {
    const auto at = static_cast<std::size_t>(r);
    const T* from = previous[at] >= 0 ? carried_[id.index].row(previous[at])
                                      : init.row(sentence.empty() ? 0 : sentence[at]);
    std::copy_n(from, value.cols, value.row(r));
  }
  values_[node.results[0].index] = std::move(value);
}

/// collect: writes rows of this iteration to their source positions. history: appends rows of this
/// step to rows of earlier steps.
template <typename T>
void Interpreter<T>::run_domain_change(const Node& node, const RowTable& rows) {
  const Array<T>& x = values_[node.operands[0].index];
  const DomainId from = graph_.value(node.operands[0]).type.domain;
  const Type& type = graph_.value(node.results[0]).type;
  Array<T>& value = values_[node.results[0].index];
  const std::int64_t first_new = rows.first_new(type.domain);
  if (graph_.domain(type.domain).kind == DomainKind::prefix) {
    if (first_new == 0) value = Array<T>(0, x.cols);
    value.rows = rows.rows(type.domain);
    value.data.resize(static_cast<std::size_t>(value.rows * value.cols));
    const DType to = node.as<op::History>().to;
    std::transform(x.data.begin(), x.data.end(), value.row(first_new), [to](T number) {
      return is_half(to) ? static_cast<T>(rounded_to(to, static_cast<float>(number))) : number;
    });
    return;
  }
  if (rows.previous(from).front() < 0) value = Array<T>(rows.rows(type.domain), x.cols);
  const auto index = rows.index(graph_.map_of(from, MapKind::structural));
  for (std::int64_t r = 0; r < x.rows; ++r)
    std::copy_n(x.row(r), x.cols, value.row(index[static_cast<std::size_t>(r)]));
}

template class Interpreter<float>;
template class Interpreter<double>;

}  // namespace fuselage
