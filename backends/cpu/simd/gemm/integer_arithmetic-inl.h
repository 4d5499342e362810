// Products of integers (arithmetic-inl.h). Compiled once per target, hence the unusual guard.
#if defined(FUSELAGE_CPU_KERNELS_INTEGER_ARITHMETIC_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_INTEGER_ARITHMETIC_INL_H_
#undef FUSELAGE_CPU_KERNELS_INTEGER_ARITHMETIC_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_INTEGER_ARITHMETIC_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "backends/cpu/simd/gemm/packed_matrix.h"
#include "backends/cpu/simd/gemm/panel-inl.h"
#include "backends/cpu/simd/vector-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

using IntTag = hn::RebindToSigned<Tag>;
using IntVector = hn::Vec<IntTag>;

#if HWY_CAP_GE512 || defined(FUSELAGE_VNNI)

// A vector of its elements' type: g++ 12 moves sums of type __m512i from register to register, and
// to memory, at every step. On AVX2 without VNNI it gains nothing, and loses 8 % with one row of
// int16.
struct IntSums {
  using Raw [[gnu::vector_size(HWY_MAX_BYTES)]] = std::int32_t;
  Raw raw;
};
using RawVector = decltype(IntVector::raw);

HWY_INLINE IntSums as_sums(IntVector v) { return {reinterpret_cast<IntSums::Raw>(v.raw)}; }
HWY_INLINE IntVector as_vector(IntSums s) { return IntVector{reinterpret_cast<RawVector>(s.raw)}; }

#else

using IntSums = IntVector;

HWY_INLINE IntSums as_sums(IntVector v) { return v; }
HWY_INLINE IntVector as_vector(IntSums s) { return s; }

#endif

#if HWY_ARCH_ARM_A64

/// Sums of products of shorts, in two parts: instructions add the products of a half of a vector,
/// and leave neighbours apart. Sum i is the sum of lanes 2 i and 2 i + 1 of both parts together.
struct PairSums {
  IntVector lower, upper;
};

HWY_INLINE IntVector as_vector(const PairSums& s) {
  return IntVector{vpaddq_s32(s.lower.raw, s.upper.raw)};
}

#else

using PairSums = IntSums;

#endif

/// Sums that begin with these values.
template <class Sums>
HWY_INLINE Sums sums_from(IntVector first) {
#if HWY_ARCH_ARM_A64
  if constexpr (std::is_same_v<Sums, PairSums>) {
    const IntVector zero = hn::Zero(IntTag());
    return {hn::InterleaveLower(IntTag(), first, zero), hn::InterleaveUpper(IntTag(), first, zero)};
  } else {
    return as_sums(first);
  }
#else
  return as_sums(first);
#endif
}

#ifdef FUSELAGE_VNNI

/// Adds the products of unsigned bytes on the left and signed bytes, four per sum.
HWY_INLINE IntSums add_bytes(RawVector left, RawVector right, IntSums sums) {
#if HWY_CAP_GE512
  return as_sums(IntVector{_mm512_dpbusd_epi32(as_vector(sums).raw, left, right)});
#else
  return as_sums(IntVector{_mm256_dpbusd_avx_epi32(as_vector(sums).raw, left, right)});
#endif
}

/// Adds the products of shorts, two per sum.
HWY_INLINE IntSums add_shorts(RawVector left, RawVector right, IntSums sums) {
#if HWY_CAP_GE512
  return as_sums(IntVector{_mm512_dpwssd_epi32(as_vector(sums).raw, left, right)});
#else
  return as_sums(IntVector{_mm256_dpwssd_avx_epi32(as_vector(sums).raw, left, right)});
#endif
}

#endif

#ifdef FUSELAGE_DOTPROD

/// Adds the products of signed bytes, four per sum.
HWY_INLINE IntSums add_bytes(IntVector left, IntVector right, IntSums sums) {
  return IntVector{
      vdotq_s32(sums.raw, vreinterpretq_s8_s32(left.raw), vreinterpretq_s8_s32(right.raw))};
}

#endif

/// Integer sums, exact in 32 bits, times the scales of column and row. A row is a quantized vector:
/// its scale, then groups of 4 bytes.
template <std::size_t kBytes, class Sums = IntSums>
struct QuantizedArithmetic {
  static constexpr std::size_t kGroupBytes = kBytes;
  // Sums of two vectors take twice the registers.
  static constexpr std::size_t kTileRows = sizeof(Sums) > sizeof(IntVector) ? (kMaxTileRows + 1) / 2
                                                                            : kMaxTileRows;
  static constexpr bool kDecodes = false;

  QuantizedArithmetic(const PackedMatrix& b, std::size_t panel)
      : data(b.panel_bytes(panel)), groups(b.groups()), scales(b.scales(panel)) {}

