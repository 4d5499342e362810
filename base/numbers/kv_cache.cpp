#include "fuselage/base/kv_cache.h"

#include <array>

#include "base/suggest.h"

namespace fuselage {
namespace {

constexpr std::array<std::string_view, 2> kKvCacheTypes{"fp32", "int8"};
static_assert(kKvCacheTypes.size() == static_cast<std::size_t>(KvCache::int8) + 1);

}  // namespace

std::span<const std::string_view> kv_cache_names() { return kKvCacheTypes; }

std::string_view to_string(KvCache type) { return kKvCacheTypes[static_cast<std::size_t>(type)]; }

KvCache kv_cache_from_string(std::string_view name) {
  return static_cast<KvCache>(find_name("type of the key/value cache", name, kKvCacheTypes));
}

}  // namespace fuselage
