#include "bench/roofs.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "backends/cpu/runtime/isa.h"
#include "base/files/mapped_memory.h"
#include "bench/measure.h"

namespace fuselage {

#ifdef __x86_64__

namespace {

constexpr int kChains = 12;

// Independent chains of multiply-adds, enough to hide their latency: %0 is a sum, %1 a register for
// a product, %2 a factor, %3 signs.
#define FUSELAGE_CHAINS(name, features, Vector, multiply_add)                  \
  [[gnu::target(features), gnu::noinline]] void name(std::int64_t steps) {     \
    Vector sums[kChains] = {};                                                 \
    Vector product;                                                            \
    Vector factor = {}, signs = {};                                            \
    asm volatile("" : "+v"(factor), "+v"(signs));                              \
    for (std::int64_t i = 0; i < steps; ++i)                                   \
      _Pragma("GCC unroll 12") for (Vector & sum : sums) asm volatile(         \
          multiply_add : "+v"(sum), "=&v"(product) : "v"(factor), "v"(signs)); \
  }
#define FUSELAGE_CHAINS_256(name, features, multiply_add) \
  FUSELAGE_CHAINS(name##_256, features, __m256i, multiply_add)
#define FUSELAGE_CHAINS_512(name, features, multiply_add) \
  FUSELAGE_CHAINS(name##_512, features, __m512i, multiply_add)

#define FUSELAGE_FLOATS "vfmadd231ps %2, %2, %0"
#define FUSELAGE_SHORTS "vpmaddwd %2, %2, %1\n\tvpaddd %1, %0, %0"
// Two words of a row, magnitudes times columns with the row's signs, as kernels multiply them.
#define FUSELAGE_WORD(flip) flip " %2, %3, %1\n\tvpmaddubsw %1, %2, %1\n\t"
#define FUSELAGE_BYTES(flip) \
  FUSELAGE_WORD(flip) FUSELAGE_WORD(flip) "vpaddw %1, %1, %1\n\t" FUSELAGE_SHORTS

FUSELAGE_CHAINS_256(floats, "avx2,fma", FUSELAGE_FLOATS)
FUSELAGE_CHAINS_256(shorts, "avx2", FUSELAGE_SHORTS)
FUSELAGE_CHAINS_256(bytes, "avx2", FUSELAGE_BYTES("vpxor"))
FUSELAGE_CHAINS_256(vnni_shorts, "avx2", "%{vex%} vpdpwssd %2, %2, %0")
FUSELAGE_CHAINS_256(vnni_bytes, "avx2", "%{vex%} vpdpbusd %2, %2, %0")
FUSELAGE_CHAINS_512(floats, "avx512f", FUSELAGE_FLOATS)
FUSELAGE_CHAINS_512(shorts, "avx512f", FUSELAGE_SHORTS)
FUSELAGE_CHAINS_512(bytes, "avx512f", FUSELAGE_BYTES("vpxord"))
FUSELAGE_CHAINS_512(vnni_shorts, "avx512f", "vpdpwssd %2, %2, %0")
FUSELAGE_CHAINS_512(vnni_bytes, "avx512f", "vpdpbusd %2, %2, %0")

/// The same in AMX's tile registers: two tiles of rows by two of columns, which are loaded.
[[gnu::noinline]] void amx_bytes(std::int64_t steps) {
  struct Config {
    std::uint8_t palette = 1, other[15] = {};
    std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  };
  alignas(64) const Config config;
  alignas(64) static const std::byte tiles[4][1024] = {};
  const std::int64_t stride = 64;
  asm volatile("ldtilecfg %0" : : "m"(config));
  for (std::int64_t i = 0; i < steps * kChains / 4; ++i)
    asm volatile(
        "tileloadd (%0,%4,1), %%tmm4\n\ttileloadd (%1,%4,1), %%tmm5\n\t"
        "tileloadd (%2,%4,1), %%tmm6\n\ttileloadd (%3,%4,1), %%tmm7\n\t"
        "tdpbusd %%tmm6, %%tmm4, %%tmm0\n\ttdpbusd %%tmm7, %%tmm4, %%tmm1\n\t"
        "tdpbusd %%tmm6, %%tmm5, %%tmm2\n\ttdpbusd %%tmm7, %%tmm5, %%tmm3"
        :
        : "r"(tiles[0]), "r"(tiles[1]), "r"(tiles[2]), "r"(tiles[3]), "r"(stride)
        : "memory");
  asm volatile("tilerelease");
}

#undef FUSELAGE_BYTES
#undef FUSELAGE_WORD
#undef FUSELAGE_SHORTS
#undef FUSELAGE_FLOATS
#undef FUSELAGE_CHAINS_512
#undef FUSELAGE_CHAINS_256
#undef FUSELAGE_CHAINS

/// The chains of a level, and the terms of one of their multiply-adds.
struct Level {
  struct Mix {
    void (*chains)(std::int64_t);
    int terms;
  };
  std::string_view isa;
  Mix f32, i16, i8;
};

constexpr Level kLevels[] = {
    {"avx2", {floats_256, 8}, {shorts_256, 16}, {bytes_256, 64}},
    {"avx2_vnni", {floats_256, 8}, {vnni_shorts_256, 16}, {vnni_bytes_256, 32}},
    {"avx3", {floats_512, 16}, {shorts_512, 32}, {bytes_512, 128}},
    {"avx3_vnni", {floats_512, 16}, {vnni_shorts_512, 32}, {vnni_bytes_512, 64}},
    {"avx3_amx", {floats_512, 16}, {vnni_shorts_512, 32}, {amx_bytes, 16 * 16 * 64}},
};

double peak(const Level::Mix& mix) {
  constexpr std::int64_t kSteps = 1000000;
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    const double begin = thread_seconds();
    mix.chains(kSteps);
    best = std::max(best,
                    kChains * mix.terms * static_cast<double>(kSteps) / (thread_seconds() - begin));
  }
  return best;
}

#define FUSELAGE_READ(name, features, Vector)                                                    \
  [[gnu::target(features), gnu::noinline]] void name(const std::byte* data, std::size_t bytes) { \
    constexpr std::size_t kStep = 8 * sizeof(Vector);                                            \
    Vector any[8] = {};                                                                          \
    for (std::size_t i = 0; i + kStep <= bytes; i += kStep)                                      \
      _Pragma("GCC unroll 8") for (std::size_t v = 0; v < 8; ++v) any[v] |=                      \
          *reinterpret_cast<const Vector*>(data + i + v * sizeof(Vector));                       \
    _Pragma("GCC unroll 8") for (const Vector& v : any) asm volatile("" : : "v"(v));             \
  }

FUSELAGE_READ(read_256, "avx2", __m256i)
FUSELAGE_READ(read_512, "avx512f", __m512i)

#undef FUSELAGE_READ

}  // namespace

Peaks measured_peaks() {
  const std::string isa = cpu::active_isa();
  for (const Level& level : kLevels)
    if (level.isa == isa) return {peak(level.f32), peak(level.i16), peak(level.i8)};
  return {};
}

void read_once(const std::byte* data, std::size_t bytes) {
  if (__builtin_cpu_supports("avx512f"))
    read_512(data, bytes);
  else
    read_256(data, bytes);
}

double read_bandwidth(const std::byte* data, std::size_t bytes) {
  if (!__builtin_cpu_supports("avx2")) return 0;
  const std::size_t repeats = std::max<std::size_t>(1, (std::size_t{1} << 26) / bytes);
  double best = 0;
  for (int i = 0; i < 7; ++i) {
    const double begin = thread_seconds();
    for (std::size_t j = 0; j < repeats; ++j) read_once(data, bytes);
    best = std::max(best, static_cast<double>(bytes * repeats) / (thread_seconds() - begin));
  }
  return best;
}

#else

Peaks measured_peaks() { return {}; }
void read_once(const std::byte*, std::size_t) {}
double read_bandwidth(const std::byte*, std::size_t) { return 0; }

#endif

double read_bandwidth(std::size_t bytes) {
  const Pages pages = allocate_pages(bytes);
  std::fill_n(pages.get(), bytes, std::byte{1});  // unwritten pages all map to one zero page
  return read_bandwidth(pages.get(), bytes);
}

Peaks peaks_or_products() {
  const Peaks peaks = measured_peaks();
  if (peaks.f32 > 0) return peaks;
  const double products = measured_peak() / 2;
  return {products, products, products};
}

}  // namespace fuselage
