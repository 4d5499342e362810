#include "fuselage/backends/plan/plan.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "backends/plan/lifetimes.h"
#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"
#include "fuselage/ops/evaluate.h"
#include "fuselage/ops/structure/loop.h"
#include "fuselage/ops/structure/shape.h"
#include "graph/schedule.h"
#include "ops/call_op.h"

namespace fuselage {
namespace {

/// The value of a `constant` node.
Tensor constant_tensor(const Graph& graph, const Node& node) {
  const Type& type = graph.value(node.results[0]).type;
  const RowTable rows(graph);
  EvalContext<float> context{.graph = graph, .node = node, .rows = rows};
  context.results.emplace_back(1, row_size(type));
  evaluate_op(context);
  Tensor tensor(DType::f32, type.dims);
  std::copy(context.results[0].data.begin(), context.results[0].data.end(),
            tensor.mutable_data<float>());
  return tensor;
}

class Planner {
 public:
  Planner(Graph program, const KernelSet& kernels) : kernels_(kernels) {
    plan_.graph = std::move(program);
    places_.resize(plan_.graph.value_limit());
    kernel_of_.resize(plan_.graph.node_limit(), nullptr);
    is_view_.resize(plan_.graph.value_limit(), false);
    keeps_history_.resize(plan_.graph.value_limit(), false);
  }

  ProgramPlan make() {
    order_nodes();
    choose_kernels();
    for (auto id = order_.rbegin(); id != order_.rend(); ++id) mark_history(*id);
    for (const NodeId id : order_) place_node(id);
    for (const NodeId id : order_) place_carried(id);
    for (const Output& output : graph().outputs())
      plan_.outputs.push_back(places_[output.value.index]);
    place_loops();
    find_lifetimes(plan_, carried_);
    return std::move(plan_);
  }

 private:
  const Graph& graph() const { return plan_.graph; }

  /// Nodes in execution order. States come first in their loop: they read carried values before
  /// this iteration overwrites them.
  void order_nodes() {
    std::vector<ScheduleItem> items = schedule(graph());
    // All weights of a model are values of its load program.
    if (is_load_program()) items = scheduled_late(graph(), std::move(items));
    // Leaves and, in a step program, states come first.
    std::stable_partition(items.begin(), items.end(), [this](const ScheduleItem& item) {
      const Node& node = graph().node(item.nodes.front());
      return !item.scan.valid() && (node.operands.empty() || is_step_state(node));
    });
    for (const ScheduleItem& item : items) {
      const auto begin = static_cast<std::uint32_t>(order_.size());
      order_.insert(order_.end(), item.nodes.begin(), item.nodes.end());
      if (!item.scan.valid()) continue;
      std::stable_partition(order_.begin() + begin, order_.end(),
                            [this](NodeId id) { return graph().node(id).has(Trait::loop_state); });
      loops_.push_back({item.scan, begin, static_cast<std::uint32_t>(order_.size())});
    }
  }

  bool is_load_program() const {
    return std::ranges::all_of(
        graph().nodes(), [this](NodeId id) { return graph().binding(id) == BindingTime::load; });
  }

  /// A decoder state whose initial value needs no computation in the program.
  bool is_step_state(const Node& node) const {
    return node.has(Trait::loop_state) && graph().producer(node.operands[0]).operands.empty();
  }

  // --- Kernels ---

  void choose_kernels() {
    bool complete = true;
    for (const NodeId id : order_) {
      const Node& node = graph().node(id);
      if (is_stored(graph(), node)) continue;
      kernel_of_[id.index] = choose_kernel(graph(), node, kernels_).kernel;
      complete &= kernel_of_[id.index] != nullptr;
    }
    if (complete) return;
    throw Error(fmt::format("there are nodes that no kernel can run: {}",
                            fmt::join(nodes_without_kernel(graph(), kernels_), "; ")));
  }

  /// A prefix value is kept for all tokens only if nodes read it other than row by row, itself or
  /// as a slice, which may be a view of it.
  void mark_history(NodeId id) {
    const Node& node = graph().node(id);
    for (const ValueId result : node.results) {
      const Value& value = graph().value(result);
      for (const Use& use : value.uses) {
        const Node& user = graph().node(use.node);
        const bool same_rows = !user.results.empty() &&
                               graph().value(user.results[0]).type.domain == value.type.domain;
        const bool seen_through = user.has(Trait::slices) && keeps_history_[user.results[0].index];
        if (!same_rows || seen_through) keeps_history_[result.index] = true;
      }
      if (graph().is_output(result)) keeps_history_[result.index] = true;
    }
  }

  // --- Places ---

  std::uint32_t add_buffer(Buffer buffer) {
    plan_.buffers.push_back(std::move(buffer));
    return static_cast<std::uint32_t>(plan_.buffers.size() - 1);
  }

  std::int32_t index_slot(const MapPath& path) {
    for (std::size_t i = 0; i < plan_.indexes.size(); ++i)
      if (plan_.indexes[i].path == path) return static_cast<std::int32_t>(i);
    plan_.indexes.push_back({path, graph().map(path.front()).from});
    return static_cast<std::int32_t>(plan_.indexes.size() - 1);
  }

