#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/cuda/device/rows/device_rows.h"
#include "backends/cuda/device/rows/row_table_kernels.h"
#include "backends/cuda/device/runtime/staged_ints.h"
#include "backends/cuda/device/runtime/stream.h"
#include "backends/placed_rows.h"
#include "fuselage/backends/place_limits.h"
#include "fuselage/backends/row_frame.h"

namespace fuselage::cuda {

/// The rows of the sentences in a store, in device memory, for RowTables: lists of source rows, and
/// pages for the words of hypotheses, which are all taken when a sentence begins.
class PlaceTables {
 public:
  /// The limits that a store needs so that each place may have a part of a page.
  static PlaceLimits with_pages(PlaceLimits limits);

  /// `graph` declares domains and maps; `limits` are those of with_pages(). All streams must be
  /// idle. Throws OutOfMemory.
  PlaceTables(const Graph& graph, const PlaceLimits& limits);

  /// Takes pages for `words` words of a place that has none.
  void take_words(std::int32_t place, std::int64_t words);
  /// Frees the pages of a place.
  void release(std::int32_t place);
  /// Copies the tables of all places, with the source rows of `frame`.
  void upload(const RowFrame& frame, const Stream& stream);

  /// Has maps from source rows list their rows by sentence.
  void add_to(DeviceRows& rows) const;
  WordPages pages() const;

 private:
  /// Lists of all places, one after the other.
  struct Lists {
    StagedInts::Array begin, items;
  };
  struct Source {
    DomainId domain;
    MapId map;  ///< to its sentences
    Lists rows;
  };

  Lists add(std::int32_t places, std::int64_t items);
  template <typename ListOf>
  void fill(const Lists& lists, const ListOf& list_of);

  StagedInts arrays_;
  std::vector<Source> sources_;
  Lists words_;
  RowPages free_words_;
  std::vector<std::vector<std::int32_t>> pages_;  ///< by place: first rows
  std::vector<std::int32_t> begin_, items_;       ///< of lists that are being filled
};

}  // namespace fuselage::cuda
