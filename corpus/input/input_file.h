#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/files/compression.h"

namespace fuselage {

/// Whether `path` is a name of standard input, "-" or "stdin".
bool is_standard_input(const std::string& path);

/// The name of an input in messages.
std::string input_name(const std::string& path);

/// Throws Error unless the file can be read. Returns its size in bytes if it is a regular file.
std::optional<std::uint64_t> check_readable(const std::string& path);

/// The bytes of a file or of standard input, expanded if its name ends in .gz or .zst.
class InputFile {
 public:
  /// Throws Error with the path and the system's reason.
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// Reads up to `output.size()` bytes and returns their number; 0 at the end of the file. Throws
  /// Error with the path at the first byte that cannot be read or expanded.
  std::size_t read(std::span<char> output);

  /// Waits up to `timeout` until reading would not block; false if it still would.
  bool ready(std::chrono::milliseconds timeout) const;

  /// Bytes of the file, before they are expanded.
  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 16;

  std::size_t expand(std::span<char> output);
  std::size_t read_bytes(std::span<char> output);

  std::string name_;
  int fd_;
  std::unique_ptr<Expander> expander_;  ///< null: the file is not compressed
  std::array<char, kBufferBytes> compressed_bytes_;
  std::string_view compressed_;  ///< bytes that are not yet expanded
  std::uint64_t bytes_read_ = 0;
};

}  // namespace fuselage
