#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "backends/cuda/device/executor/program_runner.h"
#include "backends/cuda/device/runtime/memory.h"
#include "backends/cuda/device/runtime/rows.h"
#include "backends/cuda/layout.h"
#include "fuselage/backends/plan/plan.h"

namespace fuselage::cuda {

/// The step program's imports from the source program for sentences that come and go: the rows of
/// each sentence are copied to its rows of a store.
class PlacedImports {
 public:
  /// `plan`, the plan of the step program, must outlive this.
  explicit PlacedImports(const ProgramPlan& plan);

  /// Whether all imports have rows of sentences or source tokens.
  bool can_open() const;
  /// Reserves memory for the rows of a store. All streams must be idle. Throws OutOfMemory.
  void open(const Layout& layout, ProgramRunner& step);
  /// Frees the memory, until open().
  void release();

  /// Enqueues copies of rows of the import `name` to the rows `to` of the store.
  void keep(cudaStream_t stream, std::string_view name, const std::byte* from, const Rows& rows,
            const std::int32_t* to) const;

  std::size_t size_bytes() const;

 private:
  struct Import {
    const Buffer* buffer;
    DeviceMemory rows;
  };

  const ProgramPlan& plan_;
  std::vector<Import> imports_;
};

}  // namespace fuselage::cuda
