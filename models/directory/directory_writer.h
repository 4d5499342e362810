#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fuselage {

/// A directory that appears as a whole or not at all. Its files are written to a temporary
/// directory beside it, which commit() renames; without commit() the destructor removes it.
class DirectoryWriter {
 public:
  /// Makes the temporary directory, and the parents that `target` lacks. Throws Error with the
  /// system's reason.
  explicit DirectoryWriter(const std::string& target);
  ~DirectoryWriter();
  DirectoryWriter(const DirectoryWriter&) = delete;
  DirectoryWriter& operator=(const DirectoryWriter&) = delete;

  /// Where to write the file of that name.
  std::string path_of(std::string_view file) const;

  /// Puts the directory in the place of what is at `target`: nothing, or a directory, which is
  /// exchanged in one step where the file system can do that, and removed. Throws Error with the
  /// system's reason, and then leaves the target as it was.
  void commit();

 private:
  std::string target_;             ///< without symbolic links
  std::string temporary_;          ///< empty: there is nothing to remove
  std::vector<std::string> made_;  ///< parents, the outermost first
};

}  // namespace fuselage
