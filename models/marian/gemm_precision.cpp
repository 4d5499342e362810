#include "models/marian/gemm_precision.h"

#include <algorithm>
#include <iterator>

namespace fuselage {
namespace {

struct Entry {
  std::string_view name;
  GemmPrecision meaning;
};

constexpr Entry kEntries[] = {
    {"float32", {Precision::fp32, Calibration::ignored}},
    {"int16", {Precision::int16, Calibration::ignored}},
    {"int8", {Precision::int8, Calibration::ignored}},
    {"int8shift", {Precision::int8, Calibration::ignored}},
    {"int8shiftAll", {Precision::int8, Calibration::ignored}},
    {"int8Alpha", {Precision::int8, Calibration::expected}},
    {"int8shiftAlpha", {Precision::int8, Calibration::expected}},
    {"int8shiftAlphaAll", {Precision::int8, Calibration::expected}},
};

}  // namespace

std::optional<GemmPrecision> gemm_precision_from_string(std::string_view name) {
  const auto* found = std::find_if(std::begin(kEntries), std::end(kEntries),
                                   [&](const Entry& entry) { return entry.name == name; });
  if (found == std::end(kEntries)) return std::nullopt;
  return found->meaning;
}

std::vector<std::string> gemm_precision_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kEntries) names.emplace_back(entry.name);
  return names;
}

}  // namespace fuselage