  static constexpr std::size_t bytes_before(std::size_t v, std::size_t groups) {
    return groups_before(v, groups) * kGroupBytes;
  }
  void skip(std::size_t vectors) {
    data += bytes_before(vectors, groups);
    scales += vectors * kLanes;
  }

  static HWY_INLINE Sums start(std::size_t) { return sums_from<Sums>(hn::Zero(IntTag())); }
  static HWY_INLINE IntVector left(const float* row, std::size_t i) {
    std::int32_t group = 0;
    std::memcpy(&group, row + 1 + i, sizeof group);
    return hn::Set(IntTag(), group);
  }
  HWY_INLINE Vector finish(const Sums& sums, const float* row, std::size_t v) const {
    const Vector scaled = hn::Mul(hn::ConvertTo(Tag(), as_vector(sums)), load(scales + v * kLanes));
    return hn::Mul(scaled, broadcast(row[0]));
  }

  const std::byte* data;
  std::size_t groups;
  const float* scales;
};

/// The same with sums that start from the matrix's corrections.
template <std::size_t kBytes, class Sums = IntSums>
struct CorrectedArithmetic : QuantizedArithmetic<kBytes, Sums> {
  using Base = QuantizedArithmetic<kBytes, Sums>;

  CorrectedArithmetic(const PackedMatrix& b, std::size_t panel)
      : Base(b, panel), corrections(b.corrections(panel)) {}

  void skip(std::size_t vectors) {
    Base::skip(vectors);
    corrections += vectors * kLanes;
  }

  HWY_INLINE Sums start(std::size_t v) const {
    return sums_from<Sums>(hn::LoadU(IntTag(), corrections + v * kLanes));
  }

  const std::int32_t* corrections;
};

#if HWY_TARGET == HWY_SCALAR

// A pair of shorts, the first in the low half.
using PairVector = IntVector;

template <class T>
HWY_INLINE PairVector load_pairs(const T* p) {
  return hn::Set(IntTag(), static_cast<std::uint16_t>(p[0]) | p[1] * 65536);
}

/// Adds left[0] * right[0] + left[1] * right[1] to each sum.
HWY_INLINE PairSums add_pairs(IntVector left, PairVector right, PairSums sums) {
  const auto first = [](IntVector v) { return hn::ShiftRight<16>(hn::ShiftLeft<16>(v)); };
  const auto second = [](IntVector v) { return hn::ShiftRight<16>(v); };
  return hn::Add(hn::Add(sums, hn::Mul(first(left), first(right))),
                 hn::Mul(second(left), second(right)));
}

#else

using ShortTag = hn::Repartition<std::int16_t, Tag>;
using PairVector = hn::Vec<ShortTag>;

HWY_INLINE PairVector load_pairs(const std::int16_t* p) { return hn::LoadU(ShortTag(), p); }
HWY_INLINE PairVector load_pairs(const std::int8_t* p) {
  return hn::PromoteTo(ShortTag(), hn::LoadU(hn::Rebind<std::int8_t, ShortTag>(), p));
}

/// Adds left[0] * right[0] + left[1] * right[1] to each sum.
HWY_INLINE PairSums add_pairs(IntVector left, PairVector right, PairSums sums) {
#ifdef FUSELAGE_VNNI
  return add_shorts(left.raw, right.raw, sums);
#elif HWY_ARCH_ARM_A64
  const int16x8_t pairs = vreinterpretq_s16_s32(left.raw);
  return {IntVector{vmlal_s16(sums.lower.raw, vget_low_s16(pairs), vget_low_s16(right.raw))},
          IntVector{vmlal_high_s16(sums.upper.raw, pairs, right.raw)}};
#else
  const PairVector pairs = hn::BitCast(ShortTag(), left);
  IntVector odd = hn::Zero(IntTag());
  const IntVector even =
      hn::ReorderWidenMulAccumulate(IntTag(), pairs, right, as_vector(sums), odd);
  return as_sums(hn::RearrangeToOddPlusEven(even, odd));
#endif
}

using ByteTag = hn::Repartition<std::uint8_t, Tag>;
using ByteVector = hn::Vec<ByteTag>;

#endif

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3

/// Sums in 16 bits, which saturate, of pairs of products of unsigned and of signed bytes.
template <class T, class U>
HWY_INLINE auto multiply_pairs(hn::Vec128<T> magnitudes, hn::Vec128<U> right) {
  return hn::Vec128<std::int16_t>{_mm_maddubs_epi16(magnitudes.raw, right.raw)};
}
#if HWY_CAP_GE256
template <class T, class U>
HWY_INLINE auto multiply_pairs(hn::Vec256<T> magnitudes, hn::Vec256<U> right) {
  return hn::Vec256<std::int16_t>{_mm256_maddubs_epi16(magnitudes.raw, right.raw)};
}
#endif
#if HWY_CAP_GE512
template <class T, class U>
HWY_INLINE auto multiply_pairs(hn::Vec512<T> magnitudes, hn::Vec512<U> right) {
  return hn::Vec512<std::int16_t>{_mm512_maddubs_epi16(magnitudes.raw, right.raw)};
}
#endif

