// The matrix product, a tile at a time. Compiled once per target, hence the unusual guard.
#if defined(FUSELAGE_CPU_KERNELS_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_GEMM_INL_H_
#undef FUSELAGE_CPU_KERNELS_GEMM_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_GEMM_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "backends/cpu/simd/elementwise/math-inl.h"
#include "backends/cpu/simd/gemm/arithmetic-inl.h"
#include "backends/cpu/simd/gemm/product_epilogue.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

// The fewest rows of a tile that shares its panel with others: more rows than a tile has are split
// evenly.
template <class Arithmetic>
inline constexpr std::size_t kFewestSharingRows = (Arithmetic::kTileRows + 1) / 2;

inline constexpr std::size_t kCacheLine = 64;

/// Whether an arithmetic multiplies a row by several vectors of columns at a time.
template <class Arithmetic>
inline constexpr bool kHasRowSteps = requires {
  &Arithmetic::template multiply_add_row<1>;
};

// Few rows have too few chains to hide the latency of a multiply-add, so they use several panels at
// a time, unless one panel saturates the cache bandwidth. Row steps are for 4 vectors of columns;
// they have short chains, so that one row reads the matrix in one sequence, which hardware
// prefetches. Results do not depend on it: each output has its own chain.
template <class Arithmetic>
constexpr std::size_t panels_together(std::size_t rows) {
  if (kHasRowSteps<Arithmetic>) return rows == 1 ? 1 : 4 / kPanelVectors;
  if (kPanelVectors == 4 || rows > 2) return 1;  // of 16 registers, 3 rows by two would take 17
  return rows == 1 ? 4 : 2;
}

/// Rows of the left operand and the destination of their products.
struct Block {
  const float* a[kMaxTileRows];
  float* c[kMaxTileRows];
  // The numbers of the first row and of the first column that has no product.
  std::size_t row = 0, end = 0;
  // The bytes from the panel to what the first step prefetches, and from a step to the next.
  std::size_t ahead = 0, stride = 0;
};

/// An epilogue transforms products before they are stored: kCount vectors of row `row` from
/// `column` on. This one is for products of which `end` are stored of a row.
struct GemmEpilogue {
  template <std::size_t kCount>
  HWY_INLINE void operator()(Vector (&products)[kCount], std::size_t, std::size_t column) const {
    if (after.bias) add_bias(products, column);
    if (after.relu) {
      HWY_UNROLL(8)
      for (std::size_t v = 0; v < kCount; ++v) products[v] = relu_of(products[v]);
    }
  }

  ProductEpilogue after;
  std::size_t end;

 private:
  template <std::size_t kCount>
  HWY_INLINE void add_bias(Vector (&products)[kCount], std::size_t column) const {
    const float* bias = after.bias + column;
    if (HWY_LIKELY(column + kCount * kLanes <= end)) {
      HWY_UNROLL(8)
      for (std::size_t v = 0; v < kCount; ++v)
        products[v] = hn::Add(products[v], load(bias + v * kLanes));
      return;
    }
    for (std::size_t v = 0; v < kCount && column + v * kLanes < end; ++v) {
      const std::size_t n = std::min(kLanes, end - column - v * kLanes);
      const float* part = bias + v * kLanes;
      products[v] = hn::Add(products[v], n == kLanes ? load(part) : load_n(part, n, 0.0f));
    }
  }
};

template <std::size_t kCount>
HWY_INLINE void store_panels(const Vector* products, float* c, std::size_t width) {
  if (HWY_LIKELY(width == kCount * kLanes)) {
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < kCount; ++v) store(products[v], c + v * kLanes);
    return;
  }
  for (std::size_t v = 0; v < kCount; ++v) {
    const std::size_t column = v * kLanes;
    if (column + kLanes <= width)
      store(products[v], c + column);
    else if (column < width)
      store_n(products[v], c + column, width - column);
  }
}

