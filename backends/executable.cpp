#include "fuselage/backends/executable.h"

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

void add_times(std::vector<NodeTime>& sum, const std::vector<NodeTime>& times) {
  if (sum.size() < times.size()) sum.resize(times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    sum[i].seconds += times[i].seconds;
    sum[i].runs += times[i].runs;
    sum[i].rows += times[i].rows;
  }
}

}  // namespace

void SharedProfile::add(const Profile& times) {
  const std::lock_guard lock(mutex_);
  add_times(times_.source, times.source);
  add_times(times_.step, times.step);
  times_.batches += times.batches;
  times_.steps += times.steps;
}

Profile SharedProfile::times() const {
  const std::lock_guard lock(mutex_);
  return times_;
}

void Worker::open(const PlaceLimits&) { check(false, "this worker has no places"); }

void Worker::admit(const Batch&, std::span<const std::int32_t>) {
  check(false, "this worker has no places");
}

void Worker::release(std::int32_t) { check(false, "this worker has no places"); }

}  // namespace fuselage
