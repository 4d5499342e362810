#include "fuselage/base/precision.h"

#include <array>

#include "base/suggest.h"

namespace fuselage {
namespace {

constexpr std::array<std::string_view, 8> kPrecisions{"fp32", "bf16", "fp16",     "int16",
                                                      "int8", "int4", "int4-log", "stored"};
static_assert(kPrecisions.size() == static_cast<std::size_t>(Precision::stored) + 1);

}  // namespace

std::span<const std::string_view> precision_names() { return kPrecisions; }

std::string_view to_string(Precision precision) {
  return kPrecisions[static_cast<std::size_t>(precision)];
}

Precision precision_from_string(std::string_view name) {
  return static_cast<Precision>(find_name("precision", name, kPrecisions));
}

}  // namespace fuselage