// The steps of two blocks that share columns, or of one block if it has row steps, prefetch all
// lines of the next columns, into the second-level cache, which can wait for more lines at a time
// than the first level.
template <std::size_t kRows, std::size_t kCount, class Arithmetic>
HWY_INLINE void prefetch_step(const std::byte* group) {
  constexpr std::size_t kBlocks = kHasRowSteps<Arithmetic> ? 1 : 2;
  constexpr std::size_t kSize = kCount * kLanes * Arithmetic::kGroupBytes / kBlocks;
  if constexpr (kRows >= kFewestSharingRows<Arithmetic>) {
    HWY_UNROLL(16)
    for (std::size_t i = 0; i < kSize; i += kCacheLine) __builtin_prefetch(group + i, 0, 2);
  }
}

/// The groups of vector v of columns, in panels that start at b.
template <class Arithmetic>
HWY_INLINE auto right_at(const Arithmetic& panels, const std::byte* b, std::size_t v) {
  return Arithmetic::right(b + Arithmetic::bytes_before(v, panels.groups));
}

/// One step of all sums: group i of the rows at `a` times group i of the panels' columns at b. All
/// the columns are loaded before the rows go over them; row steps read them by themselves.
template <std::size_t kRows, std::size_t kCount, class Arithmetic, class Sum>
HWY_INLINE void multiply_loaded(const float* const* a, std::size_t i, const Arithmetic& panels,
                                const std::byte* b, const std::byte* next,
                                Sum (&sums)[kRows][kCount]) {
  decltype(Arithmetic::right(b)) right[kCount];
  HWY_UNROLL(8)
  for (std::size_t v = 0; v < kCount; ++v) {
    auto columns = right_at(panels, b, v);
    if constexpr (kRows > 1 && !kHasRowSteps<Arithmetic>) hold(columns);
    right[v] = columns;
  }
  prefetch_step<kRows, kCount, Arithmetic>(next);
  HWY_UNROLL(8)
  for (std::size_t r = 0; r < kRows; ++r) {
    if constexpr (kHasRowSteps<Arithmetic>) {
      Arithmetic::multiply_add_row(a[r], i, right, sums[r]);
    } else {
      const auto left = Arithmetic::left(a[r], i);
      HWY_UNROLL(8)
      for (std::size_t v = 0; v < kCount; ++v)
        sums[r][v] = Arithmetic::multiply_add(left, right[v], sums[r][v]);
    }
  }
}

/// The same if decoding expands columns into more registers, or no rows share them: each column
/// vector is finished before the next.
template <std::size_t kRows, std::size_t kCount, class Arithmetic, class Sum>
HWY_INLINE void multiply_decoded(const float* const* a, std::size_t i, const Arithmetic& panels,
                                 const std::byte* b, const std::byte* next,
                                 Sum (&sums)[kRows][kCount]) {
  prefetch_step<kRows, kCount, Arithmetic>(next);
  HWY_UNROLL(8)
  for (std::size_t v = 0; v < kCount; ++v) {
    const auto right = right_at(panels, b, v);
    HWY_UNROLL(8)
    for (std::size_t r = 0; r < kRows; ++r)
      sums[r][v] = Arithmetic::multiply_add(Arithmetic::left(a[r], i), right, sums[r][v]);
  }
}

template <std::size_t kRows, std::size_t kCount, class Arithmetic, class Sum>
HWY_INLINE void multiply_group(const float* const* a, std::size_t i, const Arithmetic& panels,
                               const std::byte* b, const std::byte* next,
                               Sum (&sums)[kRows][kCount]) {
  if constexpr (Arithmetic::kDecodes || (kRows == 1 && !kHasRowSteps<Arithmetic>))
    multiply_decoded<kRows, kCount>(a, i, panels, b, next, sums);
  else
    multiply_loaded<kRows, kCount>(a, i, panels, b, next, sums);
}

/// Whether the sums of a tile leave an epilogue too few registers.
template <std::size_t kRows, std::size_t kCount>
inline constexpr bool kFillsRegisters = !kHas32Registers && kRows * kCount >= 12;

/// Copies sums to memory, from where they are read: with too few registers behind a loop, g++ takes
/// one of the loop's for the whole function.
template <std::size_t kRows, std::size_t kCount, class Sum>
HWY_INLINE void copy_to_memory(const Sum (&sums)[kRows][kCount], Sum (&memory)[kRows][kCount]) {
  HWY_UNROLL(8)
  for (std::size_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < kCount; ++v) memory[r][v] = sums[r][v];
  }
