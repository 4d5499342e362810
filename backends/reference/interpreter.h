#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "backends/row_frame.h"
#include "base/tensor.h"
#include "graph/schedule.h"
#include "ops/evaluate.h"

namespace fuselage {

/// The oracle: runs a graph node by node through the ops' own reference evaluation, in float or in
/// double, without sharing, caching or reusing anything. Slow and obvious on purpose.
template <typename T>
class Interpreter {
 public:
  /// `weights` holds every `param` by name; both arguments must outlive the interpreter. Throws
  /// Error when a parameter is missing or of another size.
  Interpreter(const Graph& graph, const TensorMap& weights);

  /// Gives the `import` node of that name its value; it is copied.
  void set_import(const std::string& name, Array<T> value) { imports_[name] = std::move(value); }

  /// From now on `observer` sees each node that has a reference evaluation, when it is evaluated.
  using Observer = std::function<void(const EvalContext<T>&)>;
  void observe(Observer observer) { observer_ = std::move(observer); }

  /// Runs all nodes of one binding time: load once, source after each begin_batch, step after each
  /// begin_step of the frame.
  void run(BindingTime time, RowFrame& frame);

  /// What the last run made of a value; for a value in a scan, its last iteration.
  const Array<T>& value(ValueId id) const { return values_[id.index]; }

 private:
  void run_node(NodeId id, const RowTable& rows);
  void run_state(const Node& node, NodeId id, const RowTable& rows);
  void run_domain_change(const Node& node, const RowTable& rows);
  Array<T> external(const Node& node) const;

  const Graph& graph_;
  const TensorMap& weights_;
  std::vector<ScheduleItem> schedule_;
  std::map<std::string, Array<T>> imports_;
  std::vector<Array<T>> values_;
  Observer observer_;
  std::vector<Array<T>> carried_;  // by node index of a state: its next value
};

extern template class Interpreter<float>;
extern template class Interpreter<double>;

}  // namespace fuselage
