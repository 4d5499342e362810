#pragma once

#include <cstdint>
#include <initializer_list>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// A set of values of an enumeration. All values must be less than 64.
template <typename Enum>
class EnumSet {
 public:
  constexpr EnumSet() = default;
  constexpr EnumSet(std::initializer_list<Enum> values) {
    for (const Enum value : values) bits_ |= bit(value);
  }

  constexpr bool contains(Enum value) const { return (bits_ & bit(value)) != 0; }

 private:
  static constexpr std::uint64_t bit(Enum value) {
    return std::uint64_t{1} << static_cast<std::uint64_t>(value);
  }

  std::uint64_t bits_ = 0;
};

}  // namespace fuselage
