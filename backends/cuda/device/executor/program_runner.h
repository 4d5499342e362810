#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "backends/cuda/device/executor/device_program.h"
#include "backends/cuda/device/kernel/kernel.h"
#include "backends/cuda/device/rows/device_row_memory.h"
#include "backends/cuda/device/rows/index_slots.h"
#include "backends/cuda/device/runtime/memory.h"
#include "backends/cuda/device/runtime/stream.h"
#include "backends/cuda/layout.h"

namespace fuselage::cuda {

/// A worker's memory for a program, and its execution. Addresses change only in place() and
/// reserve_workspace().
class ProgramRunner {
 public:
  /// Called after the launches of an instruction have been enqueued.
  using Observer = std::function<void(const PlannedInstruction&, const Run&)>;

  /// The arguments must outlive the runner.
  ProgramRunner(const DeviceProgram& program, const DeviceRowMemory& rows, const Stream& stream,
                Blas& blas, Cudnn& cudnn);

  /// Places all buffers for batches of the layout, after DeviceRowMemory::place() with the same
  /// layout. The stream must be idle. With `in_store`, prefix rows lie in an open store:
  /// kernels write new ones to the beginning of a buffer, from where they are copied to their rows.
  void place(const Layout& layout, bool in_store = false);

  /// Frees the memory of values and workspace, until place(). The stream must be idle.
  void release();

  /// Sets the address of a result of an earlier program, by name.
  void set_import(std::string_view name, std::byte* data);

  /// Whether the workspace suffices for runs with these bounds.
  bool has_workspace(const DeviceRows& rows) const;
  /// Grows the workspace for runs with these bounds. If it must grow, waits for the stream; the
  /// address changes, and after an Error no workspace is allocated.
  void reserve_workspace(const DeviceRows& rows);

  /// Enqueues the program. `rows` must come from the DeviceRowMemory.
  void run(const DeviceRows& rows, const Observer& observer = nullptr);

  /// The first element of an output, by number. Rows have no gaps.
  std::byte* output(std::size_t number) const;
  std::int64_t output_cols(std::size_t number) const {
    return program_.plan().outputs[number].cols;
  }

  /// Bytes of values and workspace.
  std::size_t arena_bytes() const { return arena_.size_bytes() + workspace_.size_bytes(); }

 private:
  std::size_t workspace_of(const DeviceRows& rows) const;
  std::size_t workspace_of(std::uint32_t begin, std::uint32_t end, const DeviceRows& rows) const;
  std::size_t workspace_of_loop(const Loop& loop, const DeviceRows& rows) const;
  void run_loop(const Loop& loop, const DeviceRows& rows, const Observer& observer);
  void run_range(std::uint32_t begin, std::uint32_t end, const DeviceRows& rows,
                 const std::vector<const std::int32_t*>& indexes, const Observer& observer) const;
  void keep_new_rows(const PlannedInstruction& in, const DeviceRows& rows) const;

  const DeviceProgram& program_;
  const DeviceRowMemory& row_memory_;
  const Stream& stream_;
  Blas& blas_;
  Cudnn& cudnn_;
  IndexSlots indexes_;
  DeviceMemory arena_, workspace_;
  std::vector<std::byte*> buffers_;
  bool in_store_ = false;
};

}  // namespace fuselage::cuda
