#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/exported.h"
#include "fuselage/backends/place_limits.h"

namespace fuselage {

/// Hands out the rows of a store of fixed size in pages, so that no row moves and freed rows serve
/// any sentence. The rows that were freed last are handed out first: they are in the cache.
class FUSELAGE_EXPORTED RowPages {
 public:
  RowPages() = default;
  /// `rows` rows from `first` on, in pages of `page` rows.
  RowPages(std::int64_t first, std::int64_t rows, std::int64_t page);

  /// Adds `count` rows to `rows`. Precondition: enough pages are free.
  void take(std::int64_t count, std::vector<std::int32_t>& rows);
  /// Frees the rows of whole pages, as take() gave them in one call.
  void give(std::span<const std::int32_t> rows);

  std::int64_t free_rows() const { return static_cast<std::int64_t>(free_.size()) * page_; }

 private:
  std::int64_t page_ = 1;
  std::vector<std::int32_t> free_;  ///< first rows of free pages, the next one last
};

/// The rows of the sentences in a store: pages for source tokens and shortlists, and a row for each
/// word of a hypothesis.
class PlacedRows {
 public:
  /// `pages` has the pages of each domain.
  PlacedRows(const PlaceLimits& limits, std::vector<RowPages> pages);

  /// Takes `count` rows of a domain for a place.
  void take_rows(std::size_t domain, std::int32_t place, std::int64_t count);
  std::span<const std::int32_t> rows(std::size_t domain, std::int32_t place) const {
    return rows_[domain][static_cast<std::size_t>(place)];
  }
  /// Takes a row for a word. Rows below PlaceLimits::sentences × hypotheses are never given: they
  /// hold the new rows of a step.
  std::int32_t take_word(std::int32_t place);

  /// Frees all rows of a place.
  void release(std::int32_t place);

 private:
  std::vector<RowPages> pages_;                               ///< by domain
  std::vector<std::vector<std::vector<std::int32_t>>> rows_;  ///< by domain and place
  RowPages word_rows_;
  std::vector<std::vector<std::int32_t>> words_;  ///< by place
};

}  // namespace fuselage
