// Products of bytes and logarithmic numbers (base/logarithmic.h), which stay packed in the matrix.
// Compiled once a target, hence the unusual guard.
#if defined(FUSELAGE_CPU_KERNELS_LOG4_ARITHMETIC_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_LOG4_ARITHMETIC_INL_H_
#undef FUSELAGE_CPU_KERNELS_LOG4_ARITHMETIC_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_LOG4_ARITHMETIC_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "backends/cpu/kernels/integer_arithmetic-inl.h"
#include "base/logarithmic.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

// A group has 8 terms. A column's are in 4 bytes: the low nibbles are terms 0 to 3, the high ones
// terms 4 to 7. A row's are kLog4Words words of 4 bytes, of which a level says:
//
//     prepare_log4(terms, out)      makes the words of a group of bytes
//     Log4Columns, load_log4(b)     the groups of kLanes columns at b, of any alignment
//     multiply_log4(row, columns, sums)
//     Log4Base, multiply_log4_corrected: the same where sums begin as the base says

inline constexpr std::size_t kLog4Group = PackedMatrix::kLog4Group;

#if HWY_TARGET != HWY_SCALAR

using ByteTag = hn::Repartition<std::uint8_t, Tag>;
using ByteVector = hn::Vec<ByteTag>;

HWY_INLINE ByteVector load_bytes(const std::byte* b) {
  return hn::LoadU(ByteTag(), reinterpret_cast<const std::uint8_t*>(b));
}

HWY_INLINE ByteVector low_nibbles(ByteVector bytes) {
  return hn::And(bytes, hn::Set(ByteTag(), 15));
}
HWY_INLINE ByteVector high_nibbles(ByteVector bytes) {
  const hn::Repartition<std::uint16_t, Tag> shorts;
  return low_nibbles(hn::BitCast(ByteTag(), hn::ShiftRight<4>(hn::BitCast(shorts, bytes))));
}

/// What a table of 16 has for each nibble.
HWY_INLINE ByteVector look_up(const std::uint8_t (&table)[16], ByteVector nibbles) {
  return hn::TableLookupBytes(hn::LoadDup128(ByteTag(), table), nibbles);
}

HWY_INLINE ByteVector magnitudes(ByteVector nibbles) {
  alignas(16) static constexpr std::uint8_t kPowers[16] = {1, 2, 4, 8, 16, 32, 64, 128,
                                                           1, 2, 4, 8, 16, 32, 64, 128};
  return look_up(kPowers, nibbles);
}

#endif

#ifdef FUSELAGE_VNNI

// The instruction's unsigned bytes are the magnitudes; signs go to the row.

inline constexpr std::size_t kLog4Words = 2;

inline void prepare_log4(const std::int8_t* terms, float* out) {
  std::memcpy(out, terms, kLog4Group);
}

struct Log4Columns {
  ByteVector magnitudes[kLog4Words];
  ByteVector signs[kLog4Words];  // all bits of a byte
};

HWY_INLINE ByteVector signs_of(ByteVector nibbles) {
  alignas(16) static constexpr std::uint8_t kSigns[16] = {0,   0,   0,   0,   0,   0,   0,   0,
                                                          255, 255, 255, 255, 255, 255, 255, 255};
  return look_up(kSigns, nibbles);
}

HWY_INLINE Log4Columns load_log4(const std::byte* b) {
  const ByteVector bytes = load_bytes(b);
  const ByteVector low = low_nibbles(bytes), high = high_nibbles(bytes);
  return {{magnitudes(low), magnitudes(high)}, {signs_of(low), signs_of(high)}};
}

HWY_INLINE IntSums multiply_bytes(ByteVector magnitudes, ByteVector row, IntSums sums) {
  return as_sums({_mm512_dpbusd_epi32(as_vector(sums).raw, magnitudes.raw, row.raw)});
}

HWY_INLINE IntSums multiply_log4(const IntVector (&row)[kLog4Words], const Log4Columns& columns,
                                 IntSums sums) {
  for (std::size_t w = 0; w < kLog4Words; ++w) {
    const ByteVector flipped = hn::Xor(hn::BitCast(ByteTag(), row[w]), columns.signs[w]);
    sums = multiply_bytes(columns.magnitudes[w], hn::Sub(flipped, columns.signs[w]), sums);
  }
  return sums;
}

// With the complement of a number, its negative less 1, the sum lacks the magnitudes of a column's
// negative numbers. Sums begin with them.

using Log4Base = CorrectedArithmetic<4>;

HWY_INLINE IntSums multiply_log4_corrected(const IntVector (&row)[kLog4Words],
                                           const Log4Columns& columns, IntSums sums) {
  for (std::size_t w = 0; w < kLog4Words; ++w) {
    const ByteVector flipped = hn::Xor(hn::BitCast(ByteTag(), row[w]), columns.signs[w]);
    sums = multiply_bytes(columns.magnitudes[w], flipped, sums);
  }
  return sums;
}

