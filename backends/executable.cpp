#include "fuselage/backends/executable.h"

#include "fuselage/base/error.h"

namespace fuselage {

void Worker::open(const PlaceLimits&) { check(false, "this worker has no places"); }

void Worker::admit(const Batch&, std::span<const std::int32_t>) {
  check(false, "this worker has no places");
}

void Worker::release(std::int32_t) { check(false, "this worker has no places"); }

}  // namespace fuselage
