#pragma once

#include <cstddef>
#include <vector>

#include "backends/cuda/device/executor/program_runner.h"
#include "backends/cuda/device/runtime/memory.h"
#include "backends/cuda/device/runtime/stream.h"
#include "fuselage/graph/row_table.h"

namespace fuselage::cuda {

/// The outputs of a program's last run, in host memory. The first get() after a run copies all
/// outputs that were ever asked for, with one synchronization.
class FetchedOutputs {
 public:
  /// The arguments must outlive this object.
  FetchedOutputs(const Graph& graph, const ProgramRunner& runner, const Stream& stream);

  /// Drops all copies, after the program has run again.
  void invalidate();

  /// The first element of an output with the row counts of `table`. Valid until the next run.
  const std::byte* get(std::size_t number, const RowTable& table);

 private:
  struct Output {
    bool wanted = false;
    bool is_copied = false;
    PinnedMemory memory;
  };

  std::size_t size_bytes(std::size_t number, const RowTable& table) const;
  void copy(std::size_t number, const RowTable& table);

  const Graph& graph_;
  const ProgramRunner& runner_;
  const Stream& stream_;
  std::vector<Output> outputs_;
};

}  // namespace fuselage::cuda
