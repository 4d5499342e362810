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

#include "base/files/lazy_pages.h"
#include "fuselage/base/error.h"

namespace fuselage {

bool pages_are_lazy() { return false; }

Pages allocate_pages(std::size_t bytes) {
  // Of a cache line: there are no pages.
  constexpr std::size_t kAlignment = 64;
  const std::size_t lines = (bytes + kAlignment - 1) / kAlignment;
  void* const block =
      lines * kAlignment < bytes ? nullptr : std::aligned_alloc(kAlignment, lines * kAlignment);
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
