// Cached weights are trusted by the owner and the permissions of their file, for which Windows has
// other terms: none are stored.
#include "backends/cpu/weights/weight_cache.h"

#include <utility>

namespace fuselage::cpu {

WeightCache::WeightCache(std::string directory, const ContentHash& content, std::uint64_t max_bytes)
    : directory_(std::move(directory)), key_(content.words()), max_bytes_(max_bytes) {}

CachedBytes WeightCache::find(std::size_t) const { return {}; }

CachedBytes WeightCache::store(std::string_view) const {
  return {nullptr, "weights are not cached: they cannot be on Windows"};
}

}  // namespace fuselage::cpu
