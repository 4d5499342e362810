// Products of some rows with some columns of a matrix, each of which lies by itself. Compiled once
// a target, hence the unusual guard.
#if defined(FUSELAGE_CPU_KERNELS_DOTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_DOTS_INL_H_
#undef FUSELAGE_CPU_KERNELS_DOTS_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_DOTS_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "backends/cpu/kernels/arithmetic-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

// A tile of products: its sums stay in registers.
inline constexpr std::size_t kDotColumns = 4;
inline constexpr std::size_t kDotRows = HWY_TARGET <= HWY_AVX3 ? 6 : 2;

// Vectors of kStep terms of a sum, of which load_n takes the first n.
struct FloatDot {
  using Element = float;
  using Sum = Vector;
  static constexpr std::size_t kStep = kLanes;

  static HWY_INLINE Sum zero() { return hn::Zero(Tag()); }
  static HWY_INLINE Vector load(const float* p) { return hn::LoadU(Tag(), p); }
  static HWY_INLINE Vector load_n(const float* p, std::size_t n) {
    return HWY_NAMESPACE::load_n(p, n, 0);
  }
  static HWY_INLINE Sum multiply_add(Vector a, Vector b, Sum sum) { return hn::MulAdd(a, b, sum); }
};

#if HWY_TARGET == HWY_SCALAR

template <class T>
struct IntegerDot {
  using Element = T;
  using Sum = IntVector;
  static constexpr std::size_t kStep = 1;

  static Sum zero() { return hn::Zero(IntTag()); }
  static IntVector load(const T* p) { return hn::Set(IntTag(), *p); }
  static IntVector load_n(const T* p, std::size_t) { return load(p); }
  static Sum multiply_add(IntVector a, IntVector b, Sum sum) { return hn::Add(sum, hn::Mul(a, b)); }
};

#else

// Bytes are widened: instructions for them saturate their sums.
template <class T>
struct IntegerDot {
  using Element = T;
  static constexpr std::size_t kStep = 2 * kLanes;
  struct Sum {
    IntVector even, odd;
  };

  static HWY_INLINE Sum zero() { return {hn::Zero(IntTag()), hn::Zero(IntTag())}; }
  static HWY_INLINE PairVector load(const std::int16_t* p) { return hn::LoadU(ShortTag(), p); }
  static HWY_INLINE PairVector load(const std::int8_t* p) {
    return hn::PromoteTo(ShortTag(), hn::LoadU(hn::Rebind<std::int8_t, ShortTag>(), p));
  }
  static HWY_INLINE PairVector load_n(const T* p, std::size_t n) {
    T buffer[kStep] = {};
    std::memcpy(buffer, p, n * sizeof(T));
    return load(buffer);
  }
  static HWY_INLINE Sum multiply_add(PairVector a, PairVector b, Sum sum) {
    sum.even = hn::ReorderWidenMulAccumulate(IntTag(), a, b, sum.even, sum.odd);
    return sum;
  }
};

#endif

HWY_INLINE Vector lanes_of(Vector sum) { return sum; }
template <class Sum>
HWY_INLINE IntVector lanes_of(const Sum& sum) {
#if HWY_TARGET == HWY_SCALAR
  return sum;
#else
  return hn::Add(sum.even, sum.odd);
#endif
}

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

// Where the sums of a row's products with kDotColumns columns go.
HWY_INLINE void store_products(const Vector (&sums)[kDotColumns], float* out) {
  store_sums(Tag(), sums[0], sums[1], sums[2], sums[3], out);
}
template <class Sum>
HWY_INLINE void store_products(const Sum (&sums)[kDotColumns], float* out) {
  std::int32_t integers[kDotColumns];
  store_sums(IntTag(), lanes_of(sums[0]), lanes_of(sums[1]), lanes_of(sums[2]), lanes_of(sums[3]),
             integers);
  for (std::size_t c = 0; c < kDotColumns; ++c) out[c] = static_cast<float>(integers[c]);
}

/// Elements of rows and columns, and where the first row's products go; those of the next one are
/// `stride` further.
template <class Element>
struct DotTile {
  const Element* rows[kDotRows];
  const Element* columns[kDotColumns];
  float* out;
  std::size_t stride;
};

// Each product is one chain of sums a lane and one tree of lanes, whatever the tile.
template <class Dot, std::size_t kRows>
HWY_NOINLINE void multiply_tile(const DotTile<typename Dot::Element>& tile, std::size_t k) {
  typename Dot::Sum sums[kRows][kDotColumns];
  HWY_UNROLL(6)
  for (std::size_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(4)
    for (std::size_t c = 0; c < kDotColumns; ++c) sums[r][c] = Dot::zero();
  }
  const auto step = [&](const auto& read) HWY_ATTR {
    const decltype(read(tile.rows[0])) columns[] = {read(tile.columns[0]), read(tile.columns[1]),
                                                    read(tile.columns[2]), read(tile.columns[3])};
    HWY_UNROLL(6)
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto row = read(tile.rows[r]);
      HWY_UNROLL(4)
      for (std::size_t c = 0; c < kDotColumns; ++c)
        sums[r][c] = Dot::multiply_add(row, columns[c], sums[r][c]);
    }
  };
  std::size_t i = 0;
  for (; i + Dot::kStep <= k; i += Dot::kStep)
    step([i](const auto* p) HWY_ATTR { return Dot::load(p + i); });
  if (i < k) step([i, k](const auto* p) HWY_ATTR { return Dot::load_n(p + i, k - i); });
  for (std::size_t r = 0; r < kRows; ++r) store_products(sums[r], tile.out + r * tile.stride);
}

template <class Dot, std::size_t kRows = kDotRows>
void multiply_rows(const DotTile<typename Dot::Element>& tile, std::size_t rows, std::size_t k) {
  if (rows == kRows) return multiply_tile<Dot, kRows>(tile, k);
  if constexpr (kRows > 1) multiply_rows<Dot, kRows - 1>(tile, rows, k);
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_DOTS_INL_H_
