#include "bench/byte_table.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <array>
#include <cmath>

#include "fuselage/base/error.h"

namespace fuselage {

#ifdef __x86_64__

namespace {

constexpr float kStep = 1 / 16.0f;

/// 127 (sigmoid(x / 16) - 1/2) for x from 0 to 127.
const std::array<std::uint8_t, 128>& table() {
  alignas(64) static const std::array<std::uint8_t, 128> entries = [] {
    std::array<std::uint8_t, 128> made{};
    for (std::size_t i = 0; i < made.size(); ++i)
      made[i] = static_cast<std::uint8_t>(
          std::lround(127 / (1 + std::exp(-static_cast<float>(i) * kStep)) - 63.5f));
    return made;
  }();
  return entries;
}

#define FUSELAGE_VBMI [[gnu::target("avx512f,avx512bw,avx512vbmi")]]

struct Entries {
  __m512i low, high;
};

FUSELAGE_VBMI inline Entries load_entries() {
  return {_mm512_loadu_si512(table().data()), _mm512_loadu_si512(table().data() + 64)};
}

FUSELAGE_VBMI inline __m512i look_up(const Entries& entries, __m512i x) {
  const __m512i y = _mm512_permutex2var_epi8(entries.low, _mm512_abs_epi8(x), entries.high);
  const __m512i half = _mm512_set1_epi8(64);
  return _mm512_mask_sub_epi8(_mm512_add_epi8(half, y), _mm512_movepi8_mask(x), half, y);
}

FUSELAGE_VBMI void look_up_bytes(const std::int8_t* x, std::size_t count, std::uint8_t* y) {
  const Entries entries = load_entries();
  for (std::size_t i = 0; i < count; i += 64)
    _mm512_storeu_si512(y + i, look_up(entries, _mm512_loadu_si512(x + i)));
}

FUSELAGE_VBMI void look_up_floats(const float* x, std::size_t count, float* y) {
  const Entries entries = load_entries();
  const __m512 scale = _mm512_set1_ps(1 / kStep), unit = _mm512_set1_ps(1 / 127.0f);
  for (std::size_t i = 0; i < count; i += 64) {
    alignas(64) std::int8_t bytes[64];
    alignas(64) std::uint8_t found[64];
    for (std::size_t v = 0; v < 64; v += 16) {
      const __m512i whole = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(x + i + v), scale));
      _mm_store_si128(reinterpret_cast<__m128i*>(bytes + v), _mm512_cvtsepi32_epi8(whole));
    }
    _mm512_store_si512(found, look_up(entries, _mm512_load_si512(bytes)));
    for (std::size_t v = 0; v < 64; v += 16) {
      const __m128i part = _mm_load_si128(reinterpret_cast<const __m128i*>(found + v));
      _mm512_storeu_ps(y + i + v,
                       _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(part)), unit));
    }
  }
}

#undef FUSELAGE_VBMI

}  // namespace

bool has_byte_tables() { return __builtin_cpu_supports("avx512vbmi"); }

void byte_sigmoid(const std::int8_t* x, std::size_t count, std::uint8_t* y) {
  look_up_bytes(x, count, y);
}

void float_sigmoid_by_bytes(const float* x, std::size_t count, float* y) {
  look_up_floats(x, count, y);
}

#else

bool has_byte_tables() { return false; }
void byte_sigmoid(const std::int8_t*, std::size_t, std::uint8_t*) {
  throw InternalError("no byte tables here");
}
void float_sigmoid_by_bytes(const float*, std::size_t, float*) {
  throw InternalError("no byte tables here");
}

#endif

}  // namespace fuselage
