// Tile registers of AMX (Intel's manual "Architecture Instruction Set Extensions", chapter 3): 8
// registers of up to 16 rows of up to 64 bytes. Compiled once per target, hence the unusual guard.
#if defined(FUSELAGE_CPU_KERNELS_AMX_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_AMX_TILES_INL_H_
#undef FUSELAGE_CPU_KERNELS_AMX_TILES_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_AMX_TILES_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

inline constexpr std::size_t kAmxRows = 16, kAmxRowBytes = 64;

// Registers of sums and of the left operand have the rows of the left operand; registers of the
// right operand have all.
inline constexpr int kAmxSums = 0, kAmxLeft = 4, kAmxRight = 6, kAmxRegisters = 8;

/// The registers are in use as long as this lives. Context switches store them until then.
class AmxRegisters {
 public:
  /// `rows` is the number of rows of the left operand, 1 to kAmxRows.
  explicit AmxRegisters(std::size_t rows) {
    alignas(64) Config config;
    for (int i = 0; i < kAmxRegisters; ++i) {
      config.row_bytes[i] = kAmxRowBytes;
      config.rows[i] = static_cast<std::uint8_t>(i < kAmxRight ? rows : kAmxRows);
    }
    asm volatile("ldtilecfg %0" : : "m"(config));
  }
  ~AmxRegisters() { asm volatile("tilerelease"); }
  AmxRegisters(const AmxRegisters&) = delete;
  AmxRegisters& operator=(const AmxRegisters&) = delete;

 private:
  struct Config {
    std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
    std::uint16_t row_bytes[16] = {};
    std::uint8_t rows[16] = {};
  };
  static_assert(sizeof(Config) == 64);
};

/// Rows that begin `stride` bytes apart.
template <int kRegister>
HWY_INLINE void amx_load(const void* rows, std::size_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2"
               :
               : "r"(rows), "r"(stride), "i"(kRegister)
               : "memory");
}
template <int kRegister>
HWY_INLINE void amx_store(void* rows, std::size_t stride) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)"
               :
               : "r"(rows), "r"(stride), "i"(kRegister)
               : "memory");
}

/// Adds the products of unsigned bytes on the left and signed bytes on the right: 4 of row r of the
/// left and 4 of column c of each row of the right.
template <int kSums, int kLeft, int kRight>
HWY_INLINE void amx_add_bytes() {
  asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kLeft), "i"(kRight));
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_AMX_TILES_INL_H_
