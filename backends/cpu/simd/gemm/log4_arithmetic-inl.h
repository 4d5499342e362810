// Products of bytes and logarithmic numbers (base/numbers/logarithmic.h), which are unpacked when
// they are loaded. Compiled once per target, hence the unusual guard.
#if defined(FUSELAGE_CPU_KERNELS_LOG4_ARITHMETIC_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_LOG4_ARITHMETIC_INL_H_
#undef FUSELAGE_CPU_KERNELS_LOG4_ARITHMETIC_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_LOG4_ARITHMETIC_INL_H_
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "backends/cpu/simd/gemm/integer_arithmetic-inl.h"
#include "base/numbers/logarithmic.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

// A group has 8 terms: in a row, two words of 4 bytes; in a column, 4 bytes, with the terms of the
// first word in the low nibbles and of the second word in the high nibbles.

inline constexpr std::size_t kLog4Group = PackedMatrix::kLog4Group;
inline constexpr std::size_t kLog4Words = kLog4Group / sizeof(float);

#ifdef FUSELAGE_DOTPROD
using Log4Sums = IntSums;
#else
using Log4Sums = PairSums;
#endif

#if HWY_TARGET == HWY_SCALAR

using Log4Base = QuantizedArithmetic<4>;

/// A column's group.
struct Log4Columns {
  std::array<std::byte, 4> bytes;
};

HWY_INLINE Log4Columns load_log4(const std::byte* b) { return {{b[0], b[1], b[2], b[3]}}; }

HWY_INLINE Log4Sums multiply_log4(const IntVector (&row)[kLog4Words], const Log4Columns& columns,
                                  Log4Sums sums) {
  std::int32_t sum = hn::GetLane(sums);
  for (std::size_t term = 0; term < kLog4Group; ++term) {
    const auto word = std::bit_cast<std::array<std::int8_t, 4>>(hn::GetLane(row[term / 4]));
    const auto nibble = static_cast<std::int64_t>(term % 4 * 2 + term / 4);
    sum += word[term % 4] * nibble_value(columns.bytes.data(), nibble);
  }
  return hn::Set(IntTag(), sum);
}

#else

/// Adds the products of unsigned and of signed bytes, four per sum. Intermediate sums of two
/// products fit in shorts, since the unsigned bytes are at most 128.
HWY_INLINE Log4Sums add_products(ByteVector magnitudes, ByteVector row, Log4Sums sums) {
#if defined(FUSELAGE_VNNI)
  return add_bytes(magnitudes.raw, row.raw, sums);
#elif defined(FUSELAGE_I8MM)
  return IntVector{vusdotq_s32(sums.raw, magnitudes.raw, vreinterpretq_s8_u8(row.raw))};
#elif defined(FUSELAGE_DOTPROD)
  // Both sides of the instruction are signed: 128 is 64 + 64.
  const ByteVector most = hn::Min(magnitudes, hn::Set(ByteTag(), 64));
  const IntVector right = hn::BitCast(IntTag(), row);
  sums = add_bytes(hn::BitCast(IntTag(), most), right, sums);
  return add_bytes(hn::BitCast(IntTag(), hn::Sub(magnitudes, most)), right, sums);
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3
  return add_pair_sums(multiply_pairs(magnitudes, row), sums);
#else
  const PairVector left = hn::BitCast(ShortTag(), magnitudes);
  const PairVector right = hn::BitCast(ShortTag(), row);
  const auto odd = [](PairVector v) {
    const hn::RebindToUnsigned<ShortTag> shorts;
    return hn::BitCast(IntTag(), hn::ShiftRight<8>(hn::BitCast(shorts, v)));
  };
  const IntVector even = hn::BitCast(IntTag(), hn::And(left, hn::Set(ShortTag(), 0xff)));
  sums = add_pairs(even, hn::ShiftRight<8>(hn::ShiftLeft<8>(right)), sums);
  return add_pairs(odd(left), hn::ShiftRight<8>(right), sums);
#endif
}

HWY_INLINE ByteVector low_nibbles(ByteVector bytes) {
  return hn::And(bytes, hn::Set(ByteTag(), 15));
}
HWY_INLINE ByteVector high_nibbles(ByteVector bytes) {
  const hn::Repartition<std::uint16_t, Tag> shorts;
  return low_nibbles(hn::BitCast(ByteTag(), hn::ShiftRight<4>(hn::BitCast(shorts, bytes))));
}

/// Looks up each nibble in a table of 16 entries.
HWY_INLINE ByteVector look_up(const std::uint8_t (&table)[16], ByteVector nibbles) {
  const ByteVector entries = hn::LoadDup128(ByteTag(), table);
#if HWY_ARCH_WASM
  // Highway 1.0.3 looks up byte by byte, for engines of 2021.
  return ByteVector{wasm_i8x16_swizzle(entries.raw, nibbles.raw)};
#else
  return hn::TableLookupBytes(entries, nibbles);
#endif
}

alignas(16) inline constexpr std::uint8_t kMagnitudes[16] = {1, 2, 4, 8, 16, 32, 64, 128,
                                                             1, 2, 4, 8, 16, 32, 64, 128};
alignas(16) inline constexpr std::uint8_t kSigns[16] = {0,   0,   0,   0,   0,   0,   0,   0,
                                                        255, 255, 255, 255, 255, 255, 255, 255};

/// The groups of kLanes columns, of each word.
struct Log4Columns {
  ByteVector magnitudes[kLog4Words];
  ByteVector signs[kLog4Words];  // all bits of a byte
};

/// Loads the groups at b, of any alignment.
HWY_INLINE Log4Columns load_log4(const std::byte* b) {
  ByteVector bytes = hn::LoadU(ByteTag(), reinterpret_cast<const std::uint8_t*>(b));
  hold(bytes);
  const ByteVector low = low_nibbles(bytes), high = high_nibbles(bytes);
  return {{look_up(kMagnitudes, low), look_up(kMagnitudes, high)},
          {look_up(kSigns, low), look_up(kSigns, high)}};
}

// Signs are applied to the row: for a negative number of the column, the complement of the row's
// number, -x - 1, is multiplied. The sums then lack the magnitudes of the column's negative
// numbers, so they start from them.

using Log4Base = CorrectedArithmetic<4, Log4Sums>;

HWY_INLINE Log4Sums multiply_log4(const IntVector (&row)[kLog4Words], const Log4Columns& columns,
                                  Log4Sums sums) {
  HWY_UNROLL(2)
  for (std::size_t w = 0; w < kLog4Words; ++w) {
    const ByteVector flipped = hn::Xor(hn::BitCast(ByteTag(), row[w]), columns.signs[w]);
    sums = add_products(columns.magnitudes[w], flipped, sums);
  }
  return sums;
}

#endif

/// Rows are qint8 vectors, padded with zeros to a whole group.
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
    const std::size_t elements = 1 + (k + 3) / 4;
    std::copy_n(row, elements, out);
    std::fill(out + elements, out + prepared_elements(k), 0.0f);
  }

  static HWY_INLINE Left left(const float* row, std::size_t i) {
    Left left;
    HWY_UNROLL(4)
    for (std::size_t w = 0; w < kLog4Words; ++w)
      left.words[w] = Log4Base::left(row, kLog4Words * i + w);
    return left;
  }
  static HWY_INLINE Log4Columns right(const std::byte* b) { return load_log4(b); }
  static HWY_INLINE Log4Sums multiply_add(const Left& left, const Log4Columns& right,
                                          Log4Sums sums) {
    return multiply_log4(left.words, right, sums);
  }
};

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_LOG4_ARITHMETIC_INL_H_
