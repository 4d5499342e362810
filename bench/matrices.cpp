#include "bench/matrices.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/files/mapped_memory.h"
#include "fuselage/base/quantized.h"

namespace fuselage {
namespace {

Quantizer quantizer_to(DType dtype, std::size_t k) {
  // A fit takes long and does not affect the time of a product.
  if (dtype == DType::qlog4) return {.to = dtype, .largest = 128, .fit = ScaleFit::largest};
  const double largest = std::sqrt(2147483647.0 / static_cast<double>(k));
  return {.to = dtype, .largest = dtype == DType::qint8 ? 127 : static_cast<int>(largest)};
}

cpu::PackedMatrix packed(DType dtype, const Tensor& columns, std::size_t k, std::size_t n) {
  if (is_quantized(dtype)) return cpu::PackedMatrix::pack_quantized(dtype, columns.bytes(), k, n);
  if (dtype == DType::bf16)
    return cpu::PackedMatrix::pack_bf16(columns.data<std::uint16_t>(), k, n, k, true);
  return cpu::PackedMatrix::pack(columns.data<float>(), k, n, k, true);
}

}  // namespace

std::vector<float> random_numbers(std::size_t size, float deviation) {
  std::mt19937 random(static_cast<std::mt19937::result_type>(size));
  std::normal_distribution<float> normal(0, deviation);
  std::vector<float> numbers(size);
  for (float& number : numbers) number = normal(random);
  return numbers;
}

Tensor random_vectors(DType dtype, std::size_t count, std::size_t k, float deviation) {
  Tensor vectors(DType::f32, {static_cast<std::int64_t>(count), static_cast<std::int64_t>(k)});
  const std::vector<float> numbers = random_numbers(count * k, deviation);
  std::copy(numbers.begin(), numbers.end(), vectors.mutable_data<float>());
  if (dtype == DType::bf16) return vectors.to_bf16();
  return is_quantized(dtype) ? quantized(quantizer_to(dtype, k), vectors) : vectors;
}

cpu::PackedMatrix random_matrix(DType dtype, std::size_t k, std::size_t n, float deviation) {
  constexpr std::size_t kLeastForHugePages = std::size_t{2} << 20;
  cpu::PackedMatrix matrix = packed(dtype, random_vectors(dtype, n, k, deviation), k, n);
  const Pages pages = allocate_pages(std::max(matrix.size_bytes(), kLeastForHugePages));
  std::copy_n(matrix.bytes(), matrix.size_bytes(), pages.get());
  matrix.set_bytes(pages);
  return matrix;
}

}  // namespace fuselage
