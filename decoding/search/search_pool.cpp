#include "decoding/search/search_pool.h"

namespace fuselage {

SearchPool::Lease::Lease(SearchPool& pool, std::size_t count) : pool_(pool) {
  searches_.resize(count);
  {
    const std::lock_guard lock(pool.mutex_);
    first_ = pool.next_device_;
    pool.next_device_ = device(count);
    for (std::size_t i = 0; i < count; ++i) {
      auto& idle = pool.idle_[device(i)];
      if (idle.empty()) continue;
      searches_[i] = std::move(idle.back());
      idle.pop_back();
    }
  }
  for (std::size_t i = 0; i < count; ++i)
    if (!searches_[i])
      searches_[i] = std::make_unique<BeamSearch>(pool.executable_, pool.options_, device(i));
}

SearchPool::Lease::~Lease() {
  const std::lock_guard lock(pool_.mutex_);
  for (std::size_t i = 0; i < searches_.size(); ++i)
    pool_.idle_[device(i)].push_back(std::move(searches_[i]));
}

}  // namespace fuselage
