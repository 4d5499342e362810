#include "fuselage/base/tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Core>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>
#include <utility>

#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"

namespace fuselage {
namespace {

constexpr std::align_val_t kAlignment{64};

std::shared_ptr<std::byte[]> allocate(std::size_t bytes) {
  auto* raw = static_cast<std::byte*>(::operator new[](bytes + 1, kAlignment));
  std::memset(raw, 0, bytes + 1);
  return {raw, [](std::byte* p) { ::operator delete[](p, kAlignment); }};
}

std::int64_t element_count(const std::vector<std::int64_t>& shape, DType dtype) {
  const auto limit = std::numeric_limits<std::int64_t>::max() / std::int64_t{16};
  std::int64_t size = 1;
  for (const std::int64_t dim : shape) {
    if (dim < 0)
      throw Error(
          fmt::format("a tensor dimension is negative in shape {}", shape_to_string(shape)));
    if (dim > 0 && size > limit / dim)
      throw Error(fmt::format("a tensor of shape {} and type {} does not fit in memory",
                              shape_to_string(shape), to_string(dtype)));
    size *= dim;
  }
  return size;
}

template <typename From, typename To, typename Convert>
void convert(const Tensor& from, Tensor& to, Convert f) {
  std::transform(from.data<From>(), from.data<From>() + from.size(), to.mutable_data<To>(), f);
}

std::int64_t last_dimension(const std::vector<std::int64_t>& shape) {
  return shape.empty() ? 1 : shape.back();
}

void dequantize(const Tensor& from, Tensor& to) {
  const std::int64_t k = last_dimension(from.shape());
  const std::size_t stride = vector_bytes(from.dtype(), k);
  const std::byte* vector = from.bytes();
  for (std::int64_t i = 0; i < from.size(); i += k, vector += stride)
    dequantize_vector(from.dtype(), vector, k, to.mutable_data<float>() + i);
}

}  // namespace

struct Tensor::Deferred {
  DeferredTensor source;
  std::once_flag once;
  Tensor made;
  bool may_have_changed = false;
};

Tensor::Tensor(DType dtype, std::vector<std::int64_t> shape)
    : dtype_(dtype), shape_(std::move(shape)), size_(element_count(shape_, dtype)) {
  data_ = allocate(size_bytes());
}

Tensor::Tensor(DType dtype, std::vector<std::int64_t> shape, std::shared_ptr<std::byte[]> bytes)
    : dtype_(dtype),
      shape_(std::move(shape)),
      size_(element_count(shape_, dtype)),
      data_(std::move(bytes)) {}

Tensor::Tensor(DType dtype, std::vector<std::int64_t> shape, DeferredTensor source)
    : dtype_(dtype),
      shape_(std::move(shape)),
      size_(element_count(shape_, dtype)),
      deferred_(std::make_shared<Deferred>()) {
  deferred_->source = std::move(source);
}

const DeferredTensor* Tensor::source() const {
  return deferred_ && !deferred_->may_have_changed ? &deferred_->source : nullptr;
}

std::string_view Tensor::mapped_bytes() const {
  const DeferredTensor* from = source();
  return from != nullptr && from->is_mapped && from->conversion.empty() ? from->stored
                                                                        : std::string_view();
}

const std::byte* Tensor::made_bytes() const {
  std::call_once(deferred_->once, [this] {
    Tensor made = deferred_->source.make();
    check(made.dtype() == dtype_ && made.size_bytes() == size_bytes(),
          "a deferred tensor has another type or size");
    deferred_->made = std::move(made);
  });
  return deferred_->made.bytes();
}

std::byte* Tensor::mutable_made_bytes() {
  made_bytes();
  deferred_->may_have_changed = true;
  return deferred_->made.mutable_bytes();
}

std::size_t Tensor::size_bytes() const {
  if (size_ == 0) return 0;
  const std::int64_t k = last_dimension(shape_);
  return static_cast<std::size_t>(size_ / k) * vector_bytes(dtype_, k);
}

Tensor Tensor::reshaped(std::vector<std::int64_t> shape) const {
  check(element_count(shape, dtype_) == size_, "a reshape changes the number of elements");
  check(!is_quantized(dtype_) || last_dimension(shape) == last_dimension(shape_),
        "a reshape cuts quantized vectors");
  Tensor result = *this;
  result.shape_ = std::move(shape);
  return result;
}

Tensor Tensor::to_f32() const {
  if (dtype_ == DType::f32) return *this;
  Tensor result(DType::f32, shape_);
  const auto cast = [](auto v) { return static_cast<float>(v); };
  switch (dtype_) {
    case DType::f16:
      convert<std::uint16_t, float>(*this, result, half_to_float);
      break;
    case DType::bf16:
      convert<std::uint16_t, float>(*this, result, bfloat16_to_float);
      break;
    case DType::f64:
      convert<double, float>(*this, result, cast);
      break;
    case DType::i8:
      convert<std::int8_t, float>(*this, result, cast);
      break;
    case DType::i16:
      convert<std::int16_t, float>(*this, result, cast);
      break;
    case DType::i32:
      convert<std::int32_t, float>(*this, result, cast);
      break;
    case DType::i64:
      convert<std::int64_t, float>(*this, result, cast);
      break;
    case DType::u8:
      convert<std::uint8_t, float>(*this, result, cast);
      break;
    case DType::u16:
      convert<std::uint16_t, float>(*this, result, cast);
      break;
    case DType::u32:
      convert<std::uint32_t, float>(*this, result, cast);
      break;
    case DType::u64:
      convert<std::uint64_t, float>(*this, result, cast);
      break;
    case DType::qint8:
    case DType::qint16:
    case DType::qlog4:
      dequantize(*this, result);
      break;
    case DType::f32:
      break;
  }
  return result;
}

Tensor Tensor::to_f16() const {
  if (dtype_ == DType::f16) return *this;
  Tensor result(DType::f16, shape_);
  convert<float, std::uint16_t>(to_f32(), result, float_to_half);
  return result;
}

Tensor Tensor::to_bf16() const {
  if (dtype_ == DType::bf16) return *this;
  Tensor result(DType::bf16, shape_);
  convert<float, std::uint16_t>(to_f32(), result, float_to_bfloat16);
  return result;
}

float half_to_float(std::uint16_t half) {
  return static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(half));
}

std::uint16_t float_to_half(float value) {
  return Eigen::numext::bit_cast<std::uint16_t>(Eigen::half(value));
}

float bfloat16_to_float(std::uint16_t upper) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(upper) << 16);
}

std::uint16_t float_to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  constexpr std::uint32_t kQuiet = 0x40;
  if (std::isnan(value)) return static_cast<std::uint16_t>(bits >> 16 | kQuiet);
  const std::uint32_t odd = bits >> 16 & 1;
  return static_cast<std::uint16_t>((bits + 0x7fff + odd) >> 16);
}

float rounded_to(DType to, float x) {
  if (to == DType::bf16) return bfloat16_to_float(float_to_bfloat16(x));
  return to == DType::f16 ? half_to_float(float_to_half(x)) : x;
}

std::string shape_to_string(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

}  // namespace fuselage
