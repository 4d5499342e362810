// The kernels gemm and gemm_panels. Compiled once per target, hence the unusual guard.
#if defined(FUSELAGE_CPU_KERNELS_GEMM_FAMILY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_GEMM_FAMILY_INL_H_
#undef FUSELAGE_CPU_KERNELS_GEMM_FAMILY_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_GEMM_FAMILY_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstddef>

#include "backends/cpu/simd/gemm/gemm-inl.h"
#include "backends/cpu/simd/table.h"
#include "fuselage/backends/cpu/simd/rows.h"
#include "hwy/aligned_allocator.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

// Maximum number of rows prepared at once; bounds their memory.
inline constexpr std::size_t kPreparedRows = 16 * kMaxTileRows;

/// Memory of the calling thread for prepared rows, aligned to cache lines.
inline float* prepared_memory(std::size_t number, std::size_t size) {
  struct Memory {
    hwy::AlignedFreeUniquePtr<float[]> floats;
    std::size_t size = 0;
  };
  static thread_local std::array<Memory, kMaxEnsemble> all;
  Memory& memory = all[number];
  if (memory.size < size) memory = {hwy::AllocateAligned<float>(size), size};
  return memory.floats.get();
}

/// Rows of vectors of k elements in the form that an arithmetic (or a Dot) needs; at most
/// kPreparedRows. If they are prepared, they are valid until the thread's next request with the
/// same number; their second elements, behind scales, begin cache lines, and memory for a tile of
/// rows follows them.
template <class Arithmetic>
RowsIn prepared_rows(const RowsIn& a, std::size_t rows, std::size_t k, std::size_t number = 0) {
  if constexpr (!Arithmetic::kPrepares) {
    return a;
  } else {
    constexpr std::size_t kLine = kCacheLine / sizeof(float), kTile = 16;
    const std::size_t elements = Arithmetic::prepared_elements(k);
    const std::size_t stride = (elements + kLine - 1) / kLine * kLine;
    float* const first =
        prepared_memory(number, kLine + (kPreparedRows + kTile) * stride) + kLine - 1;
    for (std::size_t r = 0; r < rows; ++r)
      Arithmetic::prepare(row_of(a, r, a.columns), k, first + r * stride);
    return {.data = first, .stride = stride, .columns = elements};
  }
}

/// The same in the form that products with b need.
inline RowsIn prepared_for(const PackedMatrix& b, const RowsIn& a, std::size_t rows,
                           std::size_t number = 0) {
  RowsIn prepared;
  with_arithmetic(b, [&](auto type) {
    prepared = prepared_rows<typename decltype(type)::type>(a, rows, b.k(), number);
  });
  return prepared;
}

/// Multiplies prepared rows by `columns` columns of b, starting at panel `first`, which is column 0
/// of c. Slow to compile: defined in products-inl.h and instantiated in gemm_*.cpp and
/// logits_*.cpp.
template <class Arithmetic, class Epilogue>
void multiply_rows(const RowsIn& a, std::size_t rows, const PackedMatrix& b, std::size_t first,
                   std::size_t columns, const RowsOut& c, const Epilogue& epilogue);

inline void gemm_panels(const RowsIn& a, std::size_t rows, const PackedMatrix& b, std::size_t first,
                        std::size_t last, const ProductEpilogue& after, const RowsOut& c) {
  check(a.columns == b.row_elements(), "gemm: the rows of a and of the matrix differ in length");
  const std::size_t begin = first * kPanel;
  const std::size_t columns = std::min(last * kPanel, b.n()) - begin;
  GemmEpilogue epilogue{.after = after, .end = columns};
  if (after.bias) epilogue.after.bias += begin;
  with_arithmetic(b, [&](auto type) {
    using Arithmetic = typename decltype(type)::type;
    const std::size_t share = Arithmetic::kPrepares ? kPreparedRows : rows;
    for (std::size_t r = 0; r < rows; r += share) {
      const std::size_t count = std::min(share, rows - r);
      const RowsIn prepared = prepared_rows<Arithmetic>(rows_from(a, r), count, b.k());
      multiply_rows<Arithmetic>(prepared, count, b, first, columns,
                                {c.data + r * c.stride + begin, c.stride}, epilogue);
    }
  });
}

inline void gemm(const RowsIn& a, std::size_t rows, const PackedMatrix& b, const RowsOut& c) {
  gemm_panels(a, rows, b, 0, b.panel_count(), {}, c);
}

inline void set_gemm(KernelTable& table) {
  table.panel_layout = kPanelLayout;
  table.gemm = gemm;
  table.gemm_panels = gemm_panels;
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_GEMM_FAMILY_INL_H_
