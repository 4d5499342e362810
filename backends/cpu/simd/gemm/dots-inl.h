// Products of some rows with some columns of a matrix stored by columns. Compiled once per target,
// hence the unusual guard.
#if defined(FUSELAGE_CPU_KERNELS_DOTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_DOTS_INL_H_
#undef FUSELAGE_CPU_KERNELS_DOTS_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_DOTS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "backends/cpu/simd/gemm/arithmetic-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

// A tile of products: its sums stay in registers. Few rows take more columns, and so share more of
// their own loads.
inline constexpr std::size_t kDotColumns = 4;
inline constexpr std::size_t kDotRows = HWY_CAP_GE512 ? 6 : 2;
inline constexpr std::size_t kWideDotColumns = HWY_CAP_GE512 ? 8 : kDotColumns;
template <class Dot>
constexpr bool is_wide(std::size_t rows) {
  return kWideDotColumns > kDotColumns && !Dot::kDecodes && rows <= 2;
}

// A Dot defines the operations of a dot product of row and column, kStep terms at a time:
//
//     kScaled             whether rows and columns begin with a scale
//     kDecodes            whether a column's vector becomes several registers
//     kBiased, zero_row() whether sums of a row of zeros are not zero, and that row; what they are
//                         is too much in all sums
//     Sum, start(p)       the sums of a step's terms, lane by lane, and their first values for a
//                         row at p
//     row(p, i, lanes)    the terms from i on of a row at p: all of a step, or the first ones with
//     column(p, i, lanes) zeros behind them
//     multiply_add        row * column + sum
//
// Some need rows in another form, as an arithmetic does.

/// The n elements at p, padded with zeros.
template <class T, std::size_t kSize>
struct Padded {
  Padded(const T* p, std::size_t n) { std::memcpy(elements, p, n * sizeof(T)); }
  T elements[kSize] = {};
};

struct FloatDot {
  using Sum = Vector;
  static constexpr std::size_t kStep = kLanes;
  static constexpr bool kScaled = false, kPrepares = false, kDecodes = false, kBiased = false;

  static HWY_INLINE Sum start(const std::byte*) { return hn::Zero(Tag()); }
  template <class Lanes>
  static HWY_INLINE Vector row(const std::byte* p, std::size_t i, Lanes lanes) {
    return read(reinterpret_cast<const float*>(p) + i, lanes);
  }
  template <class Lanes>
  static HWY_INLINE Vector column(const std::byte* p, std::size_t i, Lanes lanes) {
    return row(p, i, lanes);
  }
  static HWY_INLINE Sum multiply_add(Vector a, Vector b, Sum sum) { return hn::MulAdd(a, b, sum); }
};

struct BFloat16Dot : FloatDot {
  static HWY_INLINE Vector column(const std::byte* p, std::size_t i, AllLanes) {
    return load_halves(reinterpret_cast<const std::uint16_t*>(p) + i);
  }
  static HWY_INLINE Vector column(const std::byte* p, std::size_t i, FirstLanes lanes) {
    return load_halves(
        Padded<std::uint16_t, kStep>(reinterpret_cast<const std::uint16_t*>(p) + i, lanes.n)
            .elements);
  }
};

/// Integers of type T in pairs: instructions for bytes saturate their sums.
template <class T>
struct IntegerDot {
  using Sum = PairSums;
  static constexpr std::size_t kStep = 2 * kLanes;
  static constexpr bool kScaled = true, kPrepares = false, kDecodes = false, kBiased = false;

  static HWY_INLINE Sum start(const std::byte*) { return sums_from<Sum>(hn::Zero(IntTag())); }
  static HWY_INLINE PairVector row(const std::byte* p, std::size_t i, AllLanes) {
    return load_pairs(reinterpret_cast<const T*>(p) + i);
  }
  static HWY_INLINE PairVector row(const std::byte* p, std::size_t i, FirstLanes lanes) {
    return load_pairs(Padded<T, kStep>(reinterpret_cast<const T*>(p) + i, lanes.n).elements);
  }
  template <class Lanes>
  static HWY_INLINE PairVector column(const std::byte* p, std::size_t i, Lanes lanes) {
    return row(p, i, lanes);
  }
  static HWY_INLINE Sum multiply_add(PairVector a, PairVector b, Sum sum) {
    return add_pairs(hn::BitCast(IntTag(), a), b, sum);
  }
};

#ifdef FUSELAGE_VNNI

/// The instruction needs unsigned bytes on one side: 128 is added to columns, and the sums of a row
/// start from what that adds to them.
struct Int8Dot {
  using Sum = IntSums;
  static constexpr std::size_t kStep = 4 * kLanes;
  static constexpr bool kScaled = true, kPrepares = true, kDecodes = false, kBiased = false;

