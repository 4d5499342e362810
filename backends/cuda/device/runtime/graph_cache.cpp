#include "backends/cuda/device/runtime/graph_cache.h"

#include <algorithm>

namespace fuselage::cuda {

bool GraphCache::knows(std::int64_t key) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& entry) { return entry.key == key; });
}

void GraphCache::run(const Stream& stream, std::int64_t key, const std::function<void()>& enqueue) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.key == key; });
  if (found == entries_.end()) {
    enqueue();
    entries_.push_front({key, std::nullopt});
    if (entries_.size() <= capacity_) return;
    stream.synchronize();  // the evicted graph may still be running
    entries_.pop_back();
    return;
  }
  entries_.splice(entries_.begin(), entries_, found);
  Entry& entry = entries_.front();
  if (!entry.work) {
    entry.work.emplace(stream, enqueue);
    ++captures_;
  }
  entry.work->launch(stream);
}

}  // namespace fuselage::cuda
