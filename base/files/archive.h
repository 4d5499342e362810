#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace fuselage {

/// A file in a ZIP archive. In paths the archive counts as a folder: "model.zip/folder/file".
struct ArchiveMember {
  std::string archive;  ///< path
  std::string name;     ///< in the archive; empty: all of it
};

/// Whether a file begins as a ZIP archive does.
bool is_archive(const std::string& path);

/// The member that a path leads to; nullopt for a path that leads through no archive.
std::optional<ArchiveMember> archive_member(const std::string& path);

/// The content of a member, whose checksum is verified. read_file() does this for all paths. Throws
/// Error with the path for an archive that is damaged, a member that is not there, encrypted or
/// packed otherwise than by deflate, and for more than `max_bytes` bytes.
std::string read_member(const ArchiveMember& member,
                        std::size_t max_bytes = std::numeric_limits<std::size_t>::max());

/// The names of all files in an archive. Throws Error for one that is damaged, or has more than
/// 65,536 members.
std::vector<std::string> member_names(const std::string& archive);

}  // namespace fuselage
