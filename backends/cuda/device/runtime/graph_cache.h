#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>

#include "backends/cuda/device/runtime/stream.h"

namespace fuselage::cuda {

/// Work that runs again and again with the same addresses, captured. Of more than `most` kinds of
/// work, those that have not run for longest are forgotten.
class GraphCache {
 public:
  explicit GraphCache(std::size_t most) : most_(most) {}

  /// Runs what `enqueue` puts into the stream. When the key is new, by `enqueue` itself, since
  /// libraries may load and allocate what they use for the first time; then captured; from then on
  /// as what was captured.
  void run(const Stream& stream, std::int64_t key, const std::function<void()>& enqueue);

  /// Forgets all: addresses have changed. The stream must have nothing left to do.
  void clear() { entries_.clear(); }

  /// Whether the key is not new.
  bool knows(std::int64_t key) const;
  std::size_t size() const { return entries_.size(); }
  /// How often work was captured up to now.
  std::uint64_t captures() const { return captures_; }

 private:
  struct Entry {
    std::int64_t key = 0;
    std::optional<CapturedWork> work;
  };

  std::size_t most_;
  std::uint64_t captures_ = 0;
  std::list<Entry> entries_;  ///< what ran last stands first
};

}  // namespace fuselage::cuda
