#include "backends/cpu/plan.h"

#include <algorithm>
#include <cstdlib>

#include "backends/cpu/kernel_rows.h"
#include "backends/cpu/weight_region.h"
#include "base/error.h"
#include "base/quantized.h"
#include "graph/schedule.h"
#include "ops/evaluate.h"

namespace fuselage::cpu {
namespace {

/// What a `constant` node holds.
Tensor constant_tensor(const Graph& graph, const Node& node) {
  const Type& type = graph.value(node.results[0]).type;
  const RowTable rows(graph);
  EvalContext<float> context{.graph = graph, .node = node, .rows = rows};
  context.results.emplace_back(1, row_size(type));
  node.op->evaluate_f32(context);
  Tensor tensor(DType::f32, type.dims);
  std::copy(context.results[0].data.begin(), context.results[0].data.end(),
            tensor.mutable_data<float>());
  return tensor;
}

class Planner {
 public:
  Planner(Graph program, WeightRegion& weights, std::span<const KernelRow> first)
      : plan_(std::make_unique<ProgramPlan>()), weights_(weights), first_(first) {
    plan_->graph = std::move(program);
    places_.resize(plan_->graph.value_limit());
    rows_of_kernel_.resize(plan_->graph.node_limit(), nullptr);
    is_view_.resize(plan_->graph.value_limit(), false);
    keeps_history_.resize(plan_->graph.value_limit(), false);
  }

  std::unique_ptr<ProgramPlan> make() {
    order_nodes();
    for (const NodeId id : order_) bind_kernel(id);
    for (auto id = order_.rbegin(); id != order_.rend(); ++id) mark_history(*id);
    for (const NodeId id : order_) place_node(id);
    for (const NodeId id : order_) place_carried(id);
    for (const Output& output : graph().outputs()) {
      plan_->outputs.push_back(places_[output.value.index]);
      ask_for_weights(plan_->outputs.back());
    }
    find_lifetimes();
    return std::move(plan_);
  }

 private:
  const Graph& graph() const { return plan_->graph; }

  /// Nodes in running order. States come first in their loop: they read what the last iteration
  /// left, before anything of this one is written.
  void order_nodes() {
    const auto append = [this](const std::vector<NodeId>& nodes) {
      for (const bool states : {true, false})
        for (const NodeId id : nodes)
          if (graph().node(id).has(Trait::loop_state) == states) order_.push_back(id);
    };
    const std::vector<ScheduleItem> items = schedule(graph());
    // Leaves and, in a step program, its states are ready before anything else.
    for (const bool early : {true, false})
      for (const ScheduleItem& item : items) {
        const Node& node = graph().node(item.nodes.front());
        const bool is_early = !item.scan.valid() && (node.operands.empty() || is_step_state(node));
        if (is_early != early) continue;
        if (item.scan.valid()) {
          loops_.push_back({item.scan, static_cast<std::uint32_t>(order_.size()), 0});
          append(item.nodes);
          loops_.back().end = static_cast<std::uint32_t>(order_.size());
        } else {
          order_.push_back(item.nodes.front());
        }
      }
  }

  /// A decoder state whose initial value is there from the beginning.
  bool is_step_state(const Node& node) const {
    return node.has(Trait::loop_state) && graph().producer(node.operands[0]).operands.empty();
  }

  // --- Kernels ---

  void bind_kernel(NodeId id) {
    if (is_stored(graph(), graph().node(id))) return;
    rows_of_kernel_[id.index] = choose_kernel(graph(), id, first_).row;
  }

  /// A value of prefix rows is kept for all tokens only where something else than the same rows
  /// reads it.
  void mark_history(NodeId id) {
    const Node& node = graph().node(id);
    for (const ValueId result : node.results) {
      const Value& value = graph().value(result);
      for (const Use& use : value.uses) {
        const Node& user = graph().node(use.node);
        const bool same_rows = !user.results.empty() &&
                               graph().value(user.results[0]).type.domain == value.type.domain;
        if (!same_rows || keeps_history_[user.results[0].index])
          keeps_history_[result.index] = true;
      }
      if (graph().is_output(result)) keeps_history_[result.index] = true;
    }
  }

  // --- Places ---

  std::uint32_t add_buffer(Buffer buffer) {
    plan_->buffers.push_back(std::move(buffer));
    return static_cast<std::uint32_t>(plan_->buffers.size() - 1);
  }

