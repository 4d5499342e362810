#include "decoding/search/search_pool.h"

namespace fuselage {

SearchPool::Lease::Lease(SearchPool& pool, std::size_t count) : pool_(pool) {
  {
    const std::lock_guard lock(pool.mutex_);
    while (searches_.size() < count && !pool.idle_.empty()) {
      searches_.push_back(std::move(pool.idle_.back()));
      pool.idle_.pop_back();
    }
  }
  while (searches_.size() < count)
    searches_.push_back(std::make_unique<BeamSearch>(pool.executable_, pool.options_));
}

SearchPool::Lease::~Lease() {
  const std::lock_guard lock(pool_.mutex_);
  for (auto& search : searches_) pool_.idle_.push_back(std::move(search));
}

}  // namespace fuselage
