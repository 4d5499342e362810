#include <cmath>

#include "tests/ops/evaluate_cases/cases.h"

namespace fuselage {

std::vector<EvaluateCase> precision_cases() {
  return {
      // 2 / 127 and 3 / 127 are no floats.
      {"quantize", "%y = quantize(%h)", {{64 * 2 / 127., -2, 21 * 3 / 127., 3, -1, 0, 2, 2}}, 1e-7},
      {"quantize", "%y = quantize(%h) {vectors = 2}", {{1, -2, 0.5, 3, -1, 0, 2, 2}}, 1e-7},
      {"quantize",
       "%y = quantize(%h4) {largest = 1}",
       {{3, 0, 3, 3, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, 0, 0, -4, -4}}},
      {"quantize",
       "%y = quantize(%m) {to = qint16, largest = 10, largest_sum = 9}",
       {{0.8, 1.6, 3.2, 4, 4, 6}},
       1e-6},
      {"quantize", "%y = quantize(%h, %s)", {{0, -2, 0, 4, 0, 0, 2, 2}}},
      {"quantize", "%y = quantize(%m, %s) {to = qlog4, largest = 128}", {{2, 2, 4, 4, 4, 8}}},
      {"quantize",
       "%y = quantize(%h) {largest = 64, logarithmic = true}",
       {{1, -2, 0.375, 3, -1, 0, 2, 2}}},
      {"cast",
       "%k = constant() {values = [1.00390625, -1.01171875], dims = [2]}\n%y = cast(%k)",
       {{1, -1.015625}}},
      {"cast", "%b = cast(%m)\n%y = cast(%b) {to = f32}", {{1, 2, 3, 4, 5, 6}}},
      {"cast", "%y = cast(%hi) {to = f32}", {{0, 1, 2, 3}}},
      {"dequantize", "%q = quantize(%h, %s)\n%y = dequantize(%q)", {{0, -2, 0, 4, 0, 0, 2, 2}}},
      {"transpose", "%y = transpose(%m)", {{1, 4, 2, 5, 3, 6}}},
  };
}

}  // namespace fuselage
