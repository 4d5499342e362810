#include "backends/placed_rows.h"

#include <utility>

#include "fuselage/base/error.h"

namespace fuselage {

RowPages::RowPages(std::int64_t first, std::int64_t rows, std::int64_t page) : page_(page) {
  for (std::int64_t at = rows / page; at-- > 0;)
    free_.push_back(static_cast<std::int32_t>(first + at * page));
}

void RowPages::take(std::int64_t count, std::vector<std::int32_t>& rows) {
  check(count <= free_rows(), "a store of rows is full");
  for (std::int64_t taken = 0; taken < count; ++taken) {
    if (taken % page_ == 0) {
      rows.push_back(free_.back());
      free_.pop_back();
    } else {
      rows.push_back(rows.back() + 1);
    }
  }
}

void RowPages::give(std::span<const std::int32_t> rows) {
  for (std::size_t at = 0; at < rows.size(); at += static_cast<std::size_t>(page_))
    free_.push_back(rows[at]);
}

PlacedRows::PlacedRows(const PlaceLimits& limits, std::vector<RowPages> pages)
    : pages_(std::move(pages)),
      rows_(pages_.size(),
            std::vector<std::vector<std::int32_t>>(static_cast<std::size_t>(limits.sentences))),
      word_rows_(std::int64_t{limits.sentences} * limits.hypotheses, limits.words, 1),
      words_(static_cast<std::size_t>(limits.sentences)) {}

void PlacedRows::take_rows(std::size_t domain, std::int32_t place, std::int64_t count) {
  pages_[domain].take(count, rows_[domain][static_cast<std::size_t>(place)]);
}

std::int32_t PlacedRows::take_word(std::int32_t place) {
  std::vector<std::int32_t>& rows = words_[static_cast<std::size_t>(place)];
  word_rows_.take(1, rows);
  return rows.back();
}

void PlacedRows::release(std::int32_t place) {
  const auto at = static_cast<std::size_t>(place);
  for (std::size_t domain = 0; domain < pages_.size(); ++domain) {
    pages_[domain].give(rows_[domain][at]);
    rows_[domain][at].clear();
  }
  word_rows_.give(words_[at]);
  words_[at].clear();
}

}  // namespace fuselage