#else

// Both sides are widened, in pairs of terms: 0 and 2, 1 and 3, 4 and 6, 5 and 7.

inline constexpr std::size_t kLog4Words = 4;

inline void prepare_log4(const std::int8_t* terms, float* out) {
  static constexpr std::size_t kOrder[kLog4Group] = {0, 2, 1, 3, 4, 6, 5, 7};
  for (std::size_t i = 0; i < kLog4Group; ++i) {
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): these are numbers
    const std::int16_t wide = terms[kOrder[i]];
    std::memcpy(reinterpret_cast<std::byte*>(out) + 2 * i, &wide, sizeof wide);
  }
}

struct Log4Columns {
  PairVector pairs[kLog4Words];
};

#if HWY_TARGET == HWY_SCALAR

HWY_INLINE Log4Columns load_log4(const std::byte* b) {
  const auto pair = [b](std::int64_t byte, std::int64_t high) {
    const std::int32_t first = nibble_value(b, 2 * byte + high);
    const std::int32_t second = nibble_value(b, 2 * (byte + 2) + high);
    return hn::Set(IntTag(), static_cast<std::uint16_t>(first) | second * 65536);
  };
  return {{pair(0, 0), pair(1, 0), pair(0, 1), pair(1, 1)}};
}

#else

/// Magnitudes with the signs that the upper bits of `signs` are.
HWY_INLINE PairVector with_signs(PairVector magnitudes, PairVector signs) {
  const PairVector flip = hn::ShiftRight<15>(signs);
  return hn::Sub(hn::Xor(magnitudes, flip), flip);
}

HWY_INLINE PairVector even_bytes(ByteVector bytes) {
  return hn::And(hn::BitCast(ShortTag(), bytes), hn::Set(ShortTag(), 0xff));
}
HWY_INLINE PairVector odd_bytes(ByteVector bytes) {
  const hn::RebindToUnsigned<ShortTag> shorts;
  return hn::BitCast(ShortTag(), hn::ShiftRight<8>(hn::BitCast(shorts, bytes)));
}

HWY_INLINE Log4Columns load_log4(const std::byte* b) {
  const ByteVector bytes = load_bytes(b);
  const PairVector signs = hn::BitCast(ShortTag(), bytes);
  const ByteVector low = magnitudes(low_nibbles(bytes));
  const ByteVector high = magnitudes(high_nibbles(bytes));
  return {{with_signs(even_bytes(low), hn::ShiftLeft<12>(signs)),
           with_signs(odd_bytes(low), hn::ShiftLeft<4>(signs)),
           with_signs(even_bytes(high), hn::ShiftLeft<8>(signs)),
           with_signs(odd_bytes(high), signs)}};
}

#endif

HWY_INLINE IntSums multiply_log4(const IntVector (&row)[kLog4Words], const Log4Columns& columns,
                                 IntSums sums) {
  HWY_UNROLL(4)
  for (std::size_t p = 0; p < kLog4Words; ++p) sums = add_pairs(row[p], columns.pairs[p], sums);
  return sums;
}

using Log4Base = QuantizedArithmetic<4>;

HWY_INLINE IntSums multiply_log4_corrected(const IntVector (&row)[kLog4Words],
                                           const Log4Columns& columns, IntSums sums) {
  return multiply_log4(row, columns, sums);
}

#endif

struct Log4Arithmetic : Log4Base {
  static constexpr bool kPrepares = true;
  static constexpr bool kDecodes = true;
  using Log4Base::Log4Base;

  struct Left {
    IntVector words[kLog4Words];
  };

  static std::size_t prepared_elements(std::size_t k) {
    return 1 + kLog4Words * ((k + kLog4Group - 1) / kLog4Group);
  }

  static void prepare(const float* row, std::size_t k, float* out) {
    *out++ = row[0];
    const auto* from = reinterpret_cast<const std::int8_t*>(row + 1);
    for (std::size_t i = 0; i < k; i += kLog4Group, out += kLog4Words) {
      std::int8_t terms[kLog4Group] = {};
      std::memcpy(terms, from + i, std::min(kLog4Group, k - i));
      prepare_log4(terms, out);
    }
  }

  static HWY_INLINE Left left(const float* row, std::size_t i) {
    Left left;
    HWY_UNROLL(4)
    for (std::size_t w = 0; w < kLog4Words; ++w)
      left.words[w] = Log4Base::left(row, kLog4Words * i + w);
    return left;
  }
  static HWY_INLINE Log4Columns right(const std::byte* b) { return load_log4(b); }
  static HWY_INLINE IntSums multiply_add(const Left& left, const Log4Columns& right, IntSums sums) {
    return multiply_log4_corrected(left.words, right, sums);
  }
};

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_LOG4_ARITHMETIC_INL_H_
