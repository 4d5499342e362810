// Memory and files by the calls of Windows. Pages are lazy: a page that is committed takes memory
// when it is written, and a page of a view when it is read.
#include "base/files/mapped_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <system_error>

#include "base/files/lazy_pages.h"
#include "fuselage/base/error.h"
#include "windows/base/wide_path.h"
#include "windows/base/windows.h"

namespace fuselage {
namespace {

struct CloseHandle {
  void operator()(void* handle) const { ::CloseHandle(handle); }
};
using Handle = std::unique_ptr<void, CloseHandle>;

std::string last_reason() {
  return std::system_category().message(static_cast<int>(::GetLastError()));
}

Handle open_to_map(const std::string& path) {
  // As on other systems, the file may be replaced while it is open.
  void* const file =
      ::CreateFileW(wide_path(path).c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE,
                    nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE)
    throw Error(fmt::format("cannot open {}: {}", path, last_reason()));
  return Handle(file);
}

}  // namespace

bool pages_are_lazy() { return true; }

Pages allocate_pages(std::size_t bytes) {
  // Large pages need a right that users do not have.
  void* const pages = ::VirtualAlloc(nullptr, std::max<std::size_t>(bytes, 1),
                                     MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
  if (pages == nullptr)
    throw Error(fmt::format("cannot get {} bytes of memory: {}", bytes, last_reason()));
  return {static_cast<std::byte*>(pages), [](std::byte* p) { ::VirtualFree(p, 0, MEM_RELEASE); }};
}

void give_back_pages(std::byte* block, std::size_t bytes) {
  SYSTEM_INFO system;
  ::GetSystemInfo(&system);
  const std::size_t page = system.dwPageSize;
  const std::size_t before = (page - reinterpret_cast<std::uintptr_t>(block) % page) % page;
  if (bytes < before + page) return;
  ::VirtualAlloc(block + before, (bytes - before) / page * page, MEM_RESET, PAGE_READWRITE);
}

void give_back_mapped(std::string_view bytes) {
  // Pages that are not locked leave the working set.
  ::VirtualUnlock(const_cast<char*>(bytes.data()), bytes.size());
}

MappedFile map_file(const std::string& path) {
  const Handle file = open_to_map(path);
  LARGE_INTEGER size;
  if (::GetFileType(file.get()) != FILE_TYPE_DISK || ::GetFileSizeEx(file.get(), &size) == 0)
    throw Error(fmt::format("cannot read {}: it is no regular file, a file is needed", path));
  // An empty file cannot be mapped.
  if (size.QuadPart == 0) return {};
  const Handle mapping(::CreateFileMappingW(file.get(), nullptr, PAGE_WRITECOPY, 0, 0, nullptr));
  void* const view = mapping ? ::MapViewOfFile(mapping.get(), FILE_MAP_COPY, 0, 0, 0) : nullptr;
  if (view == nullptr) throw Error(fmt::format("cannot read {}: {}", path, last_reason()));
  return {{static_cast<std::byte*>(view), [](std::byte* p) { ::UnmapViewOfFile(p); }},
          static_cast<std::size_t>(size.QuadPart)};
}

Pages map_shared(const Descriptor&, std::size_t) { return nullptr; }

}  // namespace fuselage
