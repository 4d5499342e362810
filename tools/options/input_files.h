#pragma once

#include <chrono>
#include <cstdint>
#include <istream>
#include <memory>
#include <string>
#include <vector>

#include "corpus/input/input_file.h"

namespace fuselage {

/// The concatenation of input texts: files, or standard input. Files whose names end in .gz or .zst
/// are expanded, and a byte order mark at the beginning of a file is left out. The end of a file
/// ends a line.
class InputFiles {
 public:
  /// Throws Error with the path and the system's reason when a file does not exist, may not be read
  /// or is a directory. A file is opened when the ones before have been read.
  explicit InputFiles(std::vector<std::string> paths);
  ~InputFiles();
  InputFiles(const InputFiles&) = delete;
  InputFiles& operator=(const InputFiles&) = delete;

  /// The text. Reading throws Error with the path at the first byte that cannot be read or
  /// expanded, with the system's reason or the position of the damage. All lines before are read.
  std::istream& stream() { return stream_; }

  /// Waits up to `timeout` until reading would not block; false if it still would.
  bool ready(std::chrono::milliseconds timeout) const;

  /// Total size of the text; 0 if unknown: for pipes, terminals and compressed files.
  std::uint64_t size_bytes() const { return size_bytes_; }

 private:
  class Buffer;

  std::unique_ptr<Buffer> buffer_;
  std::istream stream_;
  std::uint64_t size_bytes_ = 0;
};

}  // namespace fuselage