  static HWY_INLINE IntVector flip() { return hn::Set(IntTag(), static_cast<int>(0x80808080u)); }

  static std::size_t prepared_elements(std::size_t k) {
    return 1 + kLanes + (k + kStep - 1) / kStep * kLanes;
  }

  static void prepare(const float* row, std::size_t k, float* out) {
    out[0] = row[0];
    const auto* from = reinterpret_cast<const std::byte*>(row + 1);
    auto* start = reinterpret_cast<std::int32_t*>(out + 1);
    IntSums sums = as_sums(hn::Zero(IntTag()));
    for (std::size_t i = 0; i < k; i += kStep) {
      const IntVector bytes = i + kStep <= k ? load_bytes(from + i) : load_bytes(from + i, k - i);
      hn::StoreU(bytes, IntTag(), start + kLanes + i / sizeof(std::int32_t));
      sums = multiply_add(bytes, flip(), sums);
    }
    hn::StoreU(hn::Neg(as_vector(sums)), IntTag(), start);
  }

  static HWY_INLINE IntVector load_bytes(const std::byte* p) {
    return hn::LoadU(IntTag(), reinterpret_cast<const std::int32_t*>(p));
  }
  /// The first n of them and zeros. Quantized vectors consist of whole words, padded with zeros. A
  /// call of memcpy would take the sums out of their registers.
  static HWY_INLINE IntVector load_bytes(const std::byte* p, std::size_t n) {
    return hn::BitCast(IntTag(), load_n(reinterpret_cast<const float*>(p), (n + 3) / 4, 0));
  }
  static HWY_INLINE Sum start(const std::byte* row) { return as_sums(load_bytes(row)); }
  template <class Lanes>
  static HWY_INLINE IntVector row(const std::byte* p, std::size_t i, Lanes) {
    IntVector bytes = load_bytes(p + kStep + i);
    hold(bytes);
    return bytes;
  }
  static HWY_INLINE IntVector column(const std::byte* p, std::size_t i, AllLanes) {
    return hn::Xor(load_bytes(p + i), flip());
  }
  static HWY_INLINE IntVector column(const std::byte* p, std::size_t i, FirstLanes lanes) {
    return hn::Xor(load_bytes(p + i, lanes.n), flip());
  }
  static HWY_INLINE Sum multiply_add(IntVector row, IntVector column, Sum sum) {
    return add_bytes(column.raw, row.raw, sum);
  }
};

#elif defined(FUSELAGE_DOTPROD)

/// Bytes as they are.
struct Int8Dot {
  using Sum = IntSums;
  static constexpr std::size_t kStep = 4 * kLanes;
  static constexpr bool kScaled = true, kPrepares = false, kDecodes = false, kBiased = false;

  static HWY_INLINE Sum start(const std::byte*) { return hn::Zero(IntTag()); }
  static HWY_INLINE IntVector row(const std::byte* p, std::size_t i, AllLanes) {
    return hn::LoadU(IntTag(), reinterpret_cast<const std::int32_t*>(p + i));
  }
  static HWY_INLINE IntVector row(const std::byte* p, std::size_t i, FirstLanes lanes) {
    return hn::BitCast(IntTag(), hn::LoadU(hn::Repartition<std::int8_t, Tag>(),
                                           Padded<std::int8_t, kStep>(
                                               reinterpret_cast<const std::int8_t*>(p) + i, lanes.n)
                                               .elements));
  }
  template <class Lanes>
  static HWY_INLINE IntVector column(const std::byte* p, std::size_t i, Lanes lanes) {
    return row(p, i, lanes);
  }
  static HWY_INLINE Sum multiply_add(IntVector row, IntVector column, Sum sum) {
    return add_bytes(row, column, sum);
  }
};

#else

using Int8Dot = IntegerDot<std::int8_t>;

#endif

/// Columns are qlog4 vectors. The low nibbles of 4 bytes are terms 0, 2, 4 and 6, so rows are
/// prepared in steps of kLanes words of even terms and kLanes words of odd terms.
struct Log4Dot {
  using Sum = Log4Sums;
  static constexpr std::size_t kStep = kLog4Group * kLanes;
  static constexpr bool kScaled = true, kPrepares = true, kDecodes = true, kBiased = true;

  struct Row {
    IntVector words[kLog4Words];
  };

  static std::size_t prepared_elements(std::size_t k) {
    return 1 + (k + kStep - 1) / kStep * kStep / sizeof(float);
  }

