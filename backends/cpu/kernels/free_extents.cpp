#include "backends/cpu/kernels/free_extents.h"

#include <algorithm>
#include <iterator>

namespace fuselage::cpu {

std::optional<std::size_t> FreeExtents::take(std::size_t size) {
  const auto at =
      std::ranges::find_if(free_, [size](const auto& part) { return part.second >= size; });
  if (at == free_.end()) return std::nullopt;
  const auto [offset, available] = *at;
  free_.erase(at);
  if (available > size) free_.emplace(offset + size, available - size);
  return offset;
}

void FreeExtents::give(std::size_t offset, std::size_t size) {
  if (size == 0) return;
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && next->first == offset + size) {
    size += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      before->second += size;
      return;
    }
  }
  free_.emplace_hint(next, offset, size);
}

}  // namespace fuselage::cpu
