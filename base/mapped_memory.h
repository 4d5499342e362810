#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/descriptor.h"

namespace fuselage {

/// Memory of the system's own pages, given back with the last owner.
using Pages = std::shared_ptr<std::byte[]>;

/// `bytes` zeros. From 2 MiB on they begin at a multiple of that, and lie in huge pages where the
/// system has some to give. Throws Error when there is no room.
Pages allocate_pages(std::size_t bytes);

/// Gives those pages back to the system that lie within a block of memory, of whatever allocator,
/// whose content nobody needs any more.
void give_back_pages(std::byte* block, std::size_t bytes);

/// The content of a file, which is read when it is looked at and shared by all processes that map
/// it. What is written to it here changes neither the file nor what others see.
struct MappedFile {
  Pages bytes;
  std::size_t size = 0;
};

/// Maps a regular file. It must not become shorter while it is mapped, which
/// write_file_atomically never makes it. Throws Error with the path and the system's reason.
MappedFile map_file(const std::string& path);

/// The first `bytes` bytes of an open file, to be read only, in memory that all processes share
/// which map the file. They are read at once, as far as the system can. Null, with errno set, where
/// it cannot be mapped. The file must not become shorter while it is mapped.
Pages map_shared(const Descriptor& file, std::size_t bytes);

}  // namespace fuselage
