#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "backends/cpu/simd/table.h"
#include "backends/cpu/simd/targets.h"
#include "base/numbers/logarithmic.h"
#include "fuselage/base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/simd/rows/quantize.cpp"
#include "hwy/foreach_target.h"
// Compiled once per target: included after foreach_target.h.
#include "backends/cpu/simd/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {
namespace {

using IntTag = hn::RebindToSigned<Tag>;
using IntVector = hn::Vec<IntTag>;

// The largest magnitude of a row; NaN or infinity if the row contains one. Magnitudes are compared
// by their bits as integers, which have the same order.
class LargestMagnitude {
 public:
  HWY_INLINE LargestMagnitude() : largest_(hn::Zero(IntTag())) {}

  HWY_INLINE void take(Vector x) {
    const IntVector bits = hn::And(hn::BitCast(IntTag(), x), hn::Set(IntTag(), 0x7fffffff));
    largest_ = hn::Max(bits, largest_);
  }
  float get() const {
    return std::bit_cast<float>(hn::GetLane(hn::MaxOfLanes(IntTag(), largest_)));
  }

 private:
  IntVector largest_;
};

float largest_magnitude(const float* x, std::size_t cols) {
  LargestMagnitude largest;
  std::size_t i = 0;
  for (; i + kLanes <= cols; i += kLanes) largest.take(load(x + i));
  if (i < cols) largest.take(load_n(x + i, cols - i, 0));
  return largest.get();
}

// To integers within ±bound by a scale.
struct Nearest {
  HWY_INLINE IntVector operator()(Vector x) const {
    const Vector bounded = hn::Max(hn::Min(hn::Mul(x, inverse), bound), hn::Neg(bound));
    // Adding this rounds to an integer, which is in the last bits.
    const Vector large = broadcast(kLarge);
    return hn::Sub(hn::BitCast(IntTag(), hn::Add(bounded, large)), hn::BitCast(IntTag(), large));
  }

  static constexpr float kLarge = 3 << 22;
  Vector inverse;
  Vector bound;
};

// Rounds to 0 and powers of two up to 2^kTopRowExponent by a scale, ties to the larger magnitude:
// half a mantissa is added, which carries into the exponent.
struct NearestPower {
  HWY_INLINE IntVector operator()(Vector x) const {
    const IntVector bits = hn::BitCast(IntTag(), hn::Mul(x, inverse));
    const IntVector magnitude = hn::And(bits, hn::Set(IntTag(), 0x7fffffff));
    const IntVector carried = hn::ShiftRight<23>(hn::Add(magnitude, hn::Set(IntTag(), 0x00400000)));
    const IntVector exponent =
        hn::Max(hn::Min(carried, hn::Set(IntTag(), 127 + kTopRowExponent)), hn::Set(IntTag(), 127));
    const Vector power = hn::BitCast(Tag(), hn::ShiftLeft<23>(exponent));
    const auto is_zero = hn::Lt(magnitude, hn::Set(IntTag(), 0x3f000000));
    const IntVector integer = hn::IfThenZeroElse(is_zero, hn::ConvertTo(IntTag(), power));
    const IntVector sign = hn::ShiftRight<31>(bits);
    return hn::Sub(hn::Xor(integer, sign), sign);
  }

  Vector inverse;
};

// Writes the integers of a row to `to`, and passes its numbers to `largest`.
template <class T, class Integer, class Largest>
HWY_INLINE void quantize_row(const float* x, std::size_t cols, const Integer& nearest, T* to,
                             Largest& largest) {
  const hn::Rebind<T, Tag> narrow;
  const auto integers = [&](Vector part) HWY_ATTR {
    largest.take(part);
    return hn::DemoteTo(narrow, nearest(part));
  };
  std::size_t i = 0;
  for (; i + kLanes <= cols; i += kLanes) hn::StoreU(integers(load(x + i)), narrow, to + i);
  if (i < cols) {
    HWY_ALIGN T rest[kLanes];
    hn::Store(integers(load_n(x + i, cols - i, 0)), narrow, rest);
    std::memcpy(to + i, rest, (cols - i) * sizeof(T));
  }
}

template <class Largest>
HWY_INLINE void quantize_row(const Quantizer& quantizer, const float* x, std::size_t cols,
                             float scale, float* integers, Largest& largest) {
  auto* bytes = reinterpret_cast<std::int8_t*>(integers);
  if (quantizer.logarithmic)
    return quantize_row(x, cols, NearestPower{broadcast(1 / scale)}, bytes, largest);
  const Nearest nearest{broadcast(1 / scale), broadcast(static_cast<float>(quantizer.largest))};
  if (quantizer.to == DType::qint8) return quantize_row(x, cols, nearest, bytes, largest);
  quantize_row(x, cols, nearest, reinterpret_cast<std::int16_t*>(integers), largest);
}

// Quantizes a row by a given scale; returns the scale, or NaN if the row has an infinity or a NaN.
float quantize_by(const Quantizer& quantizer, const float* x, std::size_t cols, float* integers) {
  LargestMagnitude largest;
  quantize_row(quantizer, x, cols, quantizer.scale, integers, largest);
  return std::isfinite(largest.get()) ? quantizer.scale : std::numeric_limits<float>::quiet_NaN();
}

// Quantizes a row by its own scale, which needs its largest magnitude first; returns the scale.
float quantize_by_own_scale(const Quantizer& quantizer, const float* x, std::size_t cols,
                            float* integers) {
  struct AlreadyKnown {
    static HWY_INLINE void take(Vector) {}
  } known;
  const float scale = quantization_scale(quantizer, largest_magnitude(x, cols));
  if (scale > 0) quantize_row(quantizer, x, cols, scale, integers, known);
  return scale;
}

void quantize_rows(const Quantizer& quantizer, const RowsIn& x, std::size_t rows, std::size_t cols,
                   const RowsOut& out) {
  check(x.columns == cols, "quantize_rows: x.columns is not cols");
  check(quantizer.largest_sum == 0, "quantize_rows: a bound on sums");
  check(quantizer.to != DType::qlog4, "quantize_rows: a fitted scale");
  const std::size_t elements =
      vector_bytes(quantizer.to, static_cast<std::int64_t>(cols)) / sizeof(float);
  for (std::size_t r = 0; r < rows; ++r) {
    const float* row = row_of(x, r, cols);
    float* vector = out.data + r * out.stride;
    float* integers = vector + 1;
    // The padding is among the last 4 bytes.
    vector[elements - 1] = 0;
    const float scale = quantizer.scale > 0 ? quantize_by(quantizer, row, cols, integers)
                                            : quantize_by_own_scale(quantizer, row, cols, integers);
    if (!(scale > 0)) std::fill_n(integers, elements - 1, 0.0f);
    vector[0] = scale;
  }
}

}  // namespace

std::int64_t fill_quantize(KernelTable& table) {
  table.quantize_rows = quantize_rows;
  return HWY_TARGET;
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
FUSELAGE_DISPATCH_FAMILY(fill_quantize)
#endif
