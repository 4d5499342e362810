#include <algorithm>
#include <cstddef>

#include "backends/cpu/kernels/families.h"
#include "backends/cpu/kernels/table.h"
#include "backends/cpu/kernels/targets.h"
#include "base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/gemm.cpp"
#include "hwy/foreach_target.h"
// Compiled once a target, so after that.
#include "backends/cpu/kernels/gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {
namespace {

template <std::size_t kRows>
void multiply_panels(const Block& block, const PackedMatrix& b, std::size_t first,
                     std::size_t last) {
  constexpr std::size_t kTogether = panels_together(kRows);
  NoWork none;
  std::size_t p = first;
  for (; p + kTogether <= last; p += kTogether) {
    const std::size_t column = p * kPanel;
    multiply<kRows, kTogether>(block, b.panel_data(p), b.k(), column,
                               std::min(kTogether * kPanel, b.n() - column), none);
  }
  if constexpr (kTogether > 1)
    for (; p < last; ++p) {
      const std::size_t column = p * kPanel;
      multiply<kRows, 1>(block, b.panel_data(p), b.k(), column, std::min(kPanel, b.n() - column),
                         none);
    }
}

void gemm_panels(const RowsIn& a, std::size_t rows, const PackedMatrix& b, std::size_t first,
                 std::size_t last, const RowsOut& c) {
  check(b.panel() == kPanel, "gemm: the matrix was packed for another instruction set");
  check(a.columns == b.k(), "gemm: a.columns is not b.k()");
  if (rows == 0) return;
  const std::size_t blocks = (rows + kTileRows - 1) / kTileRows;
  // All rows go over a panel while it is in cache; a lone block has nothing to gain from that.
  const std::size_t step = blocks == 1 ? last - first : 1;
  for (std::size_t p = first; p < last; p += step)
    for (std::size_t i = 0; i < blocks; ++i) {
      // Even shares: 7 rows are 4 and 3.
      const std::size_t begin = rows * i / blocks;
      const std::size_t count = rows * (i + 1) / blocks - begin;
      Block block;
      for (std::size_t r = 0; r < count; ++r) {
        block.a[r] = row_of(a, begin + r, b.k());
        block.c[r] = c.data + (begin + r) * c.stride;
      }
      with_tile_rows(count,
                     [&](auto n) { multiply_panels<decltype(n)::value>(block, b, p, p + step); });
    }
}

void gemm(const RowsIn& a, std::size_t rows, const PackedMatrix& b, const RowsOut& c) {
  gemm_panels(a, rows, b, 0, b.panel_count(), c);
}

}  // namespace

std::int64_t fill_gemm(KernelTable& table) {
  table.gemm_panel = kPanel;
  table.gemm = gemm;
  table.gemm_panels = gemm_panels;
  return HWY_TARGET;
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fuselage::cpu {
namespace {
HWY_EXPORT(fill_gemm);
}
std::int64_t fill_gemm(KernelTable& table) { return HWY_DYNAMIC_DISPATCH(fill_gemm)(table); }
}  // namespace fuselage::cpu
#endif
