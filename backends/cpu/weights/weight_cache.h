#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/content_hash.h"
#include "base/descriptor.h"
#include "base/mapped_memory.h"

namespace fuselage::cpu {

/// What a cache has: null without the file, and a note when the user should know why.
struct CachedBytes {
  Pages bytes;
  std::string note;
  /// The file is not for this process to replace: it may be another user's.
  bool refused = false;
};

/// A file that holds the bytes of a WeightRegion behind a header of one page, so that processes
/// which would make the same region share one copy of it and need not make it. Its content is
/// checked by a hash each time that it is mapped. Only a regular file is taken that belongs to the
/// effective user of this process and that nobody else may write.
class WeightCache {
 public:
  /// Most bytes of the cached weights in a directory.
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{2} << 30;

  /// The file of what `content` stands for, which is all that the bytes depend on.
  WeightCache(std::string directory, const ContentHash& content,
              std::uint64_t max_bytes = kMaxBytes);

  const std::string& path() const { return path_; }

  /// Maps the file's bytes, `size` of them, and marks the file as used now. A file that is not what
  /// store() writes is passed over.
  CachedBytes find(std::size_t size) const;

  /// Writes the file and maps it, so that what was written from can be given up. A process that
  /// does the same at once is not disturbed, nor is one that has mapped the file before. Then
  /// removes the files of the directory that were used least recently, beyond `max_bytes`.
  CachedBytes store(std::string_view bytes) const;

  /// Bytes of a file's header.
  static constexpr std::size_t kHeaderBytes = 4096;

  /// What is wrong with a file of these bytes; empty for one with `size` bytes behind the header.
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
