#pragma once

#include <cstdint>
#include <vector>

#include "backends/cuda/device/rows/composed_indexes.h"
#include "backends/cuda/device/rows/device_row_memory.h"
#include "backends/cuda/device/runtime/memory.h"
#include "backends/cuda/device/runtime/stream.h"
#include "backends/cuda/layout.h"
#include "backends/plan/plan.h"

namespace fuselage::cuda {

/// The indexes through which the places of a program read, in device memory: those of single maps
/// as they stand there, those of longer paths composed.
class IndexSlots {
 public:
  /// Both must outlive this.
  IndexSlots(const ProgramPlan& plan, const DeviceRowMemory& rows) : plan_(plan), rows_(rows) {}

  /// Finds all addresses, for a layout for which the memory of rows has been placed.
  void place(const Layout& layout, const Stream& stream);

  /// Composes all paths, those of all iterations of scans included.
  void compose(const DeviceRows& rows, const Stream& stream) const;

  /// By number of the slot; those of a scan are of its first iteration.
  const std::vector<const std::int32_t*>& all() const { return indexes_; }
  /// The same in an iteration of a scan. Good until the next call.
  const std::vector<const std::int32_t*>& in_iteration(DomainId scan, std::int64_t t);

 private:
  /// Whose rows a slot's index has: those of all iterations of a scan are its source's.
  DomainId rows_of(const IndexSlot& slot) const;
  std::vector<std::size_t> composed_slots() const;
  void upload_paths(const std::vector<std::size_t>& slots, const DeviceRows& rows,
                    const Stream& stream);

  const ProgramPlan& plan_;
  const DeviceRowMemory& rows_;
  std::vector<const std::int32_t*> indexes_, iteration_;
  DeviceMemory composed_, maps_, paths_;
  std::int32_t path_count_ = 0;
};

}  // namespace fuselage::cuda
