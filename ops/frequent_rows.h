#pragma once

#include <cstdint>

namespace fuselage {

/// The share of look-ups in a vocabulary of `size` entries that its `count` most frequent ones take
/// by Zipf's law: entry r is met 1 / r times as often as the first.
double expected_hit_rate(std::int64_t count, std::int64_t size);

}  // namespace fuselage
