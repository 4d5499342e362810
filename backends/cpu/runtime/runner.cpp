#include "backends/cpu/runtime/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>

#include "backends/cpu/simd/table.h"
#include "base/registrant.h"
#include "fuselage/base/error.h"
#include "passes/lowering/plan_memory.h"

namespace fuselage::cpu {
namespace {

/// More than a process can address: such an arena can be planned, but not allocated.
constexpr std::int64_t kMaxBufferBytes = std::int64_t{1} << 47;

std::size_t buffer_bytes(std::int64_t rows, std::int64_t row_elements) {
  const auto row_bytes = row_elements * static_cast<std::int64_t>(sizeof(float));
  const bool fits = row_bytes == 0 || rows <= kMaxBufferBytes / row_bytes;
  return static_cast<std::size_t>(fits ? rows * row_bytes : kMaxBufferBytes);
}

}  // namespace

Pages allocate_arena(std::size_t bytes) {
  try {
    return allocate_pages(bytes);
  } catch (const Error&) {
    throw std::bad_alloc();
  }
}

ProgramRunner::ProgramRunner(const Program& program, const KernelTable& kernels, Team* team)
    : program_(program),
      plan_(program.plan),
      kernels_(kernels),
      team_(team),
      offsets_(plan_.buffers.size(), 0),
      buffers_(plan_.buffers.size(), nullptr),
      composed_(plan_.indexes.size()),
      indexes_(plan_.indexes.size(), nullptr) {
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    if (program.weights[i])
      // Kernels only read weights; the table holds one kind of pointer for all.
      buffers_[i] = const_cast<std::byte*>(program.weights[i]->bytes());
  for (std::size_t i = 0; i < program.kernels.size(); ++i) {
    try {
      states_.push_back(program.kernels[i] ? program.kernels[i]->make_state() : nullptr);
    } catch (...) {
      rethrow_for_kernel(i);
    }
  }
}

void ProgramRunner::plan_batch(const RowFrame& frame) {
  std::vector<BufferLifetime> lifetimes;
  std::vector<std::size_t> numbers;
  const auto last_instruction =
      static_cast<std::uint32_t>(std::max<std::size_t>(plan_.instructions.size(), 1) - 1);
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
    const Buffer& buffer = plan_.buffers[i];
    if (buffer.kind != Buffer::Kind::arena) continue;
    const Domain& domain = plan_.graph.domain(buffer.domain);
    const std::int64_t rows = frame.max_rows(buffer.newest_only ? domain.of : buffer.domain);
    numbers.push_back(i);
    lifetimes.push_back({buffer_bytes(rows, buffer.row_elements),
                         std::min(buffer.first, last_instruction),
                         std::min(buffer.last, last_instruction)});
  }
  const MemoryPlan memory = plan_memory(lifetimes);
  arena_bytes_ = memory.arena_bytes;
  for (std::size_t i = 0; i < numbers.size(); ++i) offsets_[numbers[i]] = memory.offsets[i];
}

void ProgramRunner::begin_batch(const RowFrame& frame) {
  if (arena_bytes_ > capacity_ || !arena_) {
    arena_.reset();
    arena_ = allocate_arena(arena_bytes_);
    capacity_ = arena_bytes_;
  }
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    if (plan_.buffers[i].kind == Buffer::Kind::arena) buffers_[i] = arena_.get() + offsets_[i];
  for (std::size_t i = 0; i < composed_.size(); ++i)
    composed_[i].reserve(static_cast<std::size_t>(frame.max_rows(plan_.indexes[i].from)));
}

/// Calls action(kernel, instruction, run) for the kernels with states.
template <typename Action>
void ProgramRunner::for_states(const RowFrame& frame, const Action& action) {
  Run run = run_of(frame);
  for (std::size_t i = 0; i < states_.size(); ++i) {
    run.state = states_[i].get();
    try {
      if (run.state) action(*program_.kernels[i], plan_.instructions[i], run);
    } catch (...) {
      rethrow_for_kernel(i);
    }
  }
}

void ProgramRunner::begin_kernels(const RowFrame& frame) {
  for_states(frame, [](const Kernel& kernel, const PlannedInstruction& in, const Run& run) {
    kernel.begin_batch(in, run);
  });
}

void ProgramRunner::add_sentences(const RowFrame& frame, std::span<const std::int32_t> sentences) {
  for_states(frame, [&](const Kernel& kernel, const PlannedInstruction& in, const Run& run) {
    kernel.add_sentences(in, run, sentences);
  });
}

void ProgramRunner::set_import(std::string_view name, const std::byte* data) {
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    if (plan_.buffers[i].kind == Buffer::Kind::imported && plan_.buffers[i].name == name)
      buffers_[i] = const_cast<std::byte*>(data);
}

void ProgramRunner::refresh_index(std::size_t slot, const RowTable& rows) {
  const MapPath& path = plan_.indexes[slot].path;
  if (path.size() == 1) {
    indexes_[slot] = rows.index(path.front()).data();
    return;
  }
  rows.resolve(path, composed_[slot]);
  indexes_[slot] = composed_[slot].data();
}

