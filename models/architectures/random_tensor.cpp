#include "models/architectures/random_tensor.h"

#include <cmath>
#include <random>

namespace fuselage {
namespace {

/// FNV-1a (Fowler, Noll and Vo).
std::uint64_t hash_of(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

Tensor normal_tensor(const Dims& shape, double deviation, std::uint64_t seed,
                     std::string_view name) {
  // Of four uniform numbers of 16 bits the sum has the mean 131070 and the variance 2^32 / 3.
  const double scale = deviation * std::sqrt(3.0) / 65536;
  std::mt19937_64 random(seed ^ hash_of(name));
  Tensor tensor(DType::f32, {shape.begin(), shape.end()});
  auto* numbers = tensor.mutable_data<float>();
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    std::int64_t sum = -131070;
    for (std::uint64_t bits = random(), part = 0; part < 4; ++part, bits >>= 16)
      sum += static_cast<std::int64_t>(bits & 0xffff);
    numbers[i] = static_cast<float>(static_cast<double>(sum) * scale);
  }
  return tensor;
}

}  // namespace fuselage
