#include "base/files/content_hash.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <new>

namespace fuselage {

void ContentHash::Free::operator()(XXH3_state_s* state) const { XXH3_freeState(state); }

ContentHash::ContentHash() : state_(XXH3_createState()) {
  if (!state_) throw std::bad_alloc();
  XXH3_128bits_reset(state_.get());
}

void ContentHash::add(const void* bytes, std::size_t size) {
  const std::uint64_t length = size;
  XXH3_128bits_update(state_.get(), &length, sizeof length);
  if (size > 0) XXH3_128bits_update(state_.get(), bytes, size);
}

std::array<std::uint64_t, 2> ContentHash::words() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
  return {hash.high64, hash.low64};
}

std::string ContentHash::text() const {
  const auto [first, second] = words();
  return fmt::format("{:016x}{:016x}", first, second);
}

}  // namespace fuselage
