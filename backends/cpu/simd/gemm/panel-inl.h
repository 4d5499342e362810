// The panel layout of matrices. Compiled once per target, hence the unusual guard.
#if defined(FUSELAGE_CPU_KERNELS_PANEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_PANEL_INL_H_
#undef FUSELAGE_CPU_KERNELS_PANEL_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_PANEL_INL_H_
#endif

#include <cstddef>

#include "backends/cpu/simd/gemm/packed_matrix.h"
#include "backends/cpu/simd/vector-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

inline constexpr std::size_t kPanelVectors = kHas32Registers ? 4 : 2;
inline constexpr std::size_t kPanel = kPanelVectors * kLanes;

// 6 rows of one panel fill the accumulators: 24 of 32 registers, or 12 of 16. On ARM64 columns and
// rows are in registers too, so that 5 rows fill them.
inline constexpr std::size_t kMaxTileRows = HWY_ARCH_ARM_A64 ? 5 : 6;

// Whether bytes are multiplied as byte_pairs-inl.h says. Registers of 16 bytes gain nothing from
// it.
#undef FUSELAGE_BYTE_PAIRS
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(FUSELAGE_VNNI)
#define FUSELAGE_BYTE_PAIRS
#endif

#if defined(FUSELAGE_I8MM)
inline constexpr PanelLayout kPanelLayout = {.panel = kPanel, .qint8_group = 4, .qint8_step = 8};
#elif defined(FUSELAGE_VNNI) || defined(FUSELAGE_DOTPROD)
inline constexpr PanelLayout kPanelLayout = {.panel = kPanel, .qint8_group = 4, .qint8_step = 4};
#elif defined(FUSELAGE_BYTE_PAIRS)
inline constexpr PanelLayout kPanelLayout = {.panel = kPanel, .qint8_group = 4, .qint8_step = 16};
#else
inline constexpr PanelLayout kPanelLayout = {.panel = kPanel, .qint8_group = 2, .qint8_step = 2};
#endif

/// Offset, in column groups, from the beginning of a panel with `groups` groups per column to the
/// first group of column vector v, which may be in a following panel.
constexpr std::size_t groups_before(std::size_t v, std::size_t groups) {
  return v / kPanelVectors * groups * kPanel + v % kPanelVectors * kLanes;
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_PANEL_INL_H_
