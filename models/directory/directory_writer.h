#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/files/descriptor.h"

namespace fuselage {

/// Writes a directory atomically. Files are written to a temporary directory beside the target,
/// which commit() renames; without commit() the destructor removes it. A killed process leaves its
/// directory behind, which the next writer of the same target removes.
class DirectoryWriter {
 public:
  /// Makes the temporary directory and the missing parents of `target`. Throws Error with the
  /// system's reason.
  explicit DirectoryWriter(const std::string& target);
  ~DirectoryWriter();
  DirectoryWriter(const DirectoryWriter&) = delete;
  DirectoryWriter& operator=(const DirectoryWriter&) = delete;

  /// The path at which to write `file`.
  std::string path_of(std::string_view file) const;

  /// Moves the directory to `target`. A directory there is exchanged, in one step if the file
  /// system supports it, and removed. Throws Error with the system's reason; the target is then
  /// unchanged.
  void commit();

 private:
  std::string target_;             ///< without symbolic links
  std::string temporary_;          ///< empty: nothing to remove
  Descriptor lock_{-1};            ///< the temporary directory, locked while its process lives
  std::vector<std::string> made_;  ///< parents, the outermost first
};

}  // namespace fuselage
