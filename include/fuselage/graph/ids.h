#pragma once

#include <cstdint>
#include <functional>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// A typed 32-bit index of an object in one graph. Indexes are never reused, so the id of a removed
/// object can be recognized as stale.
template <typename Tag>
struct Id {
  static constexpr std::uint32_t kInvalid = 0xffffffffu;
  std::uint32_t index = kInvalid;

  constexpr bool valid() const { return index != kInvalid; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

using NodeId = Id<struct NodeTag>;
using ValueId = Id<struct ValueTag>;
using DomainId = Id<struct DomainTag>;
using MapId = Id<struct MapTag>;

}  // namespace fuselage

// Doxygen misses the namespace of such a specialization.
/// \cond
template <typename Tag>
struct std::hash<fuselage::Id<Tag>> {
  std::size_t operator()(fuselage::Id<Tag> id) const noexcept { return id.index; }
};
/// \endcond
