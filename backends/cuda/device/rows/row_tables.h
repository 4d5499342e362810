#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "backends/cuda/device/rows/device_rows.h"
#include "backends/cuda/device/rows/live_rows.h"
#include "backends/cuda/device/rows/row_table_kernels.h"
#include "backends/cuda/device/runtime/growing_array.h"
#include "graph/graph.h"

namespace fuselage::cuda {

/// What RowFrame::begin_step does, on the device: fills in the step-time part of a DeviceRows from
/// the live hypotheses of a search, for the domains and maps of any graph.
class RowTables {
 public:
  /// `graph` declares the domains and maps. Throws Error for a word map of hypotheses that is not
  /// partial: in their first step they have no word.
  explicit RowTables(const Graph& graph);

  /// How large a batch can get.
  struct Bounds {
    std::int32_t sentences = 0;
    std::int32_t hypotheses = 0;  ///< live at once
    std::int64_t words = 0;       ///< of all that are live at once
  };

  /// Makes room, which only grows; true: captured launches are void. Throws Error when memory is
  /// short; then there is none.
  bool reserve(const Bounds& bounds);

  /// Forgets the generated words of an earlier batch.
  void begin(cudaStream_t stream);

  /// Fills in counts, indexes, segments, positions and previous rows of all step-time domains and
  /// maps; null pointers are passed over. What `rows` tells of source-time domains must be there.
  /// To be called once a step, with bounds that hold in it. Can be captured.
  void enqueue(cudaStream_t stream, const DeviceRows& rows, const LiveRows& live) const;

  /// Entries of the smallest vocabulary that the words of hypotheses are looked up in.
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
  };
  struct Pairs {
    DomainId id;
    MapId left, right;
    MapId tokens;  ///< from source tokens or a shortlist on the right; invalid: prefixes
    bool of_parents = false;
  };

  /// Where all is in memory_.
  struct Memory {
    RowScratch scratch{};
    std::int32_t* pairs_begin = nullptr;  ///< of each sentence, for one domain after the other
  };

  struct Room {
    std::size_t sentences = 0, hypotheses = 0, words = 0;
  };

  void add_pairs(const Graph& graph, DomainId id);
  void add_index(const Graph& graph, MapId id);
  Memory memory() const;
  void list_row_arrays(const DeviceRows& rows, std::vector<RowArrays>& all) const;
  void list_pairs(const DeviceRows& rows, std::int32_t* begin, std::vector<RowArrays>& all) const;

  std::vector<RowDomain> row_domains_;
  std::vector<RowIndex> indexes_;
  std::vector<Pairs> pairs_;
  bool has_prefix_pairs_ = false;
  std::int32_t vocabulary_;

  Room room_;
  GrowingArray<std::int32_t> memory_;
};

}  // namespace fuselage::cuda