  static void prepare(const float* row, std::size_t k, float* out) {
    std::fill_n(out, prepared_elements(k), 0.0f);
    out[0] = row[0];
    const auto* from = reinterpret_cast<const std::int8_t*>(row + 1);
    auto* to = reinterpret_cast<std::int8_t*>(out + 1);
    for (std::size_t i = 0; i < k; ++i)
      to[i / kStep * kStep + i % 2 * (kStep / 2) + i % kStep / 2] = from[i];
  }

  static HWY_INLINE Row zero_row() { return {{hn::Zero(IntTag()), hn::Zero(IntTag())}}; }
  static HWY_INLINE Sum start(const std::byte*) { return sums_from<Sum>(hn::Zero(IntTag())); }
  template <class Lanes>
  static HWY_INLINE Row row(const std::byte* p, std::size_t i, Lanes) {
    const auto* words = reinterpret_cast<const std::int32_t*>(p + i);
    Row row;
    HWY_UNROLL(2)
    for (std::size_t w = 0; w < kLog4Words; ++w)
      row.words[w] = hn::LoadU(IntTag(), words + w * kLanes);
    return row;
  }
  static HWY_INLINE Log4Columns column(const std::byte* p, std::size_t i, AllLanes) {
    return load_log4(p + i / 2);
  }
  static HWY_INLINE Log4Columns column(const std::byte* p, std::size_t i, FirstLanes lanes) {
    return load_log4(Padded<std::byte, kStep / 2>(p + i / 2, (lanes.n + 1) / 2).elements);
  }
  static HWY_INLINE Sum multiply_add(const Row& row, const Log4Columns& column, Sum sum) {
    return multiply_log4(row.words, column, sum);
  }
};

#if HWY_TARGET != HWY_SCALAR
// Adds up the blocks of 16 bytes of a vector.
template <class D>
HWY_INLINE void store_sum_of_blocks(D d, hn::Vec<D> v, hn::TFromD<D>* out) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    hn::StoreU(v, d, out);
  } else {
    const hn::Half<D> half;
    store_sum_of_blocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)), out);
  }
}
#endif

// The sums of the lanes of four vectors.
template <class D>
HWY_INLINE void store_sums([[maybe_unused]] D d, hn::Vec<D> a, hn::Vec<D> b, hn::Vec<D> c,
                           hn::Vec<D> e, hn::TFromD<D>* out) {
#if HWY_TARGET == HWY_SCALAR
  const hn::Vec<D> sums[] = {a, b, c, e};
  for (std::size_t i = 0; i < kDotColumns; ++i) out[i] = hn::GetLane(sums[i]);
#else
  const hn::Repartition<std::uint64_t, D> pairs;
  const auto ab =
      hn::BitCast(pairs, hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)));
  const auto ce =
      hn::BitCast(pairs, hn::Add(hn::InterleaveLower(d, c, e), hn::InterleaveUpper(d, c, e)));
  const auto lower = hn::BitCast(d, hn::InterleaveLower(pairs, ab, ce));
  const auto upper = hn::BitCast(d, hn::InterleaveUpper(pairs, ab, ce));
  store_sum_of_blocks(d, hn::Add(lower, upper), out);
#endif
}

/// Rows and columns of a tile, behind their scales, and the destination of the first row's
/// products; rows of products are `stride` apart.
struct DotTile {
  const std::byte* rows[kDotRows];
  const std::byte* columns[kWideDotColumns];
  float* out;
  std::size_t stride;
};

HWY_INLINE float scale_at(const std::byte* vector) {
  float scale = 0;
  std::memcpy(&scale, vector, sizeof scale);
  return scale;
}

// Stores the products of row r.
template <std::size_t kColumns>
HWY_INLINE void store_products(const DotTile& tile, std::size_t r, const Vector (&sums)[kColumns]) {
  for (std::size_t c = 0; c < kColumns; c += kDotColumns)
    store_sums(Tag(), sums[c], sums[c + 1], sums[c + 2], sums[c + 3],
               tile.out + r * tile.stride + c);
}
template <class Sums, std::size_t kColumns>
HWY_INLINE void store_products(const DotTile& tile, std::size_t r, const Sums (&sums)[kColumns]) {
  std::int32_t integers[kColumns];
  float scales[kColumns];
  for (std::size_t c = 0; c < kColumns; c += kDotColumns)
    store_sums(IntTag(), as_vector(sums[c]), as_vector(sums[c + 1]), as_vector(sums[c + 2]),
               as_vector(sums[c + 3]), integers + c);
  for (std::size_t c = 0; c < kColumns; ++c) scales[c] = scale_at(tile.columns[c] - sizeof(float));
  const float scale = scale_at(tile.rows[r] - sizeof(float));
  float* out = tile.out + r * tile.stride;
  for (std::size_t c = 0; c < kColumns; ++c)
    out[c] = static_cast<float>(integers[c]) * scales[c] * scale;
}

