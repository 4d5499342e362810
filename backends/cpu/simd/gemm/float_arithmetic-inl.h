// Products of floats (arithmetic-inl.h). Compiled once per target, hence the unusual guard.
#if defined(FUSELAGE_CPU_KERNELS_FLOAT_ARITHMETIC_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_FLOAT_ARITHMETIC_INL_H_
#undef FUSELAGE_CPU_KERNELS_FLOAT_ARITHMETIC_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_FLOAT_ARITHMETIC_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "backends/cpu/simd/gemm/packed_matrix.h"
#include "backends/cpu/simd/gemm/panel-inl.h"
#include "backends/cpu/simd/vector-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

/// Float sums; the matrix is stored as f32, or as bf16 that is converted when it is loaded.
template <std::size_t kBytes>
struct RealArithmetic {
  static constexpr std::size_t kGroupBytes = kBytes;
  static constexpr std::size_t kTileRows = kMaxTileRows;
  static constexpr bool kPrepares = false;
  static constexpr bool kDecodes = false;

  RealArithmetic(const PackedMatrix& b, std::size_t panel)
      : data(b.panel_bytes(panel)), groups(b.groups()) {}

  static constexpr std::size_t bytes_before(std::size_t v, std::size_t groups) {
    return groups_before(v, groups) * kGroupBytes;
  }
  void skip(std::size_t vectors) { data += bytes_before(vectors, groups); }

  static HWY_INLINE Vector start(std::size_t) { return hn::Zero(Tag()); }
  static HWY_INLINE Vector left(const float* row, std::size_t i) { return broadcast(row[i]); }
  static HWY_INLINE Vector multiply_add(Vector left, Vector right, Vector sum) {
    return hn::MulAdd(left, right, sum);
  }
  static HWY_INLINE Vector finish(Vector sum, const float*, std::size_t) { return sum; }

  const std::byte* data;
  std::size_t groups;
};

struct FloatArithmetic : RealArithmetic<4> {
  using RealArithmetic::RealArithmetic;

  static HWY_INLINE Vector right(const std::byte* b) {
    return hn::Load(Tag(), reinterpret_cast<const float*>(b));
  }
};

/// Loads bf16 numbers, the upper halves of floats.
HWY_INLINE Vector load_halves(const std::uint16_t* p) {
  const hn::RebindToUnsigned<Tag> bits;
  const hn::Rebind<std::uint16_t, Tag> halves;
  return hn::BitCast(Tag(), hn::ShiftLeft<16>(hn::PromoteTo(bits, hn::LoadU(halves, p))));
}

struct BFloat16Arithmetic : RealArithmetic<2> {
  using RealArithmetic::RealArithmetic;

  static HWY_INLINE Vector right(const std::byte* b) {
    return load_halves(reinterpret_cast<const std::uint16_t*>(b));
  }
};

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_FLOAT_ARITHMETIC_INL_H_
