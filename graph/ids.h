#pragma once

#include <cstdint>
#include <functional>

namespace fuselage {

/// A 32-bit index that names one kind of thing in one graph and converts to no other kind. Slots
/// are never used again after a removal, so an id of a removed thing is recognised as stale.
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

template <typename Tag>
struct std::hash<fuselage::Id<Tag>> {
  std::size_t operator()(fuselage::Id<Tag> id) const noexcept { return id.index; }
};
