#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/compression.h"

namespace fuselage {

/// A text to write: a file, or standard output for "-" and "stdout". A file whose name ends in .gz
/// or .zst is compressed. Nothing that is lost goes unnoticed: every failure to write is an Error
/// with the path and the system's reason, but for a pipe whose reader has gone, see fail_to_write.
class OutputFile {
 public:
  /// Opens the file. Throws Error, and leaves it as it is, when it is one of `inputs`, which are
  /// paths, or names of standard input; empties it otherwise. Standard output may be one of them,
  /// too: `translate < text >> text`.
  explicit OutputFile(const std::string& path, const std::vector<std::string>& inputs = {});

  /// Without close(), as after an error, a compressed file lacks its end, but all that was written
  /// can be expanded.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// True when a person sees what is written.
  bool is_terminal() const;

  /// Writes all of `text`: at once, or when there is enough of it to be compressed.
  void write(std::string_view text);

  /// Closes; to be called at the end, since a late failure shows only here.
  void close();

 private:
  void open(const std::string& path);
  void compress(std::string_view text, Compressor::Rest rest);
  void write_bytes(std::string_view bytes);

  std::string name_;
  int fd_;
  std::unique_ptr<Compressor> compressor_;  ///< null: the file is not compressed
  std::string compressed_;                  ///< bytes that are not yet written
};

/// For a write to `name` that has failed, and has set errno: throws Error with the system's reason.
/// When the reader of a pipe has gone, ends the process in silence, as the signal SIGPIPE does.
[[noreturn]] void fail_to_write(std::string_view name);

/// Writes on standard error. What cannot be written there is lost: there is no place left to tell
/// it.
void write_diagnostic(std::string_view text);

/// Makes sure that no file which is opened later takes the place of a closed standard stream.
void reserve_standard_streams();

}  // namespace fuselage
