#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/files/content_hash.h"
#include "base/files/descriptor.h"
#include "base/files/mapped_memory.h"

namespace fuselage::cpu {

/// The cached bytes, null if the file is not usable, and a note if the user should know the reason.
struct CachedBytes {
  Pages bytes;
  std::string note;
  /// This process must not replace the file: it may belong to another user.
  bool refused = false;
};

/// A file with the bytes of a WeightRegion after a header of one page. Processes that need the same
/// region map it instead of making it. Its hash is checked whenever it is mapped. Only a regular
/// file is accepted that belongs to the effective user and that no other user may write.
class WeightCache {
 public:
  /// Maximum bytes of cached weights in a directory.
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{2} << 30;

  /// `content` is the hash of everything that the bytes depend on; it gives the name of the file.
  WeightCache(std::string directory, const ContentHash& content,
              std::uint64_t max_bytes = kMaxBytes);

  const std::string& path() const { return path_; }

  /// Maps the `size` bytes of the file and updates its time of use. Ignores a file that store()
  /// would not write.
  CachedBytes find(std::size_t size) const;

  /// Writes the file and maps it, so that the caller can free `bytes`. Safe against other processes
  /// that store or have mapped the same file. Then removes the least recently used files of the
  /// directory beyond `max_bytes`.
  CachedBytes store(std::string_view bytes) const;

  /// Size of the header in bytes.
  static constexpr std::size_t kHeaderBytes = 4096;

  /// The reason why `file` is invalid; empty for a valid file with `size` bytes after the header.
  std::string problem_of(std::string_view file, std::size_t size) const;

 private:
  std::string header(std::string_view bytes) const;
  CachedBytes map(const Descriptor& file, std::size_t size) const;

  std::string directory_;
  std::string path_;
  std::array<std::uint64_t, 2> key_;
  std::uint64_t max_bytes_;
};

}  // namespace fuselage::cpu
