#include "base/machine/build_id.h"

#include <elf.h>
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <link.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace fuselage {
namespace {

constexpr std::array<char, 4> kOwnerBytes = {'G', 'N', 'U', '\0'};

struct Search {
  std::uintptr_t address;
  std::string found;
};

std::size_t aligned(std::size_t size, std::size_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

/// The description of the build-ID note among the notes of a segment.
std::string_view build_id_note(std::string_view notes, std::size_t alignment) {
  constexpr std::string_view kOwner(kOwnerBytes.data(), kOwnerBytes.size());
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes.data(), sizeof note);
    const std::size_t content = sizeof note + aligned(note.n_namesz, alignment);
    const std::size_t next = content + aligned(note.n_descsz, alignment);
    if (content + note.n_descsz > notes.size()) break;
    if (note.n_type == NT_GNU_BUILD_ID && notes.substr(sizeof note, note.n_namesz) == kOwner)
      return notes.substr(content, note.n_descsz);
    if (next >= notes.size()) break;
    notes.remove_prefix(next);
  }
  return {};
}

bool holds(const dl_phdr_info& object, std::uintptr_t address) {
  for (std::size_t i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object.dlpi_phdr[i];
    const std::uintptr_t begin = object.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address >= begin && address - begin < segment.p_memsz)
      return true;
  }
  return false;
}

int look_at(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (!holds(*object, search.address)) return 0;
  for (std::size_t i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* notes = std::bit_cast<const char*>(object->dlpi_addr + segment.p_vaddr);
    const std::size_t alignment = segment.p_align == 8 ? 8 : 4;
    for (const char byte : build_id_note({notes, segment.p_memsz}, alignment))
      search.found += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    if (!search.found.empty()) break;
  }
  return 1;
}

}  // namespace

std::string build_id_of(const void* address) {
  Search search{reinterpret_cast<std::uintptr_t>(address), ""};
  dl_iterate_phdr(look_at, &search);
  return search.found;
}

std::string libc_version() { return ::gnu_get_libc_version(); }

}  // namespace fuselage
