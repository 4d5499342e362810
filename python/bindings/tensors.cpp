#include "python/bindings/tensors.h"

#include <cstring>
#include <string>
#include <vector>

#include "fuselage/base/error.h"

namespace nb = nanobind;
using fuselage::DType;
using fuselage::Error;
using fuselage::Tensor;

namespace {

DType dtype_of(const nb::dlpack::dtype& type) {
  if (type == nb::dtype<float>()) return DType::f32;
  if (type == nb::dtype<double>()) return DType::f64;
  if (type == nb::dtype<std::int32_t>()) return DType::i32;
  if (type == nb::dtype<std::int64_t>()) return DType::i64;
  if (type.code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float) && type.bits == 16)
    return DType::f16;
  throw Error(
      "an array has numbers that are none of float16, float32, float64, int32 and int64; convert "
      "it with astype");
}

template <class T>
nb::object array_of(const Tensor& tensor) {
  // The array owns a copy of the tensor, which shares its bytes.
  auto* const kept = new Tensor(tensor);
  const nb::capsule owner(kept,
                          [](void* pointer) noexcept { delete static_cast<Tensor*>(pointer); });
  const std::vector<std::size_t> shape(tensor.shape().begin(), tensor.shape().end());
  return nb::cast(
      nb::ndarray<nb::numpy, T>(const_cast<T*>(kept->data<T>()), shape.size(), shape.data(), owner),
      nb::rv_policy::automatic);
}

}  // namespace

Tensor to_tensor(const Array& array) {
  std::vector<std::int64_t> shape;
  for (std::size_t i = 0; i < array.ndim(); ++i)
    shape.push_back(static_cast<std::int64_t>(array.shape(i)));
  Tensor tensor(dtype_of(array.dtype()), std::move(shape));
  if (tensor.size_bytes() > 0)
    std::memcpy(tensor.mutable_bytes(), array.data(), tensor.size_bytes());
  return tensor;
}

nb::object from_tensor(const Tensor& tensor) {
  if (tensor.dtype() == DType::i32) return array_of<std::int32_t>(tensor);
  if (tensor.dtype() == DType::f64) return array_of<double>(tensor);
  return array_of<float>(tensor.to_f32());
}
