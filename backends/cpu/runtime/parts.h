#pragma once

#include <cstddef>

#include "backends/cpu/runtime/team.h"
#include "backends/cpu/simd/gemm/packed_matrix.h"
#include "fuselage/backends/cpu/runtime/kernel.h"

namespace fuselage::cpu {

// Division of a kernel's work among the threads for one sentence.

/// Whether `work`, in multiply-adds, should be divided among threads. Below the threshold,
/// distributing the parts takes longer than a part.
inline bool is_worth_parts(const Run& run, std::size_t work) {
  return run.team && work >= std::size_t{1} << 16;
}

/// Calls f(first, last) for shares of `count` items, on several threads if `work`, in
/// multiply-adds, is large enough. A thread always gets the same share, so its part of a matrix
/// stays in its cache.
template <typename F>
void in_parts(const Run& run, std::size_t count, std::size_t work, const F& f) {
  if (!is_worth_parts(run, work)) {
    f(std::size_t{0}, count);
    return;
  }
  const std::size_t parts = run.team->size();
  run.team->run([&](std::size_t part) { f(count * part / parts, count * (part + 1) / parts); });
}

/// Number of multiply-adds of a product.
inline std::size_t work_of(const PackedMatrix& matrix, std::size_t rows) {
  return rows * matrix.k() * matrix.n();
}

/// The same for the panels of a matrix multiplied with `rows` rows.
template <typename F>
void in_panels(const Run& run, const PackedMatrix& matrix, std::size_t rows, const F& f) {
  in_parts(run, matrix.panel_count(), work_of(matrix, rows), f);
}

}  // namespace fuselage::cpu
