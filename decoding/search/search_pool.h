#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "fuselage/backends/executable.h"
#include "fuselage/decoding/beam_search.h"

namespace fuselage {

/// Searches on one executable, which calls take and return, so that their memory is used again.
/// Thread-safe.
class SearchPool {
 public:
  /// `executable` must outlive the pool.
  SearchPool(const Executable& executable, SearchOptions options)
      : executable_(executable), options_(std::move(options)), idle_(executable.devices()) {}

  /// Searches of one call, taken from the idle ones and returned to them at the end. They are
  /// divided evenly among the devices; a call begins with the device after the last one of the call
  /// before.
  class Lease {
   public:
    Lease(SearchPool& pool, std::size_t count);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    const std::vector<std::unique_ptr<BeamSearch>>& searches() const { return searches_; }

   private:
    std::size_t device(std::size_t search) const { return (first_ + search) % pool_.idle_.size(); }

    SearchPool& pool_;
    std::size_t first_;
    std::vector<std::unique_ptr<BeamSearch>> searches_;
  };

 private:
  const Executable& executable_;
  SearchOptions options_;
  std::mutex mutex_;
  std::size_t next_device_ = 0;
  std::vector<std::vector<std::unique_ptr<BeamSearch>>> idle_;  ///< by device
};

}  // namespace fuselage