  std::int32_t index_slot(const MapPath& path) {
    for (std::size_t i = 0; i < plan_->indexes.size(); ++i)
      if (plan_->indexes[i].path == path) return static_cast<std::int32_t>(i);
    plan_->indexes.push_back({path, graph().map(path.front()).from});
    return static_cast<std::int32_t>(plan_->indexes.size() - 1);
  }

  Place new_place(ValueId id, Buffer buffer) {
    const Type& type = graph().value(id).type;
    buffer.domain = type.domain;
    buffer.row_elements = row_elements(type);
    Place place{.stride = buffer.row_elements, .cols = buffer.row_elements};
    if (type.domain == graph().none()) place.stride = 0;
    place.buffer = add_buffer(std::move(buffer));
    return place;
  }

  void place_stored(const Node& node) {
    const ValueId id = node.results[0];
    Buffer buffer{.kind = Buffer::Kind::weight};
    if (!node.has(Trait::external)) {
      buffer.tensor = std::make_shared<Tensor>(constant_tensor(graph(), node));
    } else if (graph().binding(id) == BindingTime::load) {
      buffer.declared =
          std::make_shared<WeightType>(weight_type(graph(), id, node.attr<std::string>("name")));
    } else {
      buffer.kind = Buffer::Kind::import;
      buffer.name = node.attr<std::string>("name");
    }
    places_[id.index] = new_place(id, std::move(buffer));
  }

  void place_node(NodeId id) {
    const Node& node = graph().node(id);
    if (is_stored(graph(), node)) {
      place_stored(node);
      return;
    }
    Instruction in{.node = id, .kernel = rows_of_kernel_[id.index]->name, .graph = &graph()};
    for (const ValueId operand : node.operands) in.operands.push_back(places_[operand.index]);
    if (!node.results.empty()) in.domain = graph().value(node.results[0]).type.domain;
    if (node.has(Trait::loop_next)) {
      in.domain = graph().value(node.operands[1]).type.domain;
      in.operands = {places_[node.operands[1].index]};
    } else if (try_view(node)) {
      in.kernel = "view";
    } else {
      for (const ValueId result : node.results) {
        Buffer buffer;
        buffer.newest_only = is_prefix(result) && !keeps_history_[result.index];
        places_[result.index] = new_place(result, std::move(buffer));
        in.results.push_back(places_[result.index]);
      }
      add_indexes(node, in);
      const KernelRow& row = *rows_of_kernel_[id.index];
      if (row.bind) row.bind(in, {graph(), node, *plan_, weights_});
      in.run = row.run;
      for (const Place& operand : in.operands) ask_for_weights(operand);
    }
    instruction_of_[id] = static_cast<std::uint32_t>(plan_->instructions.size());
    plan_->instructions.push_back(std::move(in));
  }

  /// What a place is read from must be there when the program runs.
  void ask_for_weights(const Place& place) {
    if (!place.is_read) return;
    for (const std::int32_t number :
         {static_cast<std::int32_t>(place.buffer), place.fallback_buffer}) {
      if (number == kNone) continue;
      Buffer& buffer = plan_->buffers[static_cast<std::size_t>(number)];
      if (buffer.declared) buffer.tensor = weights_.stored(*buffer.declared);
    }
  }

  bool is_prefix(ValueId id) const {
    return graph().domain(graph().value(id).type.domain).kind == DomainKind::prefix;
  }

  /// Operands that are read through maps of the node itself.
  void add_indexes(const Node& node, Instruction& in) {
    if (node.has(Trait::selects_rows)) {
      in.operands[0].index = index_slot(node.attr<MapPath>("via"));
      in.operands[0].fallback_buffer = fallback_buffer(node);
    } else if (node.has(Trait::mixes_rows) && node.op->attribute_index("via")) {
      in.operands[1].index = index_slot(node.attr<MapPath>("via"));
    } else if (node.op->attribute_index("left") && node.op->attribute_index("right")) {
      in.operands[0].index = index_slot(node.attr<MapPath>("left"));
      in.operands[1].index = index_slot(node.attr<MapPath>("right"));
    } else if (node.op->attribute_index("via")) {
      in.operands[0].index = index_slot(node.attr<MapPath>("via"));
    } else if (node.has(Trait::loop_state)) {
      const DomainId init = graph().value(node.operands[0]).type.domain;
      MapPath path;
      if (init != graph().none() && graph().structural_path(in.domain, init, path))
        in.operands[0].index = index_slot(path);
    }
  }