#if HWY_COMPILER_GCC_ACTUAL
  asm volatile("" : : "r"(&memory) : "memory");
#endif
}

/// Stores the products of a tile's sums.
template <std::size_t kRows, std::size_t kCount, class Arithmetic, class Sum, class Epilogue>
HWY_INLINE void finish_sums(const Block& block, const Arithmetic& panels, std::size_t column,
                            const Sum (&sums)[kRows][kCount], const Epilogue& epilogue) {
  const std::size_t width = std::min(kCount * kLanes, block.end - column);
  HWY_UNROLL(8)
  for (std::size_t r = 0; r < kRows; ++r) {
    Vector products[kCount];
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < kCount; ++v) products[v] = panels.finish(sums[r][v], block.a[r], v);
    epilogue(products, block.row + r, column);
    store_panels<kCount>(products, block.c[r] + column, width);
  }
}

/// All steps of the sums of a tile's rows; the first one prefetches from `next` on, the others from
/// `stride` bytes further on each.
template <std::size_t kRows, std::size_t kCount, class Arithmetic, class Sum>
HWY_INLINE void multiply_groups(const float* const (&a)[kRows], const Arithmetic& panels,
                                const std::byte* next, std::size_t stride,
                                Sum (&sums)[kRows][kCount]) {
  const std::byte* b = panels.data;
  constexpr std::size_t kStep = kPanel * Arithmetic::kGroupBytes;
  for (std::size_t i = 0; i < panels.groups; ++i, b += kStep, next += stride)
    multiply_group<kRows, kCount>(a, i, panels, b, next, sums);
}

/// The same for an arithmetic with row steps.
template <std::size_t kRows, std::size_t kCount, class Arithmetic, class Sum>
HWY_INLINE void multiply_row_steps(const float* const (&a)[kRows], const Arithmetic& panels,
                                   const std::byte* next, std::size_t stride,
                                   Sum (&sums)[kRows][kCount]) {
  using Unsigned = typename Arithmetic::Unsigned;
  HWY_UNROLL(8)
  for (std::size_t r = 0; r < kRows; ++r) panels.multiply_add_rest(a[r], sums[r]);
  if (panels.needs_wide(a))
    multiply_groups(a, typename Arithmetic::Wide(panels), next, stride, sums);
  else if (panels.are_unsigned(a))
    multiply_groups(a, Unsigned(panels), next,
                    stride * (Unsigned::kGroupBytes / Arithmetic::kGroupBytes), sums);
  else
    multiply_groups(a, panels, next, stride, sums);
}

/// Computes kRows rows of the block's columns from `column` on with the first kCount vectors of an
/// arithmetic.
template <std::size_t kRows, std::size_t kCount, class Arithmetic, class Epilogue>
HWY_INLINE void multiply_vectors(const Block& block, const Arithmetic& panels, std::size_t column,
                                 const Epilogue& epilogue) {
  decltype(panels.start(0)) sums[kRows][kCount];
  HWY_UNROLL(8)
  for (std::size_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < kCount; ++v) sums[r][v] = panels.start(v);
  }
  const float* a[kRows];
  HWY_UNROLL(8)
  for (std::size_t r = 0; r < kRows; ++r) a[r] = block.a[r];
  const std::byte* const next = panels.data + block.ahead;
  if constexpr (kHasRowSteps<Arithmetic>)
    multiply_row_steps(a, panels, next, block.stride, sums);
  else
    multiply_groups(a, panels, next, block.stride, sums);
  if constexpr (kFillsRegisters<kRows, kCount>) {
    decltype(panels.start(0)) finished[kRows][kCount];
    copy_to_memory(sums, finished);
    finish_sums(block, panels, column, finished, epilogue);
  } else {
    finish_sums(block, panels, column, sums, epilogue);
  }
}

/// Calls f with the number of rows of a tile, at most kRows, as a compile-time constant.
template <std::size_t kRows, class F>
HWY_INLINE void with_tile_rows(std::size_t rows, const F& f) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return with_tile_rows<kRows - 1>(rows, f);
  }
  f(std::integral_constant<std::size_t, kRows>());
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_GEMM_INL_H_
