#include "backends/cuda/device/executor/program_runner.h"

#include <algorithm>
#include <bit>

#include "backends/cuda/device/gather/copy.h"
#include "fuselage/base/error.h"
#include "passes/lowering/plan_memory.h"

namespace fuselage::cuda {
namespace {

constexpr Purpose kArena{"the values of a batch",
                         "use a smaller mini-batch, beam-size or max-length-factor, or fewer "
                         "workers (cpu-threads)"};
constexpr Purpose kWorkspace{"the workspace of kernels", "use a smaller mini-batch or beam-size"};

std::uint32_t instruction_count(const ProgramPlan& plan) {
  return static_cast<std::uint32_t>(plan.instructions.size());
}

}  // namespace

ProgramRunner::ProgramRunner(const DeviceProgram& program, const DeviceRowMemory& rows,
                             const Stream& stream, Blas& blas, Cudnn& cudnn)
    : program_(program),
      row_memory_(rows),
      stream_(stream),
      blas_(blas),
      cudnn_(cudnn),
      indexes_(program.plan(), rows),
      buffers_(program.plan().buffers.size(), nullptr) {
  // The table has one type of pointer for all buffers. Kernels only read weights.
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    buffers_[i] = const_cast<std::byte*>(program.weights()[i]);
}

// --- Addresses ---

void ProgramRunner::place(const Layout& layout, bool in_store) {
  in_store_ = in_store;
  const ProgramPlan& plan = program_.plan();
  const std::uint32_t last = std::max(instruction_count(plan), 1u) - 1;
  std::vector<BufferLifetime> lifetimes;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& buffer = plan.buffers[i];
    if (buffer.kind != Buffer::Kind::arena) continue;
    const DomainId domain =
        buffer.newest_only ? plan.graph.domain(buffer.domain).of : buffer.domain;
    const std::int64_t elements = layout.rows[domain.index] * buffer.row_elements;
    numbers.push_back(i);
    lifetimes.push_back({static_cast<std::size_t>(elements) * sizeof(float),
                         std::min(buffer.first, last), std::min(buffer.last, last)});
  }
  const MemoryPlan memory = plan_memory(lifetimes);
  if (memory.arena_bytes > arena_.size_bytes() || !arena_.data()) {
    arena_ = {};
    arena_ = DeviceMemory(memory.arena_bytes, kArena);
  }
  for (std::size_t i = 0; i < numbers.size(); ++i)
    buffers_[numbers[i]] = arena_.data() + memory.offsets[i];
  indexes_.place(layout, stream_);
}

void ProgramRunner::release() {
  arena_ = {};
  workspace_ = {};
}

void ProgramRunner::set_import(std::string_view name, std::byte* data) {
  const auto& buffers = program_.plan().buffers;
  for (std::size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].kind == Buffer::Kind::imported && buffers[i].name == name) buffers_[i] = data;
}

std::byte* ProgramRunner::output(std::size_t number) const {
  const BufferView& view = program_.plan().outputs[number];
  return buffers_[view.buffer] + view.offset * static_cast<std::int64_t>(sizeof(float));
}

// --- Workspace ---

std::size_t ProgramRunner::workspace_of(std::uint32_t begin, std::uint32_t end,
                                        const DeviceRows& rows) const {
  std::size_t bytes = 0;
  for (std::uint32_t i = begin; i < end; ++i)
    if (const Kernel* kernel = program_.kernel(i))
      bytes = std::max(bytes, kernel->workspace_bytes(program_.plan().instructions[i], rows));
  return bytes;
}

std::size_t ProgramRunner::workspace_of_loop(const Loop& loop, const DeviceRows& rows) const {
  DeviceRows now = rows;
  std::size_t bytes = 0;
  std::int32_t last_bound = -1;
  for (std::int64_t t = 0; t < row_memory_.iterations(loop.scan); ++t) {
    row_memory_.set_iteration(now, loop.scan, t);
    const std::int32_t bound = now[loop.scan].max_live;
    if (bound != last_bound) bytes = std::max(bytes, workspace_of(loop.begin, loop.end, now));
    last_bound = bound;
  }
  return bytes;
}

std::size_t ProgramRunner::workspace_of(const DeviceRows& rows) const {
  std::size_t bytes = workspace_of(0, instruction_count(program_.plan()), rows);
  for (const Loop& loop : program_.plan().loops)
    bytes = std::max(bytes, workspace_of_loop(loop, rows));
  return bytes;
}

bool ProgramRunner::has_workspace(const DeviceRows& rows) const {
  return workspace_of(rows) <= workspace_.size_bytes();
}

void ProgramRunner::reserve_workspace(const DeviceRows& rows) {
  const std::size_t bytes = workspace_of(rows);
  if (bytes <= workspace_.size_bytes()) return;
  stream_.synchronize();
  workspace_ = {};
  workspace_ = DeviceMemory(std::bit_ceil(bytes), kWorkspace);
}

// --- Running ---

void ProgramRunner::run(const DeviceRows& rows, const Observer& observer) {
  indexes_.compose(rows, stream_);
  std::uint32_t at = 0;
  for (const Loop& loop : program_.plan().loops) {
    run_range(at, loop.begin, rows, indexes_.all(), observer);
    run_loop(loop, rows, observer);
    at = loop.end;
  }
  run_range(at, instruction_count(program_.plan()), rows, indexes_.all(), observer);
}

void ProgramRunner::run_loop(const Loop& loop, const DeviceRows& rows, const Observer& observer) {
  DeviceRows now = rows;
  for (std::int64_t t = 0; t < row_memory_.iterations(loop.scan); ++t) {
    row_memory_.set_iteration(now, loop.scan, t);
    run_range(loop.begin, loop.end, now, indexes_.in_iteration(loop.scan, t), observer);
  }
}

void ProgramRunner::run_range(std::uint32_t begin, std::uint32_t end, const DeviceRows& rows,
                              const std::vector<const std::int32_t*>& indexes,
                              const Observer& observer) const {
  const ProgramPlan& plan = program_.plan();
  const Run run{.stream = stream_.get(),
                .rows = rows,
                .plan_buffers = plan.buffers,
                .buffers = buffers_,
                .indexes = indexes,
                .workspace = {workspace_.data(), workspace_.size_bytes()},
                .blas = blas_,
                .cudnn = cudnn_};
  for (std::uint32_t i = begin; i < end; ++i) {
    const Kernel* kernel = program_.kernel(i);
    if (!kernel) continue;
    kernel->launch(plan.instructions[i], run);
    if (in_store_) keep_new_rows(plan.instructions[i], rows);
    if (observer) observer(plan.instructions[i], run);
  }
}

/// Rows of the store are behind those that a step may compute, so no thread reads what another
/// writes.
void ProgramRunner::keep_new_rows(const PlannedInstruction& in, const DeviceRows& rows) const {
  const ProgramPlan& plan = program_.plan();
  for (const BufferView& result : in.results) {
    const Buffer& buffer = plan.buffers[result.buffer];
    const Domain& domain = plan.graph.domain(buffer.domain);
    if (buffer.newest_only || domain.kind != DomainKind::prefix) continue;
    auto* const data = reinterpret_cast<float*>(buffers_[result.buffer]);
    const std::int64_t columns = buffer.row_elements;
    scatter_rows(stream_.get(),
                 {.data = data, .stride = columns, .columns = static_cast<std::int32_t>(columns)},
                 rows[plan.graph.map_of(domain.of, MapKind::newest)].index,
                 {&rows[buffer.domain].counts->live, rows[buffer.domain].max_live}, columns,
                 {.data = data, .stride = columns});
  }
}

}  // namespace fuselage::cuda