  /// The default row of a selection, zeros where it has none; kNone when every row leads somewhere.
  std::int32_t fallback_buffer(const Node& node) {
    if (node.operands.size() > 1)
      return static_cast<std::int32_t>(places_[node.operands[1].index].buffer);
    if (!has_default_rows(node)) return kNone;
    const std::int64_t size = row_elements(graph().value(node.operands[0]).type);
    return static_cast<std::int32_t>(add_buffer({.kind = Buffer::Kind::weight,
                                                 .domain = graph().none(),
                                                 .row_elements = size,
                                                 .tensor = zeros(size)}));
  }

  static std::shared_ptr<const Tensor> zeros(std::int64_t size) {
    return std::make_shared<Tensor>(DType::f32, std::vector{size});
  }

  /// Whether some rows of the result of a selection are its default row.
  bool has_default_rows(const Node& select) const {
    const MapPath& path = select.attr<MapPath>("via");
    return std::any_of(path.begin(), path.end(), [&](MapId id) { return graph().map(id).partial; });
  }

  /// Whether a use can read some columns of a buffer, and with `indexed` through an index too. A
  /// default row has no further columns.
  bool reads_place(const Use& use, bool indexed) const {
    const KernelRow* user = rows_of_kernel_[use.node.index];
    if (!user) return false;
    if (indexed || user->reads_views(use.operand)) return user->reads_views(use.operand);
    const Node& node = graph().node(use.node);
    return user->reads_columns(use.operand) &&
           !(node.has(Trait::selects_rows) && has_default_rows(node));
  }

  /// Makes the result of a selection or slice a place in its operand's buffer, if all that read it
  /// can read such a place.
  bool try_view(const Node& node) {
    const bool is_slice = node.op->attribute_index("begin") && node.has(Trait::row_wise);
    if (!node.has(Trait::selects_rows) && !is_slice) return false;
    const ValueId result = node.results[0];
    const Value& value = graph().value(result);
    const bool real = value.type.dtype == DType::f32 || is_quantized(value.type.dtype);
    if (graph().is_output(result) || !real || value.type.dims.size() != 1) return false;
    Place place = places_[node.operands[0].index];
    const bool indexed = !is_slice || place.index != kNone;
    for (const Use& use : value.uses)
      if (!reads_place(use, indexed)) return false;
    if (is_slice) {
      place.offset += node.attr<std::int64_t>("begin");
    } else {
      if (place.index != kNone || (place.offset != 0 && has_default_rows(node))) return false;
      place.index = index_slot(node.attr<MapPath>("via"));
      place.fallback_buffer = fallback_buffer(node);
    }
    place.cols = row_elements(value.type);
    places_[result.index] = place;
    is_view_[result.index] = true;
    return true;
  }

  /// Connects a state with what its `next` leaves: the value's own buffer where that is possible, a
  /// copy elsewhere.
  void place_carried(NodeId id) {
    const Node& node = graph().node(id);
    if (!node.has(Trait::loop_next)) return;
    const NodeId state = graph().value(node.operands[0]).producer;
    const ValueId value = node.operands[1];
    Instruction& next = plan_->instructions[instruction_of_.at(id)];
    Place carried = places_[value.index];
    const bool own = !is_view_[value.index] && !graph().producer(value).has(Trait::loop_state) &&
                     plan_->buffers[carried.buffer].kind == Buffer::Kind::arena;
    if (own) {
      next.kernel = "view";
    } else {
      carried = new_place(value, Buffer{});
      next.results = {carried};
      next.run = rows_of_kernel_[id.index]->run;
      ask_for_weights(next.operands[0]);
    }
    carried_.push_back({carried.buffer, instruction_of_.at(state)});
    plan_->instructions[instruction_of_.at(state)].operands.push_back(carried);
  }

  // --- Lifetimes ---

