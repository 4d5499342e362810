#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "backends/cpu/runtime/runner.h"
#include "base/files/mapped_memory.h"
#include "fuselage/backends/plan/plan.h"
#include "fuselage/backends/row_frame.h"

namespace fuselage::cpu {

/// The step program's imports from the source program for sentences that come and go: the rows of
/// each sentence are copied to its rows of a store.
class PlacedImports {
 public:
  /// `plan`, the plan of the step program, must outlive this.
  explicit PlacedImports(const ProgramPlan& plan);

  /// Whether all imports have rows of sentences, source tokens or shortlists.
  bool can_open() const;
  /// Reserves memory for the rows of an open frame. Throws std::bad_alloc.
  void open(const RowFrame& frame, ProgramRunner& step);
  /// Copies the rows of the import `name`, of the batch that `frame` admitted last.
  void keep(std::string_view name, const std::byte* rows, const RowFrame& frame);

  std::size_t size_bytes() const { return size_bytes_; }

 private:
  struct Import {
    const Buffer* buffer;
    Pages rows = nullptr;
    std::size_t size_bytes = 0;  ///< of rows
  };

  const ProgramPlan& plan_;
  std::vector<Import> imports_;
  std::size_t size_bytes_ = 0;
};

}  // namespace fuselage::cpu
