#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/files/descriptor.h"

namespace fuselage {

/// Memory mapped from the system in whole pages, unmapped with the last owner.
using Pages = std::shared_ptr<std::byte[]>;

/// Allocates `bytes` zeroed bytes. Blocks of 2 MiB or more are aligned to 2 MiB and use huge pages
/// if available. Throws Error if memory is exhausted.
Pages allocate_pages(std::size_t bytes);

/// Returns to the system the pages that lie entirely within a block of memory, from any allocator,
/// whose content is no longer needed.
void give_back_pages(std::byte* block, std::size_t bytes);

/// Gives back the pages of a file within `bytes`, part of a mapping that nothing was written to;
/// they are read again when they are needed.
void give_back_mapped(std::string_view bytes);

/// The content of a file, read on access and shared by all processes that map it. Writes through
/// this mapping change neither the file nor other mappings.
struct MappedFile {
  Pages bytes;
  std::size_t size = 0;
};

/// Maps a regular file. The file must not be truncated while it is mapped; write_file_atomically
/// never truncates one. Throws Error with the path and the system's reason.
MappedFile map_file(const std::string& path);

/// Maps the first `bytes` bytes of an open file read-only, shared by all processes that map the
/// file. Prefetches them if the system can. Returns null with errno set if it cannot be mapped. The
/// file must not be truncated while it is mapped.
Pages map_shared(const Descriptor& file, std::size_t bytes);

}  // namespace fuselage
