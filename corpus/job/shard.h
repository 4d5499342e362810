#pragma once

#include <cstddef>
#include <string_view>

namespace fuselage {

/// One of several equal shares of numbered items, of which there may be any number: every
/// count-th, from the one at `index`.
struct Shard {
  std::size_t index = 0, count = 1;

  bool has(std::size_t number) const { return number % count == index; }
};

/// Reads "i/n", the i-th of n shares, from 1. Throws Error for anything else.
Shard parse_shard(std::string_view text);

}  // namespace fuselage
