#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "backends/cpu/weight_cache.h"
#include "base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using fuselage::cpu::WeightCache;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const WeightCache cache("/nowhere", {});
  const std::size_t wanted = size - std::min(size, WeightCache::kHeaderBytes);
  const bool taken = cache.problem_of(bytes, wanted).empty();
  fuselage::check(!taken || size >= WeightCache::kHeaderBytes, "a file without a header is taken");
  return 0;
}
