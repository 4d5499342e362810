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

/// Memory and addresses with which one worker runs a program. Addresses change in place() and
/// reserve_workspace() alone.
class ProgramRunner {
 public:
  /// Sees an instruction whose launches have just been put into the stream.
  using Observer = std::function<void(const PlannedInstruction&, const Run&)>;

  /// All must outlive the runner.
  ProgramRunner(const DeviceProgram& program, const DeviceRowMemory& rows, const Stream& stream,
                Blas& blas, Cudnn& cudnn);

  /// Places all buffers for batches of the layout, for which `rows` has been placed. The stream
  /// must have nothing left to do.
  void place(const Layout& layout);

  /// Where the results of an earlier program are, by name.
  void set_import(std::string_view name, std::byte* data);

  /// Whether kernels have the memory that they need beside operands and results in runs with these
  /// bounds.
  bool has_workspace(const DeviceRows& rows) const;
  /// Sees to that. Where they have not, waits for the stream, and all such memory moves, or is lost
  /// with an Error.
  void reserve_workspace(const DeviceRows& rows);

  /// Puts the program into the stream, for rows that come from the memory of rows.
  void run(const DeviceRows& rows, const Observer& observer = nullptr);

  /// First element of an output, by its number; rows follow one another without gaps.
  std::byte* output(std::size_t number) const;
  std::int64_t output_cols(std::size_t number) const {
    return program_.plan().outputs[number].cols;
  }

  /// The values of a batch, and what kernels need beside them.
  std::size_t arena_bytes() const { return arena_.size_bytes() + workspace_.size_bytes(); }

 private:
  std::size_t workspace_of(const DeviceRows& rows) const;
  std::size_t workspace_of(std::uint32_t begin, std::uint32_t end, const DeviceRows& rows) const;
  std::size_t workspace_of_loop(const Loop& loop, const DeviceRows& rows) const;
  void run_loop(const Loop& loop, const DeviceRows& rows, const Observer& observer);
  void run_range(std::uint32_t begin, std::uint32_t end, const DeviceRows& rows,
                 const std::vector<const std::int32_t*>& indexes, const Observer& observer) const;

  const DeviceProgram& program_;
  const DeviceRowMemory& row_memory_;
  const Stream& stream_;
  Blas& blas_;
  Cudnn& cudnn_;
  IndexSlots indexes_;
  DeviceMemory arena_, workspace_;
  std::vector<std::byte*> buffers_;
};

}  // namespace fuselage::cuda