  void find_lifetimes() {
    auto& buffers = plan_->buffers;
    for (Buffer& buffer : buffers) {
      buffer.first = kForever;
      buffer.last = 0;
    }
    const auto touch = [&](const Place& place, std::uint32_t at) {
      for (const std::int32_t b :
           {static_cast<std::int32_t>(place.buffer), place.fallback_buffer}) {
        if (b == kNone) continue;
        Buffer& buffer = buffers[static_cast<std::size_t>(b)];
        buffer.first = std::min(buffer.first, at);
        buffer.last = std::max(buffer.last, at);
      }
    };
    for (std::uint32_t i = 0; i < plan_->instructions.size(); ++i) {
      for (const Place& place : plan_->instructions[i].operands) touch(place, i);
      for (const Place& place : plan_->instructions[i].results) touch(place, i);
    }
    place_loops();
    for (const Loop& loop : plan_->loops)
      for (Buffer& buffer : buffers) {
        const bool inside = buffer.last >= loop.begin && buffer.first < loop.end;
        const bool crosses = buffer.first < loop.begin || buffer.last >= loop.end;
        if (!inside || !crosses) continue;
        buffer.first = std::min(buffer.first, loop.begin);
        buffer.last = std::max(buffer.last, loop.end - 1);
      }
    for (const auto& [buffer, state] : carried_) keep_between_iterations(buffers[buffer], state);
    for (Buffer& buffer : buffers)
      if (graph().domain(buffer.domain).kind == DomainKind::prefix && !buffer.newest_only)
        keep_forever(buffer);
    for (const Place& place : plan_->outputs) buffers[place.buffer].last = kForever;
  }

  static void keep_forever(Buffer& buffer) {
    buffer.first = 0;
    buffer.last = kForever;
  }

  void keep_between_iterations(Buffer& buffer, std::uint32_t state) {
    for (const Loop& loop : plan_->loops)
      if (state >= loop.begin && state < loop.end) {
        buffer.first = std::min(buffer.first, loop.begin);
        buffer.last = std::max(buffer.last, loop.end - 1);
        return;
      }
    keep_forever(buffer);
  }

  /// Loops by instructions: nodes that are stored have none.
  void place_loops() {
    for (const Loop& loop : loops_) {
      const auto instruction = [&](std::uint32_t at) {
        while (at < order_.size() && instruction_of_.count(order_[at]) == 0) ++at;
        return at < order_.size() ? instruction_of_.at(order_[at])
                                  : static_cast<std::uint32_t>(plan_->instructions.size());
      };
      plan_->loops.push_back({loop.scan, instruction(loop.begin), instruction(loop.end)});
    }
  }

  std::unique_ptr<ProgramPlan> plan_;
  WeightRegion& weights_;
  std::span<const KernelRow> first_;
  std::vector<NodeId> order_;
  std::vector<Loop> loops_;  // by position in order_
  std::vector<const KernelRow*> rows_of_kernel_;
  std::vector<Place> places_;
  std::vector<bool> is_view_, keeps_history_;
  std::map<NodeId, std::uint32_t> instruction_of_;
  struct Carried {
    std::uint32_t buffer, state;
  };
  std::vector<Carried> carried_;
};

}  // namespace

std::int64_t row_elements(const Type& type) {
  return static_cast<std::int64_t>((row_bytes(type) + 3) / 4);
}

namespace {

/// Throws Error unless the products of a matrix's vectors with any rows fit 32 bits.
void expect_bounded_sums(const std::byte* vector, const MatrixShape& shape) {
  for (std::int64_t n = 0; n < shape.n; ++n, vector += vector_bytes(shape.dtype, shape.k)) {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < shape.k; ++i)
      sum += std::abs(quantized_at(shape.dtype, vector, i));
    if (sum > kLargestSumOfInt16Columns)
      throw Error(
          "the magnitudes of column {} of a qint16 matrix with {} rows sum up to {}, but beyond {} "
          "products may leave 32 bits; use --precision fp32 or quantize the model anew",
          n, shape.k, sum, kLargestSumOfInt16Columns);
  }
}

}  // namespace

PackedMatrix pack(const std::byte* data, const MatrixShape& shape) {
  const auto k = static_cast<std::size_t>(shape.k);
  const auto n = static_cast<std::size_t>(shape.n);
  const std::size_t ld = shape.transposed ? k : n;
  if (shape.dtype == DType::bf16)
    return PackedMatrix::pack_bf16(reinterpret_cast<const std::uint16_t*>(data), k, n, ld,
                                   shape.transposed);
  if (!is_quantized(shape.dtype))
    return PackedMatrix::pack(reinterpret_cast<const float*>(data), k, n, ld, shape.transposed);
  check(shape.transposed, "a quantized matrix is stored by columns");
  if (shape.dtype == DType::qint16) expect_bounded_sums(data, shape);
  return PackedMatrix::pack_quantized(shape.dtype, data, k, n);
}

std::unique_ptr<ProgramPlan> plan_program(Graph program, WeightRegion& weights,
                                          std::span<const KernelRow> first) {
  return Planner(std::move(program), weights, first).make();
}

}  // namespace fuselage::cpu
