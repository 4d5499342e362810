#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "corpus/input/input_file.h"

namespace fuselage {

/// Reads the rows of texts, one after another: lines without their line breaks. The end of a file
/// ends a row, and a byte order mark at the beginning of a file is left out.
class RowReader {
 public:
  /// Longer rows are cut to one byte more, so that a caller can detect them, or are errors.
  struct Limit {
    std::size_t bytes;
    bool cut;
  };

  /// A file is opened when the ones before have been read.
  RowReader(std::vector<std::string> paths, Limit limit)
      : paths_(std::move(paths)), limit_(limit) {}

  /// Reads the next row; false at the end. Throws the errors of InputFile, after all rows before
  /// the damage.
  bool next(std::string& row);

  /// Whether the last row is the first of its file.
  bool begins_file() const { return row_of_file_ == 1; }

  /// "FILE, line N" of the last row.
  std::string place() const;

  /// Waits up to `timeout` until reading would not block; false if it still would.
  bool ready(std::chrono::milliseconds timeout) const;

  /// Bytes of the files, before they are expanded.
  std::uint64_t bytes_read() const;

 private:
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 16;

  bool fill();
  void append(std::string& row, std::string_view part) const;

  std::vector<std::string> paths_;
  Limit limit_;
  std::size_t next_ = 0;  ///< of the paths
  std::optional<InputFile> file_;
  std::uint64_t bytes_of_closed_ = 0;
  std::size_t row_of_file_ = 0;  ///< from 1
  std::array<char, kBufferBytes> bytes_;
  std::string_view rest_;  ///< of the bytes
};

}  // namespace fuselage
