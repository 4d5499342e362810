#include "corpus/job/shard.h"

#include <fmt/format.h>

#include <charconv>

#include "fuselage/base/error.h"

namespace fuselage {

Shard parse_shard(std::string_view text) {
  constexpr std::size_t kMaxShards = 1'000'000;
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto [slash, error] = std::from_chars(text.data(), end, shard.index);
  bool fits = error == std::errc() && slash != end && *slash == '/';
  if (fits) {
    const auto [stop, second] = std::from_chars(slash + 1, end, shard.count);
    fits = second == std::errc() && stop == end;
  }
  if (!fits || shard.index < 1 || shard.index > shard.count || shard.count > kMaxShards)
    throw Error(fmt::format(
        "a shard is i/n, the i-th of n, as 1/4 to 4/4, with at most {} of them, not '{}'",
        kMaxShards, text));
  --shard.index;
  return shard;
}

}  // namespace fuselage
