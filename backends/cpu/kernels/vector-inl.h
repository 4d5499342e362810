// Partial vectors. Compiled once a target, hence the unusual guard.
#if defined(FUSELAGE_CPU_KERNELS_VECTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_VECTOR_INL_H_
#undef FUSELAGE_CPU_KERNELS_VECTOR_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_VECTOR_INL_H_
#endif

#include <cstddef>
#include <cstring>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;
inline constexpr std::size_t kLanes = HWY_LANES(float);

HWY_INLINE Vector load(const float* p) { return hn::LoadU(Tag(), p); }
HWY_INLINE Vector broadcast(float x) { return hn::Set(Tag(), x); }
HWY_INLINE void store(Vector v, float* p) { hn::StoreU(v, Tag(), p); }

/// The first n < kLanes elements at p, then `fill`. Reads no further than p + n.
HWY_INLINE Vector load_n(const float* p, std::size_t n, float fill) {
#if HWY_TARGET <= HWY_AVX2
  const auto mask = hn::FirstN(Tag(), n);
  return hn::IfThenElse(mask, hn::MaskedLoad(mask, Tag(), p), broadcast(fill));
#else
  HWY_ALIGN float buffer[kLanes];
  hn::Store(broadcast(fill), Tag(), buffer);
  std::memcpy(buffer, p, n * sizeof(float));
  return hn::Load(Tag(), buffer);
#endif
}

/// Writes the first n < kLanes lanes and nothing after them.
HWY_INLINE void store_n(Vector v, float* p, std::size_t n) {
#if HWY_TARGET <= HWY_AVX2
  hn::BlendedStore(v, hn::FirstN(Tag(), n), Tag(), p);
#else
  HWY_ALIGN float buffer[kLanes];
  hn::Store(v, Tag(), buffer);
  std::memcpy(p, buffer, n * sizeof(float));
#endif
}

HWY_INLINE float sum_lanes(Vector v) { return hn::GetLane(hn::SumOfLanes(Tag(), v)); }
HWY_INLINE float max_lanes(Vector v) { return hn::GetLane(hn::MaxOfLanes(Tag(), v)); }

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_VECTOR_INL_H_
