#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "backends/cuda/device/rows/device_rows.h"
#include "backends/cuda/device/rows/live_hypotheses.h"
#include "backends/cuda/device/rows/row_table_kernels.h"
#include "backends/cuda/device/runtime/memory.h"
#include "fuselage/graph/graph.h"

namespace fuselage::cuda {

/// RowFrame::begin_step() on the device: fills the step-time part of a DeviceRows from the live
/// hypotheses of a search, for the domains and maps of any graph.
class RowTables {
 public:
  /// `graph` declares the domains and maps. Throws Error for a word map of hypotheses that is not
  /// partial: in the first step a hypothesis has no word.
  explicit RowTables(const Graph& graph);

  /// Bounds on a batch.
  struct Bounds {
    std::int32_t sentences = 0;
    std::int32_t hypotheses = 0;  ///< live at a time
    std::int64_t words = 0;       ///< words of all hypotheses that live at a time
  };

  /// Grows the memory for these bounds. Returns true if addresses changed, which makes captured
  /// launches invalid. After an Error no memory is allocated.
  bool reserve(const Bounds& bounds);

  /// Begins a batch, or an empty store with `pages`: drops all prefix rows.
  void begin(cudaStream_t stream, const WordPages& pages = {});

  /// Fills the counts, indexes, segments, positions and previous rows of all step-time domains and
  /// maps, once per step. Null pointers are skipped. Reads the source-time part of `rows`. Can be
  /// captured.
  void enqueue(cudaStream_t stream, const DeviceRows& rows, const LiveHypotheses& live) const;

  /// Entries of the smallest vocabulary in which words of hypotheses are looked up.
  std::int32_t vocabulary() const { return vocabulary_; }

 private:
  struct RowDomain {
    DomainId id;
    DomainKind kind;
  };
  /// A map from hypotheses or parents.
  struct RowIndex {
    MapId id;
    MapKind kind;
    DomainKind from;
    std::int32_t offset;  ///< neighbour, position
    std::int32_t last;    ///< position: the last entry of the table
  };
  /// A map from the pairs of a domain with prefixes, by their distance.
  struct DistanceMap {
    MapId id;
    DomainId pairs;
    std::size_t begin;  ///< of its table in distance_entries_
    std::int32_t limit;
  };
  struct Pairs {
    DomainId id;
    MapId left, right;
    MapId tokens;  ///< from right rows to sentences; invalid if right rows are prefixes
    std::int32_t window = PairArrays::kNoWindow;
    bool of_parents = false;
  };

  struct Capacity {
    std::size_t sentences = 0, hypotheses = 0, words = 0;
  };

  void add_pairs(const Graph& graph, DomainId id);
  void add_index(const Graph& graph, MapId id);
  void add_distances(const Graph& graph, MapId id);
  const Pairs& pairs_of(DomainId id) const;
  /// Addresses in memory_.
  RowScratch scratch() const;
  void list_row_arrays(const DeviceRows& rows, std::vector<RowArrays>& all) const;
  void list_pairs(const DeviceRows& rows, std::vector<RowArrays>& all) const;

  std::vector<RowDomain> row_domains_;
  std::vector<RowIndex> indexes_;
  std::vector<Pairs> pairs_;
  std::vector<DistanceMap> distance_maps_;
  std::vector<std::int32_t> distance_entries_;
  DeviceMemory distances_;
  bool keeps_ancestors_ = false;  ///< pairs or neighbours need the words of hypotheses
  std::int32_t vocabulary_;

  WordPages pages_;
  Capacity capacity_;
  GrowingArray<std::int32_t> memory_;
};

}  // namespace fuselage::cuda
