#pragma once

#include <cstddef>
#include <vector>

#include "backends/cuda/device/executor/program_runner.h"
#include "backends/cuda/device/runtime/memory.h"
#include "backends/cuda/device/runtime/stream.h"
#include "graph/row_table.h"

namespace fuselage::cuda {

/// The outputs of a program's last run in host memory. What was asked for once is copied, later,
/// together with the first that is asked for after a run.
class FetchedOutputs {
 public:
  /// All must outlive this.
  FetchedOutputs(const Graph& graph, const ProgramRunner& runner, const Stream& stream);

  /// The program has run again.
  void forget();

  /// First element of an output, whose rows `table` counts. Good until the program runs again.
  const std::byte* get(std::size_t number, const RowTable& table);

 private:
  struct Output {
    bool wanted = false;
    bool there = false;
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
