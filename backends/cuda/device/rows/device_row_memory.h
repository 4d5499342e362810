#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backends/cuda/device/rows/device_rows.h"
#include "backends/cuda/device/runtime/staged_ints.h"
#include "backends/cuda/layout.h"
#include "fuselage/backends/row_frame.h"
#include "fuselage/graph/graph.h"

namespace fuselage::cuda {

/// The memory of a worker's DeviceRows, filled from the host's row tables.
class DeviceRowMemory {
 public:
  /// `graph` declares the domains and maps.
  explicit DeviceRowMemory(const Graph& graph) : graph_(graph.declarations()) {}

  /// Allocates memory for all batches of the layout. The stream must be idle.
  void place(const Layout& layout);

  /// Copies the rows of load- and source-time domains, with all iterations of scans.
  void upload_source(RowFrame& frame, const Stream& stream);
  /// The same for an open store, whose maps device work fills as sentences arrive; without scans.
  void upload_store(const RowTable& table, const Stream& stream);
  /// Copies the rows of step-time domains.
  void upload_step(const RowTable& table, const Stream& stream);

  /// All rows, with bounds on the live rows of each domain. Scans are at their first iteration.
  DeviceRows rows(std::span<const std::int32_t> live_bounds) const;

  /// Iterations of a scan in this batch.
  std::int64_t iterations(DomainId scan) const {
    return static_cast<std::int64_t>(scan_begin_[scan.index].size()) - 1;
  }
  /// The first row of an iteration, among the rows of all iterations of a scan.
  std::int32_t iteration_begin(DomainId scan, std::int64_t t) const {
    return scan_begin_[scan.index][static_cast<std::size_t>(t)];
  }
  /// A bound on the rows of iteration t, rounded so that few bounds occur.
  std::int32_t iteration_bound(DomainId scan, std::int64_t t) const;
  /// Moves a scan in `rows`, a result of rows(), to iteration t.
  void set_iteration(DeviceRows& rows, DomainId scan, std::int64_t t) const;

 private:
  using Array = StagedInts::Array;
  struct DomainArrays {
    Array counts, positions, previous;
  };
  struct MapArrays {
    Array index, segments;
  };

  StagedInts& block(BindingTime time);
  void place_domain(DomainId id, const Layout& layout);
  void place_map(MapId id, const Layout& layout);
  void point_at_arrays(const Layout& layout);
  void fill_domain(DomainId id, const RowTable& table);
  void fill_map(MapId id, const RowTable& table);
  void fill_scan(DomainId id, RowFrame& frame);

  Graph graph_;  // declarations only
  std::optional<StagedInts> source_, step_;
  std::vector<DomainArrays> domains_;
  std::vector<MapArrays> maps_;
  DeviceRows rows_;
  std::vector<Array> inputs_;
  /// By scan: the first row of each iteration, and the number of rows.
  std::vector<std::vector<std::int32_t>> scan_begin_;
};

}  // namespace fuselage::cuda
