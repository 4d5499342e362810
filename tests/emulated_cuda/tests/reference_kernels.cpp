#include "reference_kernels.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <mutex>

#include "backends/cuda/device/kernel/operands.h"
#include "backends/cuda/device/runtime/launch.h"
#include "fuselage/ops/evaluate.h"
#include "fuselage/ops/structure/loop.h"

namespace fuselage::cuda {
namespace {

/// The arguments of a launch, by value, as in captured work.
struct Launch {
  const Graph& graph;
  const PlannedInstruction& in;
  DeviceRows rows;
  const std::vector<Buffer>& plan_buffers;
  std::vector<std::byte*> buffers;
  std::vector<const std::int32_t*> indexes;
  Blas& blas;
  Cudnn& cudnn;

  Run run() const { return {nullptr, rows, plan_buffers, buffers, indexes, {}, blas, cudnn}; }
};

/// A host function as work of a stream. It must outlive captures of the work.
void enqueue(cudaStream_t stream, std::function<void()> work) {
  static std::mutex mutex;
  static std::deque<std::function<void()>> all;
  const std::lock_guard lock(mutex);
  all.push_back(std::move(work));
  const auto call = [](void* f) { (*static_cast<std::function<void()>*>(f))(); };
  expect_success(cudaLaunchHostFunc(stream, call, &all.back()), "work on the host");
}

/// Copies of all rows on the host, at the time of the instruction.
RowTable table_of(const Launch& launch) {
  const Graph& graph = launch.graph;
  RowTable table(graph);
  const auto is_known = [&](DomainId id) {
    return graph.domain(id).binding <= graph.domain(launch.in.domain).binding &&
           graph.domain(id).binding != BindingTime::load;
  };
  for (std::uint32_t i = 0; i < graph.domain_count(); ++i) {
    if (!is_known(DomainId{i})) continue;
    const DeviceRows::DomainRows& from = launch.rows.domains[i];
    RowTable::DomainRows& to = table.domain(DomainId{i});
    to.rows = from.counts->rows;
    to.first_new = from.counts->first;
    if (from.positions) to.positions = {from.positions, from.positions + to.rows};
    if (from.previous) to.previous = {from.previous, from.previous + to.rows};
  }
  for (std::uint32_t i = 0; i < graph.map_count(); ++i) {
    const RowMap& map = graph.map(MapId{i});
    if (!is_known(map.from)) continue;
    const DeviceRows::MapRows& from = launch.rows.maps[i];
    RowTable::MapRows& to = table.map(MapId{i});
    to.index = {from.index, from.index + table.rows(map.from)};
    if (from.segments) to.segments = {from.segments, from.segments + table.rows(map.to) + 1};
  }
  for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
    const Type& type = graph.inputs()[i].type;
    const std::int64_t size = table.rows(type.domain) * row_size(type);
    table.set_input(i, {launch.rows.inputs[i], static_cast<std::size_t>(size)});
  }
  return table;
}

/// The operand as the reference evaluation reads it: new rows in the instruction's domain, all rows
/// in other domains. The evaluation follows maps itself.
Array<float> operand_of(const Launch& launch, const RowTable& table, std::size_t operand) {
  const Type& type = launch.graph.value(launch.graph.node(launch.in.node).operands[operand]).type;
  const bool own = type.domain == launch.in.domain;
  const std::int64_t rows =
      own ? table.rows(type.domain) - table.first_new(type.domain) : table.rows(type.domain);
  Array<float> array(rows, row_size(type));
  const Run run = launch.run();
  PlannedInstruction in = launch.in;
  in.operands[operand].index = kNone;
  const auto copy = [&](auto from) {
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto* row = row_of(from, r);
      for (std::int64_t c = 0; c < array.cols; ++c)
        array.row(r)[c] = static_cast<float>(element(row, c));
    }
  };
  if (type.dtype == DType::i32)
    copy(own ? rows_in<std::int32_t>(in, run, operand) : all_rows<std::int32_t>(in, run, operand));
  else
    copy(own ? rows_in(in, run, operand) : all_rows(in, run, operand));
  return array;
}

void write(const Launch& launch, const Array<float>& values, std::size_t result) {
  const Run run = launch.run();
  const ValueId id = launch.graph.node(launch.in.node).results[result];
  const auto copy = [&](auto out) {
    for (std::int64_t r = 0; r < values.rows; ++r)
      std::copy_n(values.row(r), values.cols, row_of(out, r));
  };
  if (launch.graph.value(id).type.dtype == DType::i32)
    copy(rows_out<std::int32_t>(launch.in, run, result));
  else
    copy(rows_out(launch.in, run, result));
}

