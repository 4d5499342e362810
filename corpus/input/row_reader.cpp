#include "corpus/input/row_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fuselage/base/error.h"
#include "text/lines.h"

namespace fuselage {

/// Reads bytes of the open file; false at its end.
bool RowReader::fill() {
  const std::size_t size = file_->read(bytes_);
  rest_ = {bytes_.data(), size};
  return size > 0;
}

void RowReader::append(std::string& row, std::string_view part) const {
  if (row.size() + part.size() > limit_.bytes && !limit_.cut)
    throw Error(fmt::format("{}: the line has more than {} bytes", place(), limit_.bytes));
  row.append(part.substr(0, limit_.bytes + 1 - row.size()));
}

bool RowReader::next(std::string& row) {
  row.clear();
  bool begun = false;
  while (true) {
    if (!file_) {
      if (next_ == paths_.size()) return false;
      file_.emplace(paths_[next_++]);
      row_of_file_ = 0;
    }
    if (rest_.empty() && !fill()) {
      bytes_of_closed_ += file_->bytes_read();
      file_.reset();
      if (begun && !(begins_file() && row == kByteOrderMark)) break;
      begun = false;
      row.clear();
      continue;
    }
    if (!std::exchange(begun, true)) ++row_of_file_;
    const std::size_t end = rest_.find('\n');
    append(row, rest_.substr(0, end));
    rest_.remove_prefix(std::min(end, rest_.size()));
    if (end == std::string_view::npos) continue;
    rest_.remove_prefix(1);
    break;
  }
  if (begins_file()) drop_byte_order_mark(row);
  return true;
}

std::string RowReader::place() const {
  return fmt::format("{}, line {}", input_name(paths_[next_ - 1]), row_of_file_);
}

bool RowReader::ready(std::chrono::milliseconds timeout) const {
  return !rest_.empty() || !file_ || file_->ready(timeout);
}

std::uint64_t RowReader::bytes_read() const {
  return bytes_of_closed_ + (file_ ? file_->bytes_read() : 0);
}

}  // namespace fuselage
