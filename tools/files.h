#pragma once

#include <chrono>
#include <cstdint>
#include <fstream>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace fuselage {

/// A text to read: a file, or standard input for "-" and "stdin".
class InputFile {
 public:
  /// Throws Error with the path and the system's reason when it cannot be opened.
  explicit InputFile(const std::string& path);

  std::istream& stream() { return *stream_; }

  /// Waits up to `timeout` until reading would not block; false: it still would.
  bool ready(std::chrono::milliseconds timeout) const;

  /// Its size where that is known, 0 for a pipe or terminal.
  std::uint64_t size_bytes() const { return size_bytes_; }

 private:
  std::ifstream file_;
  std::istream* stream_;
  bool is_standard_ = false;
  std::uint64_t size_bytes_ = 0;
};

/// A text to write: a file, or standard output for "-" and "stdout". Nothing that is lost goes
/// unnoticed: every failure to write is an Error with the path and the system's reason.
class OutputFile {
 public:
  /// Opens, and empties, the file. Throws Error when it is one of `inputs`, which are paths, or
  /// names of standard input as InputFile takes them.
  explicit OutputFile(const std::string& path, const std::vector<std::string>& inputs = {});
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// True when a person sees what is written.
  bool is_terminal() const;

  /// Writes at once, all of `text`.
  void write(std::string_view text);

  /// Closes; to be called at the end, since a late failure shows only here.
  void close();

 private:
  [[noreturn]] void fail() const;

  std::string name_;
  int fd_;
};

/// Writes on standard error. What cannot be written there is lost: there is no place left to tell
/// it.
void write_diagnostic(std::string_view text);

/// Makes sure that no file which is opened later takes the place of a closed standard stream.
void reserve_standard_streams();

}  // namespace fuselage