template <class Sums, std::size_t kColumns>
HWY_INLINE void subtract(const Sums (&bias)[kColumns], Sums (&sums)[kColumns]) {
  for (std::size_t c = 0; c < kColumns; ++c)
    sums[c] = sums_from<Sums>(hn::Sub(as_vector(sums[c]), as_vector(bias[c])));
}

/// Adds the products of a row of zeros to the bias.
template <class Dot, class Column>
HWY_INLINE void add_zero_row(const Column& column, typename Dot::Sum& bias) {
  if constexpr (Dot::kBiased) bias = Dot::multiply_add(Dot::zero_row(), column, bias);
}

/// Adds the products of a full or partial step of terms from i on to the sums, and the products of
/// a row of zeros to the bias.
template <class Dot, std::size_t kRows, std::size_t kColumns, class Lanes>
HWY_INLINE void multiply_step(const DotTile& tile, std::size_t i, Lanes lanes,
                              typename Dot::Sum (&sums)[kRows][kColumns],
                              typename Dot::Sum (&bias)[kColumns]) {
  if constexpr (Dot::kDecodes) {
    HWY_UNROLL(8)
    for (std::size_t c = 0; c < kColumns; ++c) {
      const auto column = Dot::column(tile.columns[c], i, lanes);
      add_zero_row<Dot>(column, bias[c]);
      HWY_UNROLL(6)
      for (std::size_t r = 0; r < kRows; ++r)
        sums[r][c] = Dot::multiply_add(Dot::row(tile.rows[r], i, lanes), column, sums[r][c]);
    }
  } else {
    decltype(Dot::column(tile.columns[0], i, lanes)) columns[kColumns];
    HWY_UNROLL(8)
    for (std::size_t c = 0; c < kColumns; ++c) {
      columns[c] = Dot::column(tile.columns[c], i, lanes);
      add_zero_row<Dot>(columns[c], bias[c]);
    }
    HWY_UNROLL(6)
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto row = Dot::row(tile.rows[r], i, lanes);
      HWY_UNROLL(8)
      for (std::size_t c = 0; c < kColumns; ++c)
        sums[r][c] = Dot::multiply_add(row, columns[c], sums[r][c]);
    }
  }
}

// Each product is one chain of sums per lane and one tree over lanes, independent of the tile.
template <class Dot, std::size_t kRows, std::size_t kColumns>
HWY_NOINLINE void multiply_tile(const DotTile& tile, std::size_t k) {
  typename Dot::Sum sums[kRows][kColumns];
  typename Dot::Sum bias[kColumns];
  if constexpr (Dot::kBiased) std::fill_n(bias, kColumns, Dot::start(nullptr));
  HWY_UNROLL(6)
  for (std::size_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(8)
    for (std::size_t c = 0; c < kColumns; ++c) sums[r][c] = Dot::start(tile.rows[r]);
  }
  std::size_t i = 0;
  for (; i + Dot::kStep <= k; i += Dot::kStep)
    multiply_step<Dot, kRows, kColumns>(tile, i, AllLanes(), sums, bias);
  if (i < k) multiply_step<Dot, kRows, kColumns>(tile, i, FirstLanes{k - i}, sums, bias);
  for (std::size_t r = 0; r < kRows; ++r) {
    if constexpr (Dot::kBiased) subtract(bias, sums[r]);
    store_products(tile, r, sums[r]);
  }
}

/// The products of `rows` rows with kDotColumns columns, or with kWideDotColumns of them if
/// is_wide.
template <class Dot, std::size_t kRows = kDotRows>
void multiply_rows(const DotTile& tile, std::size_t rows, std::size_t columns, std::size_t k) {
  if (rows == kRows) {
    if constexpr (is_wide<Dot>(kRows))
      if (columns == kWideDotColumns) return multiply_tile<Dot, kRows, kWideDotColumns>(tile, k);
    return multiply_tile<Dot, kRows, kDotColumns>(tile, k);
  }
  if constexpr (kRows > 1) multiply_rows<Dot, kRows - 1>(tile, rows, columns, k);
}

/// Calls f with the Dot of a column type, as a Type.
template <class F>
HWY_INLINE void with_dot(DType columns, const F& f) {
  switch (columns) {
    case DType::qint8:
      return f(Type<Int8Dot>());
    case DType::qint16:
      return f(Type<IntegerDot<std::int16_t>>());
    case DType::qlog4:
      return f(Type<Log4Dot>());
    case DType::bf16:
      return f(Type<BFloat16Dot>());
    default:
      return f(Type<FloatDot>());
  }
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_DOTS_INL_H_
