#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fuselage/backends/row_frame.h"
#include "fuselage/base/tensor.h"
#include "fuselage/ops/evaluate.h"
#include "graph/schedule.h"

namespace fuselage {

/// The oracle: runs a graph node by node by the ops' reference evaluation, in float or double,
/// without caching or reusing anything. Deliberately slow and simple.
template <typename T>
class Interpreter {
 public:
  /// `weights` contains every `param` by name; both arguments must outlive the interpreter. run()
  /// throws Error if a parameter is missing or has another shape.
  Interpreter(const Graph& graph, const TensorMap& weights);

  /// Sets the value of the `import` node `name`.
  void set_import(const std::string& name, Array<T> value) { imports_[name] = std::move(value); }

  /// Calls `observer` for each later evaluation of a node with a reference evaluation.
  using Observer = std::function<void(const EvalContext<T>&)>;
  void observe(Observer observer) { observer_ = std::move(observer); }

  /// Runs all nodes of one binding time: load once, source after each begin_batch, step after each
  /// begin_step of the frame.
  void run(BindingTime time, RowFrame& frame);

  /// The value from the last run; for a value in a scan, from its last iteration.
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
