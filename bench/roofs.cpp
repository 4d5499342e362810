#include "bench/roofs.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstdint>

#include "base/mapped_memory.h"
#include "bench/measure.h"

namespace fuselage {

#ifdef __x86_64__

namespace {

constexpr int kChains = 12;

// Independent chains of one instruction, enough to hide its latency.
#define FUSELAGE_CHAINS(name, instruction)                                             \
  [[gnu::target("avx512f,avx512vnni"), gnu::noinline]] void name(std::int64_t steps) { \
    __m512i sums[kChains] = {};                                                        \
    const __m512i factor = {};                                                         \
    for (std::int64_t i = 0; i < steps; ++i) {                                         \
      _Pragma("GCC unroll 12") for (int c = 0; c < kChains; ++c) {                     \
        asm volatile(instruction " %1, %1, %0" : "+v"(sums[c]) : "v"(factor));         \
      }                                                                                \
    }                                                                                  \
  }

FUSELAGE_CHAINS(multiply_floats, "vfmadd231ps")
FUSELAGE_CHAINS(multiply_shorts, "vpdpwssd")
FUSELAGE_CHAINS(multiply_bytes, "vpdpbusd")

#undef FUSELAGE_CHAINS

double peak(void (*chains)(std::int64_t), int terms) {
  constexpr std::int64_t kSteps = 1000000;
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    const double begin = thread_seconds();
    chains(kSteps);
    best =
        std::max(best, kChains * terms * static_cast<double>(kSteps) / (thread_seconds() - begin));
  }
  return best;
}

}  // namespace

Peaks measured_peaks() {
  if (!__builtin_cpu_supports("avx512vnni")) return {};
  return {peak(multiply_floats, 16), peak(multiply_shorts, 32), peak(multiply_bytes, 64)};
}

[[gnu::target("avx512f"), gnu::noinline]] void read_once(const std::byte* data, std::size_t bytes) {
  constexpr std::size_t kStep = 512;
  __m512i any[8] = {};
  for (std::size_t i = 0; i + kStep <= bytes; i += kStep)
    _Pragma("GCC unroll 8") for (std::size_t v = 0; v < 8; ++v) any[v] =
        _mm512_or_si512(any[v], _mm512_load_si512(data + i + 64 * v));
  _Pragma("GCC unroll 8") for (const __m512i& v : any) asm volatile("" : : "v"(v));
}

double read_bandwidth(const std::byte* data, std::size_t bytes) {
  if (!__builtin_cpu_supports("avx512f")) return 0;
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