  BufferView new_place(ValueId id, Buffer buffer) {
    const Type& type = graph().value(id).type;
    buffer.domain = type.domain;
    buffer.row_elements = row_elements(type);
    BufferView view{.stride = buffer.row_elements, .cols = buffer.row_elements};
    if (type.domain == graph().none()) view.stride = 0;
    view.buffer = add_buffer(std::move(buffer));
    return view;
  }

  void place_stored(const Node& node) {
    const ValueId id = node.results[0];
    Buffer buffer{.kind = Buffer::Kind::weight};
    if (!node.has(Trait::external)) {
      buffer.constant = std::make_shared<Tensor>(constant_tensor(graph(), node));
    } else {
      if (graph().binding(id) != BindingTime::load) buffer.kind = Buffer::Kind::imported;
      buffer.name = node.as<ExternalName>().name;
      buffer.value = id;
    }
    places_[id.index] = new_place(id, std::move(buffer));
  }

  void place_node(NodeId id) {
    const Node& node = graph().node(id);
    if (is_stored(graph(), node)) {
      place_stored(node);
      return;
    }
    PlannedInstruction in{.node = id, .kernel = kernel_of_[id.index]};
    for (const ValueId operand : node.operands) in.operands.push_back(places_[operand.index]);
    in.domain = computed_rows(node);
    if (node.has(Trait::loop_next)) {
      in.operands = {places_[node.operands[1].index]};
    } else if (try_view(node) || try_appended(node)) {
      in.kernel = nullptr;
    } else {
      place_results(node, in);
      add_indexes(node, in);
      find_appended(node, in);
    }
    instruction_of_[id] = static_cast<std::uint32_t>(plan_.instructions.size());
    plan_.instructions.push_back(std::move(in));
  }

  /// The domain of the rows that a node computes; ops that change the domain iterate over the rows
  /// of their operand.
  DomainId computed_rows(const Node& node) const {
    const ValueId value = node.has(Trait::loop_next)        ? node.operands[1]
                          : node.has(Trait::changes_domain) ? node.operands[0]
                                                            : node.results[0];
    return graph().value(value).type.domain;
  }

  void place_results(const Node& node, PlannedInstruction& in) {
    for (const ValueId result : node.results) {
      Buffer buffer;
      buffer.newest_only = is_prefix(result) && !keeps_history_[result.index];
      places_[result.index] = new_place(result, std::move(buffer));
      in.results.push_back(places_[result.index]);
    }
  }

  bool is_prefix(ValueId id) const {
    return graph().domain(graph().value(id).type.domain).kind == DomainKind::prefix;
  }

  /// Adds indexes of operands that the node itself reads through maps.
  void add_indexes(const Node& node, PlannedInstruction& in) {
    for (std::size_t i = 0; i < node.operands.size(); ++i)
      if (const MapPath* path = node.path_of_operand(i)) in.operands[i].index = index_slot(*path);
    if (node.has(Trait::selects_rows)) in.operands[0].fallback_buffer = fallback_buffer(node);
    if (node.has(Trait::loop_state)) {
      const DomainId init = graph().value(node.operands[0]).type.domain;
      if (init == graph().none()) return;
      if (const auto path = graph().structural_path(in.domain, init); path && !path->empty())
        in.operands[0].index = index_slot(*path);
    }
  }

  /// The buffer of a selection's default row, a zero row if none is given; kNone if the path is
  /// total.
  std::int32_t fallback_buffer(const Node& node) {
    if (node.operands.size() > 1)
      return static_cast<std::int32_t>(places_[node.operands[1].index].buffer);
    if (!has_default_rows(node)) return kNone;
    const std::int64_t size = row_elements(graph().value(node.operands[0]).type);
    return static_cast<std::int32_t>(add_buffer({.kind = Buffer::Kind::weight,
                                                 .domain = graph().none(),
                                                 .row_elements = size,
                                                 .constant = zeros(size)}));
  }

  static std::shared_ptr<const Tensor> zeros(std::int64_t size) {
    return std::make_shared<Tensor>(DType::f32, std::vector{size});
  }

  /// Whether a selection can give its default row.
  bool has_default_rows(const Node& select) const {
    return graph().is_partial(*select.path_of_operand(0));
  }

  /// Whether a use can read a range of columns and, if `indexed`, through an index. A default row
  /// has no further columns.
  bool reads_place(const Use& use, bool indexed) const {
    const KernelInfo* user = kernel_of_[use.node.index];
    if (!user) return false;
    const Reads reads = user->reads[use.operand];
    if (indexed || reads == Reads::view) return reads == Reads::view;
    const Node& node = graph().node(use.node);
    return reads == Reads::slice && !(node.has(Trait::selects_rows) && has_default_rows(node));
  }

