#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/compression.h"
#include "tools/options/before_signal.h"

namespace fuselage {

/// An output text: a file, or standard output for "-" and "stdout". A file whose name ends in .gz
/// or .zst is compressed, and ends as a valid stream also when a signal ends the process. Every
/// failed write is an Error with the path and the system's reason, except for a closed pipe; see
/// fail_to_write.
class OutputFile {
 public:
  /// Opens the file and empties it. Throws Error, and leaves the file unchanged, when it is one of
  /// `inputs`, paths or names of standard input. Standard output is checked too:
  /// `translate < text >> text`.
  explicit OutputFile(const std::string& path, const std::vector<std::string>& inputs = {});

  /// Without close(), as after an error, the end of a compressed file is missing, but all written
  /// text can be expanded.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Whether the output is a terminal.
  bool is_terminal() const;

  /// Writes `text`, whole lines. Compressed output is buffered.
  void write(std::string_view text);

  /// Ends the output and closes the file. Must be called at the end: late failures show only here.
  void close();

 private:
  void open(const std::string& path);
  void compress(std::string_view text, Compressor::Rest rest);
  void write_bytes(std::string_view bytes);
  void end_at_signal();

  std::string name_;
  int fd_;
  std::unique_ptr<Compressor> compressor_;  ///< null: the file is not compressed
  std::string compressed_;                  ///< compressed bytes that are not yet written
  std::timed_mutex mutex_;                  ///< of fd_ and the compressor
  std::unique_ptr<BeforeSignal> signals_;   ///< null: the file is not compressed
};

/// Throws Error with the system's reason, in errno, for a failed write to `name`. For a closed pipe
/// ends the process without a message, as the signal SIGPIPE does.
[[noreturn]] void fail_to_write(std::string_view name);

/// Writes to standard error. Failures are ignored, since they cannot be reported.
void write_diagnostic(std::string_view text);

/// Opens closed standard streams, so that no file that is opened later gets their descriptors.
void reserve_standard_streams();

}  // namespace fuselage
