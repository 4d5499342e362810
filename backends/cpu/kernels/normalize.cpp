#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "backends/cpu/kernels/families.h"
#include "backends/cpu/kernels/table.h"
#include "backends/cpu/kernels/targets.h"
#include "base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/normalize.cpp"
#include "hwy/foreach_target.h"
// Compiled once a target, so after that.
#include "backends/cpu/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Sum of term(x) over up to a block of columns; lanes beyond them read as `pad`, whose term must
// be 0.
template <class Term>
HWY_INLINE Vector sum_block(const float* x, std::size_t cols, float pad, const Term& term) {
  Vector even = hn::Zero(Tag());
  Vector odd = hn::Zero(Tag());
  std::size_t i = 0;
  for (; i + 2 * kLanes <= cols; i += 2 * kLanes) {
    even = term(load(x + i), even);
    odd = term(load(x + i + kLanes), odd);
  }
  if (i + kLanes <= cols) {
    even = term(load(x + i), even);
    i += kLanes;
  }
  if (i < cols) odd = term(load_n(x + i, cols - i, pad), odd);
  return hn::Add(even, odd);
}

// The same over a row, block by block so that a vocabulary's worth of terms keeps its precision.
// The order follows from the number of columns alone.
template <class Term>
HWY_INLINE float sum_terms(const float* x, std::size_t cols, float pad, const Term& term) {
  constexpr std::size_t kBlock = 512;
  Vector total = hn::Zero(Tag());
  for (std::size_t i = 0; i < cols; i += kBlock)
    total = hn::Add(total, sum_block(x + i, std::min(kBlock, cols - i), pad, term));
  return sum_lanes(total);
}

struct AddTerm {
  HWY_INLINE Vector operator()(Vector x, Vector sum) const { return hn::Add(sum, x); }
};

struct AddSquareAround {
  Vector center;
  HWY_INLINE Vector operator()(Vector x, Vector sum) const {
    const Vector offset = hn::Sub(x, center);
    return hn::MulAdd(offset, offset, sum);
  }
};

struct AddExpAround {
  Vector center;
  HWY_INLINE Vector operator()(Vector x, Vector sum) const {
    return hn::Add(sum, exp_of(hn::Sub(x, center)));
  }
};

// The largest element, or 0 when that is -infinity: then exp(x - it) is 0 rather than NaN.
HWY_INLINE float finite_max(const float* x, std::size_t cols) {
  Vector largest = broadcast(-kInfinity);
  std::size_t i = 0;
  for (; i + kLanes <= cols; i += kLanes) largest = hn::Max(load(x + i), largest);
  if (i < cols) largest = hn::Max(load_n(x + i, cols - i, -kInfinity), largest);
  const float result = max_lanes(largest);
  return result == -kInfinity ? 0.0f : result;
}

// out = map(x, column) over a row.
template <class Map>
HWY_INLINE void map_row(const float* x, std::size_t cols, float* out, const Map& map) {
  std::size_t i = 0;
  for (; i + kLanes <= cols; i += kLanes) store(map(load(x + i), i), out + i);
  if (i < cols) store_n(map.last(load_n(x + i, cols - i, 0.0f), i, cols - i), out + i, cols - i);
}

struct ExpAround {
  Vector center;
  HWY_INLINE Vector operator()(Vector x, std::size_t) const { return exp_of(hn::Sub(x, center)); }
  HWY_INLINE Vector last(Vector x, std::size_t i, std::size_t) const { return (*this)(x, i); }
};

struct DivideBy {
  Vector divisor;
  HWY_INLINE Vector operator()(Vector x, std::size_t) const { return hn::Div(x, divisor); }
  HWY_INLINE Vector last(Vector x, std::size_t i, std::size_t) const { return (*this)(x, i); }
};

struct SubtractBoth {
  Vector first, second;
  HWY_INLINE Vector operator()(Vector x, std::size_t) const {
    return hn::Sub(hn::Sub(x, first), second);
  }
  HWY_INLINE Vector last(Vector x, std::size_t i, std::size_t) const { return (*this)(x, i); }
};