/// Adds pairs of shorts to each sum.
HWY_INLINE IntSums add_pair_sums(PairVector pairs, IntSums sums) {
  return add_pairs(hn::Set(IntTag(), 0x00010001), pairs, sums);
}

#endif

struct Int16Arithmetic : QuantizedArithmetic<4, PairSums> {
  static constexpr bool kPrepares = false;
  using QuantizedArithmetic::QuantizedArithmetic;

  static HWY_INLINE PairVector right(const std::byte* b) {
    return load_pairs(reinterpret_cast<const std::int16_t*>(b));
  }
  static HWY_INLINE PairSums multiply_add(IntVector left, PairVector right, PairSums sums) {
    return add_pairs(left, right, sums);
  }
};

#ifdef FUSELAGE_VNNI

/// The instruction needs unsigned integers on the left: 128 is added to rows, and the initial sums
/// compensate for it.
struct Int8Arithmetic : CorrectedArithmetic<4> {
  static constexpr bool kPrepares = true;
  using CorrectedArithmetic::CorrectedArithmetic;

  static std::size_t prepared_elements(std::size_t k) { return 1 + (k + 3) / 4; }

  static void prepare(const float* row, std::size_t k, float* out) {
    out[0] = row[0];
    const std::size_t end = prepared_elements(k);
    const Vector flip = hn::BitCast(Tag(), hn::Set(IntTag(), static_cast<int>(0x80808080u)));
    std::size_t i = 1;
    for (; i + kLanes <= end; i += kLanes) store(hn::Xor(load(row + i), flip), out + i);
    if (i < end) store_n(hn::Xor(load_n(row + i, end - i, 0), flip), out + i, end - i);
  }

  static HWY_INLINE IntVector right(const std::byte* b) {
    return hn::Load(IntTag(), reinterpret_cast<const std::int32_t*>(b));
  }
  static HWY_INLINE IntSums multiply_add(IntVector left, IntVector right, IntSums sums) {
    return add_bytes(left.raw, right.raw, sums);
  }
};

#elif defined(FUSELAGE_DOTPROD)

/// Bytes as they are.
struct Int8Arithmetic : QuantizedArithmetic<4> {
  using QuantizedArithmetic::QuantizedArithmetic;

#ifdef FUSELAGE_I8MM
  /// Steps of two groups: zeros are behind an odd number of them.
  static constexpr bool kPrepares = true;

  static std::size_t prepared_elements(std::size_t k) { return 1 + (k + 7) / 8 * 2; }

  static void prepare(const float* row, std::size_t k, float* out) {
    const std::size_t elements = 1 + (k + 3) / 4;
    out[prepared_elements(k) - 1] = 0;
    std::memcpy(out, row, elements * sizeof(float));
  }
#else
  static constexpr bool kPrepares = false;
#endif

  static HWY_INLINE IntVector right(const std::byte* b) {
    return hn::Load(IntTag(), reinterpret_cast<const std::int32_t*>(b));
  }
  static HWY_INLINE IntSums multiply_add(IntVector left, IntVector right, IntSums sums) {
    return add_bytes(left, right, sums);
  }
};

#elif !defined(FUSELAGE_BYTE_PAIRS)

/// Both sides are widened, rows in advance and the matrix when it is loaded: byte instructions
/// saturate their sums.
struct Int8Arithmetic : QuantizedArithmetic<2, PairSums> {
  static constexpr bool kPrepares = true;
  using QuantizedArithmetic::QuantizedArithmetic;

  static std::size_t prepared_elements(std::size_t k) { return 1 + (k + 1) / 2; }

  static void prepare(const float* row, std::size_t k, float* out) {
    out[0] = row[0];
    const auto* from = reinterpret_cast<const std::int8_t*>(row + 1);
    auto* to = reinterpret_cast<std::byte*>(out + 1);
    const std::size_t end = 2 * ((k + 1) / 2);
    for (std::size_t i = 0; i < end; ++i) {
      // NOLINTNEXTLINE(bugprone-signed-char-misuse): these are numbers
      const std::int16_t wide = from[i];
      std::memcpy(to + 2 * i, &wide, sizeof wide);
    }
  }

  static HWY_INLINE PairVector right(const std::byte* b) {
    return load_pairs(reinterpret_cast<const std::int8_t*>(b));
  }
  static HWY_INLINE PairSums multiply_add(IntVector left, PairVector right, PairSums sums) {
    return add_pairs(left, right, sums);
  }
};

#endif

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_INTEGER_ARITHMETIC_INL_H_