  /// Whether rows lie in units of 4 bytes in all domains: a selection of others is a copy.
  static bool has_whole_words(const Type& type) {
    if (is_half(type.dtype)) return row_size(type) % 2 == 0;
    return type.dtype == DType::f32 || is_quantized(type.dtype);
  }

  /// Makes the result of a selection or slice a view of its operand's buffer, if all its users can
  /// read such a view.
  bool try_view(const Node& node) {
    const bool is_slice = node.has(Trait::slices);
    if (!node.has(Trait::selects_rows) && !is_slice) return false;
    const ValueId result = node.results[0];
    const Value& value = graph().value(result);
    if (graph().is_output(result) || !has_whole_words(value.type) || value.type.dims.size() != 1)
      return false;
    BufferView view = places_[node.operands[0].index];
    const bool indexed = !is_slice || view.index != kNone;
    for (const Use& use : value.uses)
      if (!reads_place(use, indexed)) return false;
    if (is_slice) {
      view.offset += node.as<op::Range>().begin;
    } else {
      if (view.index != kNone || (view.offset != 0 && has_default_rows(node))) return false;
      view.index = index_slot(*node.path_of_operand(0));
      view.fallback_buffer = fallback_buffer(node);
    }
    view.cols = row_elements(value.type);
    places_[result.index] = view;
    is_view_[result.index] = true;
    return true;
  }

  /// Places the result of a history whose only reader appends the new rows.
  bool try_appended(const Node& node) {
    if (!node.is<op::History>()) return false;
    const ValueId result = node.results[0];
    const std::vector<Use>& uses = graph().value(result).uses;
    if (graph().is_output(result) || uses.empty()) return false;
    // Rows that are read through a map are appended by a copy.
    if (places_[node.operands[0].index].index != kNone) return false;
    for (const Use& use : uses) {
      const KernelInfo* user = kernel_of_[use.node.index];
      if (use.node != uses[0].node || !user || !user->appends ||
          !user->appends(graph(), graph().node(use.node), use.operand))
        return false;
    }
    places_[result.index] = new_place(result, Buffer{});
    appended_[result] = places_[node.operands[0].index];
    return true;
  }

  void find_appended(const Node& node, PlannedInstruction& in) const {
    for (std::size_t i = 0; i < node.operands.size(); ++i)
      if (const auto found = appended_.find(node.operands[i]); found != appended_.end())
        in.appended.push_back({i, found->second});
  }

  /// Connects a state with its carried value: the buffer of the new value if possible, else a copy.
  void place_carried(NodeId id) {
    const Node& node = graph().node(id);
    if (!node.has(Trait::loop_next)) return;
    const NodeId state = graph().value(node.operands[0]).producer;
    const ValueId value = node.operands[1];
    PlannedInstruction& next = plan_.instructions[instruction_of_.at(id)];
    BufferView carried = places_[value.index];
    const bool own = !is_view_[value.index] && !graph().producer(value).has(Trait::loop_state) &&
                     plan_.buffers[carried.buffer].kind == Buffer::Kind::arena;
    if (own) {
      next.kernel = nullptr;
    } else {
      carried = new_place(value, Buffer{});
      next.results = {carried};
    }
    carried_.push_back({carried.buffer, instruction_of_.at(state)});
    plan_.instructions[instruction_of_.at(state)].operands.push_back(carried);
  }

  /// Converts loops from nodes to instructions; stored nodes have no instruction.
  void place_loops() {
    for (const Loop& loop : loops_) {
      const auto instruction = [&](std::uint32_t at) {
        while (at < order_.size() && instruction_of_.count(order_[at]) == 0) ++at;
        return at < order_.size() ? instruction_of_.at(order_[at])
                                  : static_cast<std::uint32_t>(plan_.instructions.size());
      };
      plan_.loops.push_back({loop.scan, instruction(loop.begin), instruction(loop.end)});
    }
  }

  ProgramPlan plan_;
  const KernelSet& kernels_;
  std::vector<NodeId> order_;
  std::vector<Loop> loops_;  // by position in order_
  std::vector<const KernelInfo*> kernel_of_;
  std::vector<BufferView> places_;
  std::vector<bool> is_view_, keeps_history_;
  std::map<ValueId, BufferView> appended_;  // the new rows of histories, by history
  std::map<NodeId, std::uint32_t> instruction_of_;
  std::vector<CarriedBuffer> carried_;
};

}  // namespace

std::int64_t row_elements(const Type& type) {
  return static_cast<std::int64_t>((row_bytes(type) + 3) / 4);
}

ProgramPlan plan_program(Graph program, const KernelSet& kernels) {
  check_kernels(kernels);
  return Planner(std::move(program), kernels).make();
}

std::vector<PlannedNode> planned_nodes(const ProgramPlan& plan) {
  std::vector<PlannedNode> nodes;
  for (const PlannedInstruction& in : plan.instructions)
    nodes.push_back({in.node, std::string(in.kernel ? in.kernel->name : "view"),
                     in.kernel != nullptr, in.kernel != nullptr && in.kernel->is_reference});
  return nodes;
}

}  // namespace fuselage
