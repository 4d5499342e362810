#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>

#include "backends/cuda/device/runtime/stream.h"

namespace fuselage::cuda {

/// An LRU cache of captured CUDA graphs: repeated work with the same addresses, by key.
class GraphCache {
 public:
  explicit GraphCache(std::size_t capacity) : capacity_(capacity) {}

  /// Runs the work that `enqueue` puts into the stream. The first time, `enqueue` itself runs,
  /// since libraries may load and allocate on first use. The second time, the work is captured.
  /// From then on the captured graph is launched.
  void run(const Stream& stream, std::int64_t key, const std::function<void()>& enqueue);

  /// Drops all graphs, after a change of addresses. The stream must be idle.
  void clear() { entries_.clear(); }

  /// Whether work with this key has run before and has not been evicted.
  bool knows(std::int64_t key) const;
  std::size_t size() const { return entries_.size(); }
  /// Number of captures since the start.
  std::uint64_t captures() const { return captures_; }

 private:
  struct Entry {
    std::int64_t key = 0;
    std::optional<CapturedWork> work;
  };

  std::size_t capacity_;
  std::uint64_t captures_ = 0;
  std::list<Entry> entries_;  ///< most recently used first
};

}  // namespace fuselage::cuda