void evaluate(const Launch& launch) {
  const Node& node = launch.graph.node(launch.in.node);
  const RowTable table = table_of(launch);
  std::vector<Array<float>> operands;
  for (std::size_t i = 0; i < launch.in.operands.size(); ++i)
    operands.push_back(operand_of(launch, table, i));
  EvalContext<float> context{.graph = launch.graph, .node = node, .rows = table};
  for (const Array<float>& operand : operands) context.operands.push_back(&operand);
  const std::int64_t rows = table.rows(launch.in.domain) - table.first_new(launch.in.domain);
  for (const BufferView& result : launch.in.results)
    context.results.emplace_back(rows, result.cols);
  node.op->evaluate_f32(context);
  for (std::size_t i = 0; i < context.results.size(); ++i) write(launch, context.results[i], i);
}

/// Copies each row r of the instruction from source(r) to target(r).
template <typename Source, typename Target>
void copy_rows(const Launch& launch, const Source& source, const Target& target) {
  const std::int32_t rows = launch.rows[launch.in.domain].counts->live;
  const std::int64_t cols = launch.in.results[0].cols;
  for (std::int32_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < cols; ++c) target(r)[c] = element(source(r), c);
}

void carry_on(const Launch& launch) {
  const Run run = launch.run();
  const RowsIn init = rows_in(launch.in, run, 0);
  const RowsIn last = all_rows(launch.in, run, 1);
  const RowsOut out = rows_out(launch.in, run);
  const std::int32_t* previous = launch.rows[launch.in.domain].previous;
  copy_rows(
      launch,
      [&](std::int32_t r) {
        return previous[r] >= 0 ? last.data + previous[r] * last.stride : row_of(init, r);
      },
      [&](std::int32_t r) { return row_of(out, r); });
}

/// next, history: appends rows.
void append(const Launch& launch) {
  const Run run = launch.run();
  const RowsIn in = rows_in(launch.in, run, 0);
  const BufferView& result = launch.in.results[0];
  const DomainId domain = launch.plan_buffers[result.buffer].domain;
  const bool behind = domain != launch.in.domain && !launch.plan_buffers[result.buffer].newest_only;
  const std::int32_t first = behind ? launch.rows[domain].counts->first : 0;
  float* out = data_at<float>(result, run) + first * result.stride;
  copy_rows(
      launch, [&](std::int32_t r) { return row_of(in, r); },
      [&](std::int32_t r) { return out + r * result.stride; });
}

void scatter(const Launch& launch) {
  const Run run = launch.run();
  const RowsIn in = rows_in(launch.in, run, 0);
  const BufferView& result = launch.in.results[0];
  const std::int32_t* index =
      launch.rows[launch.graph.map_of(launch.in.domain, MapKind::structural)].index;
  copy_rows(
      launch, [&](std::int32_t r) { return row_of(in, r); },
      [&](std::int32_t r) { return data_at<float>(result, run) + index[r] * result.stride; });
}

/// A kernel that runs a function on the host.
template <void (*kFunction)(const Launch&)>
class HostKernel : public Kernel {
 public:
  explicit HostKernel(const Graph& graph) : graph_(graph) {}
  void launch(const PlannedInstruction& in, const Run& run) const override {
    enqueue(run.stream, [launch = Launch{graph_, in, run.rows, run.plan_buffers, run.buffers,
                                         run.indexes, run.blas, run.cudnn}] { kFunction(launch); });
  }
  static std::unique_ptr<Kernel> make(const PlannedInstruction&, const Binding& binding) {
    return std::make_unique<HostKernel>(binding.graph);
  }

 private:
  const Graph& graph_;
};

constexpr KernelEntry kRegistry[] = {{"carry_on", HostKernel<carry_on>::make},
                                     {"append", HostKernel<append>::make},
                                     {"scatter", HostKernel<scatter>::make},
                                     {"evaluate", HostKernel<evaluate>::make}};

constexpr KernelInfo kKernels[] = {
    {.op = op::State::kName, .name = "carry_on"},
    {.op = op::Next::kName, .name = "append", .reads = all_operands(Reads::view)},
    {.op = op::History::kName, .name = "append", .reads = {Reads::view}},
    {.op = op::Collect::kName, .name = "scatter", .reads = {Reads::view}},
    {.op = "*", .name = "evaluate"}};

}  // namespace

const KernelSet& reference_kernels() {
  static const KernelSet set = [] {
    KernelSet kernels;
    for (const KernelInfo& kernel : kKernels) kernels.push_back(&kernel);
    return kernels;
  }();
  return set;
}

std::span<const KernelEntry> reference_registry() { return kRegistry; }

}  // namespace fuselage::cuda
