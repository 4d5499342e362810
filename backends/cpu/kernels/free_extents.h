#pragma once

#include <cstddef>
#include <map>
#include <optional>

namespace fuselage::cpu {

/// The free parts of a block of memory, each handed out where it first fits.
class FreeExtents {
 public:
  explicit FreeExtents(std::size_t size) { give(0, size); }

  /// The offset of `size` bytes; nullopt: no free part has so many.
  std::optional<std::size_t> take(std::size_t size);
  /// Frees a part, which take() gave.
  void give(std::size_t offset, std::size_t size);

 private:
  std::map<std::size_t, std::size_t> free_;  ///< sizes by offset; no two are adjacent
};

}  // namespace fuselage::cpu
