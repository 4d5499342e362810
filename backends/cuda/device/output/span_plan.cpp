#include "backends/cuda/device/output/span_plan.h"

#include "backends/cuda/device/runtime/launch.h"

namespace fuselage::cuda {

SpanPlan plan_spans(std::int64_t blocks, std::int64_t tiles, std::int64_t at_once, double start) {
  SpanPlan best;
  for (std::int64_t spans = 1; spans <= tiles; ++spans) {
    const std::int64_t turns = (blocks * spans + at_once - 1) / at_once;
    const std::int64_t tiles_each = (tiles + spans - 1) / spans;
    const double time = static_cast<double>(turns) * (static_cast<double>(tiles_each) + start);
    if (spans == 1 || time < best.tiles) best = {static_cast<std::int32_t>(spans), time};
  }
  return best;
}

int attribute_of_device(cudaDeviceAttr attribute) {
  int device = 0;
  int value = 0;
  expect_success(cudaGetDevice(&device), "query of the current device");
  expect_success(cudaDeviceGetAttribute(&value, attribute, device),
                 "query of a device's attribute");
  return value;
}

}  // namespace fuselage::cuda