void ProgramRunner::set_profile(std::vector<NodeTime>* times) {
  times_ = times;
  if (times_ && times_->size() < plan_.graph.node_limit()) times_->resize(plan_.graph.node_limit());
}

void ProgramRunner::run_range(std::uint32_t begin, std::uint32_t end, const Run& run) const {
  if (times_) {
    run_timed(begin, end, run);
    return;
  }
  for (std::uint32_t i = begin; i < end; ++i) {
    if (!program_.kernels[i]) continue;
    run_kernel(i, run);
    if (gives_back_) give_back_weights_of(plan_.instructions[i]);
  }
}

void ProgramRunner::give_back_weights_of(const PlannedInstruction& in) const {
  for (const BufferView& operand : in.operands)
    if (const auto& weight = program_.weights[operand.buffer])
      give_back_mapped(weight->mapped_bytes());
}

void ProgramRunner::run_kernel(std::uint32_t instruction, const Run& run) const {
  const Kernel& kernel = *program_.kernels[instruction];
  try {
    if (!states_[instruction]) {
      kernel.run(plan_.instructions[instruction], run);
    } else {
      Run with_state = run;
      with_state.state = states_[instruction].get();
      kernel.run(plan_.instructions[instruction], with_state);
    }
  } catch (...) {
    rethrow_for_kernel(instruction);
  }
  if (!newest_.empty()) keep_new_rows(instruction);
}

/// Copies new prefix rows, which a kernel writes to the beginning of a buffer, to their rows of a
/// store.
void ProgramRunner::keep_new_rows(std::uint32_t instruction) const {
  for (const BufferView& result : plan_.instructions[instruction].results) {
    const Buffer& buffer = plan_.buffers[result.buffer];
    if (buffer.newest_only || plan_.graph.domain(buffer.domain).kind != DomainKind::prefix)
      continue;
    const std::size_t bytes = buffer_bytes(1, buffer.row_elements);
    std::byte* const rows = buffers_[result.buffer];
    for (std::size_t h = 0; h < newest_.size(); ++h)
      std::memcpy(rows + static_cast<std::size_t>(newest_[h]) * bytes, rows + h * bytes, bytes);
  }
}

void ProgramRunner::rethrow_for_kernel(std::size_t instruction) const {
  const KernelInfo& kernel = *plan_.instructions[instruction].kernel;
  rethrow_for(kernel.registered_by, fmt::format("kernel '{}'", kernel.name));
}

void ProgramRunner::run_timed(std::uint32_t begin, std::uint32_t end, const Run& run) const {
  using Clock = std::chrono::steady_clock;
  for (std::uint32_t i = begin; i < end; ++i) {
    if (!program_.kernels[i]) continue;
    const PlannedInstruction& in = plan_.instructions[i];
    const Clock::time_point start = Clock::now();
    run_kernel(i, run);
    NodeTime& time = (*times_)[in.node.index];
    time.seconds += std::chrono::duration<double>(Clock::now() - start).count();
    ++time.runs;
    time.rows +=
        static_cast<std::uint64_t>(run.rows.rows(in.domain) - run.rows.first_new(in.domain));
  }
}

Run ProgramRunner::run_of(const RowFrame& frame) const {
  return {kernels_, frame.table(), plan_.buffers, buffers_, indexes_, team_};
}

bool ProgramRunner::takes_more_sentences() const {
  for (std::size_t i = 0; i < states_.size(); ++i)
    if (states_[i] && !program_.kernels[i]->takes_more_sentences()) return false;
  return true;
}

void ProgramRunner::run(RowFrame& frame) {
  const Run run = run_of(frame);
  newest_ = frame.is_open() ? frame.newest() : std::span<const std::int32_t>{};
  const auto is_scan = [this](std::size_t slot) {
    return plan_.graph.domain(plan_.indexes[slot].from).kind == DomainKind::scan;
  };
  for (std::size_t slot = 0; slot < indexes_.size(); ++slot)
    if (!is_scan(slot)) refresh_index(slot, frame.table());
  std::uint32_t at = 0;
  for (const Loop& loop : plan_.loops) {
    run_range(at, loop.begin, run);
    for (std::int64_t t = 0; t < frame.iterations(loop.scan); ++t) {
      frame.begin_iteration(loop.scan, t);
      for (std::size_t slot = 0; slot < indexes_.size(); ++slot)
        if (plan_.indexes[slot].from == loop.scan) refresh_index(slot, frame.table());
      run_range(loop.begin, loop.end, run);
    }
    at = loop.end;
  }
  run_range(at, static_cast<std::uint32_t>(plan_.instructions.size()), run);
}

const std::byte* ProgramRunner::output(std::size_t number) const {
  const BufferView& view = plan_.outputs[number];
  return buffers_[view.buffer] + view.offset * static_cast<std::int64_t>(sizeof(float));
}

std::shared_ptr<std::byte[]> ProgramRunner::take_output(std::size_t number,
                                                        std::size_t bytes) const {
  // The caller becomes the only user of the block.
  auto* block = const_cast<std::byte*>(output(number));
  if (const auto& weight = program_.weights[plan_.outputs[number].buffer]) return {weight, block};
  return {block, [arena = arena_, bytes](std::byte* p) { give_back_pages(p, bytes); }};
}

}  // namespace fuselage::cpu
