#pragma once

#include <chrono>
#include <cstdint>
#include <istream>
#include <memory>
#include <string>
#include <vector>

namespace fuselage {

/// True for the names of standard input, "-" and "stdin".
bool is_standard_input(const std::string& path);

/// Texts that are read one after another as one: files, or standard input. Those whose names end
/// in .gz or .zst are expanded. A line ends where its file ends.
class InputFiles {
 public:
  /// Throws Error with the path and the system's reason when a file is not there, may not be read
  /// or is a directory. Files are opened when their turn comes.
  explicit InputFiles(std::vector<std::string> paths);
  ~InputFiles();
  InputFiles(const InputFiles&) = delete;
  InputFiles& operator=(const InputFiles&) = delete;

  /// Throws Error in the place of what cannot be read or expanded: with the path, the system's
  /// reason, or where the compressed bytes are damaged or cut off. All lines before can be read.
  std::istream& stream() { return stream_; }

  /// Waits up to `timeout` until reading would not block; false: it still would.
  bool ready(std::chrono::milliseconds timeout) const;

  /// Their size where that is known, 0 for pipes, terminals and compressed files.
  std::uint64_t size_bytes() const { return size_bytes_; }

 private:
  class Buffer;

  std::unique_ptr<Buffer> buffer_;
  std::istream stream_;
  std::uint64_t size_bytes_ = 0;
};

}  // namespace fuselage
