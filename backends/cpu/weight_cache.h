#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/content_hash.h"
#include "base/mapped_memory.h"

namespace fuselage::cpu {

/// What a cache has: null without the file, and a note when the user should know why.
struct CachedBytes {
  Pages bytes;
  std::string note;
};

/// A file that holds the bytes of a WeightRegion behind a header of one page, so that processes
/// which would make the same region share one copy of it and need not make it.
class WeightCache {
 public:
  /// The file of what `content` stands for, which is all that the bytes depend on.
  WeightCache(const std::string& directory, const ContentHash& content);

  const std::string& path() const { return path_; }

  /// Maps the file's bytes, `size` of them. A file that is not what store() writes is passed over.
  CachedBytes find(std::size_t size) const;

  /// Writes the file and maps it, so that what was written from can be given up. A process that
  /// does the same at once is not disturbed, nor is one that has mapped the file before.
  CachedBytes store(std::string_view bytes) const;

  /// Bytes of a file's header.
  static constexpr std::size_t kHeaderBytes = 4096;

  /// What is wrong with a file of these bytes; empty for one with `size` bytes behind the header.
  /// Looks at the header alone.
  std::string problem_of(std::string_view file, std::size_t size) const;

 private:
  std::string header(std::size_t size) const;

  std::string path_;
  std::array<std::uint64_t, 2> key_;
};

}  // namespace fuselage::cpu