// (x - mean) * inverse, times gain, plus bias.
struct Normalize {
  Vector mean;
  Vector inverse;
  const float* gain;
  const float* bias;
  HWY_INLINE Vector operator()(Vector x, std::size_t i) const {
    Vector y = hn::Mul(hn::Sub(x, mean), inverse);
    if (gain) y = hn::Mul(y, load(gain + i));
    if (bias) y = hn::Add(y, load(bias + i));
    return y;
  }
  HWY_INLINE Vector last(Vector x, std::size_t i, std::size_t n) const {
    Vector y = hn::Mul(hn::Sub(x, mean), inverse);
    if (gain) y = hn::Mul(y, load_n(gain + i, n, 0.0f));
    if (bias) y = hn::Add(y, load_n(bias + i, n, 0.0f));
    return y;
  }
};

void softmax(const RowsIn& in, std::size_t rows, std::size_t cols, const RowsOut& out) {
  if (cols == 0) return;
  check(in.columns == cols, "softmax: column counts differ");
  for (std::size_t r = 0; r < rows; ++r) {
    const float* x = row_of(in, r, cols);
    float* y = out.data + r * out.stride;
    map_row(x, cols, y, ExpAround{broadcast(finite_max(x, cols))});
    const float sum = sum_terms(y, cols, 0.0f, AddTerm{});
    map_row(y, cols, y, DivideBy{broadcast(sum == 0.0f ? 1.0f : sum)});
  }
}

void log_sum_exp(const RowsIn& in, std::size_t rows, std::size_t cols, const RowsOut& out) {
  check(in.columns == cols, "log_sum_exp: column counts differ");
  for (std::size_t r = 0; r < rows; ++r) {
    const float* x = row_of(in, r, cols);
    const float largest = finite_max(x, cols);
    const float sum = sum_terms(x, cols, -kInfinity, AddExpAround{broadcast(largest)});
    out.data[r * out.stride] = std::log(sum) + largest;
  }
}

void log_softmax(const RowsIn& in, std::size_t rows, std::size_t cols, const RowsOut& out) {
  if (cols == 0) return;
  check(in.columns == cols, "log_softmax: column counts differ");
  for (std::size_t r = 0; r < rows; ++r) {
    const float* x = row_of(in, r, cols);
    const float largest = finite_max(x, cols);
    const float sum = sum_terms(x, cols, -kInfinity, AddExpAround{broadcast(largest)});
    // One after the other: their sum would round away the logarithm beside a large score.
    const float log_sum = sum == 0.0f ? 0.0f : std::log(sum);
    map_row(x, cols, out.data + r * out.stride,
            SubtractBoth{broadcast(largest), broadcast(log_sum)});
  }
}

void layer_norm(const RowsIn& in, const float* gain, const float* bias, float eps, std::size_t rows,
                std::size_t cols, const RowsOut& out) {
  if (cols == 0) return;
  check(in.columns == cols, "layer_norm: column counts differ");
  const float count = static_cast<float>(cols);
  for (std::size_t r = 0; r < rows; ++r) {
    const float* x = row_of(in, r, cols);
    const float mean = sum_terms(x, cols, 0.0f, AddTerm{}) / count;
    const Vector center = broadcast(mean);
    const float variance = sum_terms(x, cols, mean, AddSquareAround{center}) / count;
    const Vector inverse = broadcast(1.0f / std::sqrt(variance + eps));
    map_row(x, cols, out.data + r * out.stride, Normalize{center, inverse, gain, bias});
  }
}

void rms_norm(const RowsIn& in, const float* scale, float eps, std::size_t rows, std::size_t cols,
              const RowsOut& out) {
  if (cols == 0) return;
  check(in.columns == cols, "rms_norm: column counts differ");
  const Vector zero = hn::Zero(Tag());
  for (std::size_t r = 0; r < rows; ++r) {
    const float* x = row_of(in, r, cols);
    const float mean = sum_terms(x, cols, 0.0f, AddSquareAround{zero}) / static_cast<float>(cols);
    const Vector inverse = broadcast(1.0f / std::sqrt(mean + eps));
    map_row(x, cols, out.data + r * out.stride, Normalize{zero, inverse, scale, nullptr});
  }
}

}  // namespace

std::int64_t fill_normalize(KernelTable& table) {
  table.softmax = softmax;
  table.log_softmax = log_softmax;
  table.log_sum_exp = log_sum_exp;
  table.layer_norm = layer_norm;
  table.rms_norm = rms_norm;
  return HWY_TARGET;
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fuselage::cpu {
namespace {
HWY_EXPORT(fill_normalize);
}
std::int64_t fill_normalize(KernelTable& table) {
  return HWY_DYNAMIC_DISPATCH(fill_normalize)(table);
}
}  // namespace fuselage::cpu
#endif
