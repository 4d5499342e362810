// Memory of WebAssembly grows and is never returned, and its files are read, not mapped.
#include "base/files/mapped_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "fuselage/base/error.h"

namespace fuselage {

Pages allocate_pages(std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  const std::size_t pages = (bytes + kPage - 1) / kPage;
  void* const block = pages * kPage < bytes ? nullptr : std::aligned_alloc(kPage, pages * kPage);
  if (block == nullptr)
    throw Error(fmt::format("cannot get {} bytes of memory: there is not enough", bytes));
  std::memset(block, 0, bytes);
  return {static_cast<std::byte*>(block), [](std::byte* p) { std::free(p); }};
}

void give_back_pages(std::byte*, std::size_t) {}

void give_back_mapped(std::string_view) {}

MappedFile map_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY));
  if (file.get() < 0) throw Error(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    throw Error(fmt::format("cannot read {}: it is no regular file, a file is needed", path));
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return {};
  Pages bytes = allocate_pages(size);
  for (std::size_t at = 0; at < size;) {
    const ssize_t count = ::read(file.get(), bytes.get() + at, size - at);
    if (count <= 0)
      throw Error(fmt::format("cannot read {}: {} of {} bytes could be read", path, at, size));
    at += static_cast<std::size_t>(count);
  }
  return {std::move(bytes), size};
}

Pages map_shared(const Descriptor&, std::size_t) { return nullptr; }

}  // namespace fuselage
