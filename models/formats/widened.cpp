#include "models/formats/widened.h"

#include "base/files/mapped_memory.h"
#include "models/finite_weights.h"

namespace fuselage {
namespace {

/// Bytes of vectors, which would gain little: a system maps as many around a page that is read, so
/// that reading them later would bring in pages of the matrices beside them again.
constexpr std::size_t kSmall = std::size_t{64} << 10;

}  // namespace

Tensor widened(const Tensor& tensor, const std::string& name, const std::string& where) {
  const std::string_view stored = tensor.mapped_bytes();
  if (tensor.dtype() == DType::f32 || stored.size() <= kSmall) return tensor.to_f32();
  expect_finite(tensor, name, where);
  const auto widen = [tensor, stored] {
    Tensor floats = tensor.to_f32();
    give_back_mapped(stored);
    return floats;
  };
  return {DType::f32, tensor.shape(),
          DeferredTensor{.make = widen,
                         .stored = stored,
                         .conversion = std::string(to_string(tensor.dtype())) + " to f32",
                         .is_mapped = true}};
}

}  // namespace fuselage
