#include "base/files/mapped_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/files/lazy_pages.h"
#include "base/files/open_file.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

Pages owned(void* pages, std::size_t bytes) {
  return {static_cast<std::byte*>(pages), [bytes](std::byte* p) { ::munmap(p, bytes); }};
}

}  // namespace

bool pages_are_lazy() { return true; }

Pages allocate_pages(std::size_t bytes) {
  const std::size_t alignment = bytes < kHugePage ? 1 : kHugePage;
  const std::size_t reserved = std::max<std::size_t>(bytes, 1) + alignment - 1;
  void* pages = reserved < bytes ? MAP_FAILED
                                 : ::mmap(nullptr, reserved, PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    throw Error(fmt::format("cannot get {} bytes of memory: {}", bytes, std::strerror(ENOMEM)));
  // The pages outside of the aligned block are never touched, so they cost nothing.
  const Pages all = owned(pages, reserved);
  const auto address = reinterpret_cast<std::uintptr_t>(pages);
  const std::size_t skipped = (alignment - address % alignment) % alignment;
  // Without huge pages the system uses small ones.
  if (bytes >= kHugePage) ::madvise(all.get() + skipped, bytes, MADV_HUGEPAGE);
  return {all, all.get() + skipped};
}

void give_back_pages(std::byte* block, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t before = (page - reinterpret_cast<std::uintptr_t>(block) % page) % page;
  if (bytes < before + page) return;
  ::madvise(block + before, (bytes - before) / page * page, MADV_DONTNEED);
}

void give_back_mapped(std::string_view bytes) {
  give_back_pages(reinterpret_cast<std::byte*>(const_cast<char*>(bytes.data())), bytes.size());
}

MappedFile map_file(const std::string& path) {
  const Descriptor file = open_without_waiting(path);
  if (file.get() < 0) throw Error(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    throw Error(fmt::format("cannot read {}: it is {}, a file is needed", path,
                            S_ISDIR(status.st_mode) ? "a directory" : "no regular file"));
  const auto size = static_cast<std::size_t>(status.st_size);
  // An empty file cannot be mapped.
  if (size == 0) return {};
  void* pages = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.get(), 0);
  if (pages == MAP_FAILED)
    throw Error(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  return {owned(pages, size), size};
}

Pages map_shared(const Descriptor& file, std::size_t bytes) {
  void* pages = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.get(), 0);
  if (pages == MAP_FAILED) return nullptr;
  // One call reads all pages. A system without MADV_POPULATE_READ reads them on access.
  ::madvise(pages, bytes, MADV_POPULATE_READ);
  return owned(pages, bytes);
}

}  // namespace fuselage
