#pragma once

#include <cstdint>
#include <vector>

#include "backends/cuda/device/rows/device_row_memory.h"
#include "backends/cuda/device/rows/index_path.h"
#include "backends/cuda/device/runtime/memory.h"
#include "backends/cuda/device/runtime/stream.h"
#include "backends/cuda/layout.h"
#include "fuselage/backends/plan/plan.h"

namespace fuselage::cuda {

/// The indexes through which the views of a program read, in device memory. Paths of several maps
/// have a composed index.
class IndexSlots {
 public:
  /// Both must outlive this.
  IndexSlots(const ProgramPlan& plan, const DeviceRowMemory& rows) : plan_(plan), rows_(rows) {}

  /// Sets all addresses, after DeviceRowMemory::place() with the same layout.
  void place(const Layout& layout, const Stream& stream);

  /// Composes the indexes of all paths, for all iterations of scans.
  void compose(const DeviceRows& rows, const Stream& stream) const;

  /// Indexes by slot number. Scans are at their first iteration.
  const std::vector<const std::int32_t*>& all() const { return indexes_; }
  /// Indexes by slot number in an iteration of a scan. Valid until the next call.
  const std::vector<const std::int32_t*>& in_iteration(DomainId scan, std::int64_t t);

 private:
  /// The domain that counts the rows of a slot's index. For a scan, with all iterations, its
  /// source.
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
