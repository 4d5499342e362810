#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "backends/cpu/simd/table.h"
#include "backends/cpu/simd/targets.h"
#include "fuselage/base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/simd/rows/normalize.cpp"
#include "hwy/foreach_target.h"
// Compiled once per target: included after foreach_target.h.
#include "backends/cpu/simd/elementwise/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Sum of the terms of a row, by blocks, to keep precision over a vocabulary. Lanes beyond the
// columns read as `pad`, whose term must be 0.
template <class Term>
HWY_INLINE float sum_terms(const float* x, std::size_t cols, float pad, const Term& term) {
  constexpr std::size_t kBlock = 512;
  LaneSum total;
  for (std::size_t begin = 0; begin < cols; begin += kBlock) {
    LaneSum block;
    block.add(std::min(kBlock, cols - begin), [&](std::size_t i, auto lanes, Vector sum) HWY_ATTR {
      return hn::Add(sum, term(read(x + begin + i, lanes, pad)));
    });
    total.add(block);
  }
  return total.total();
}

struct Identity {
  HWY_INLINE Vector operator()(Vector x) const { return x; }
};

struct SquareAround {
  Vector center;
  HWY_INLINE Vector operator()(Vector x) const {
    const Vector offset = hn::Sub(x, center);
    return hn::Mul(offset, offset);
  }
};

// Around a row's largest element.
struct ExpAround {
  Vector center;
  HWY_INLINE Vector operator()(Vector x) const { return exp_of_nonpositive(hn::Sub(x, center)); }
};

// The largest element, or 0 if that is -infinity: then exp(x - max) is 0 rather than NaN.
HWY_INLINE float finite_max(const float* x, std::size_t cols) {
  Vector largest = broadcast(-kInfinity);
  for_each_vector(cols, [&](std::size_t i, auto lanes) HWY_ATTR {
    // NaN is ignored.
    largest = max_of(read(x + i, lanes, -kInfinity), largest);
  });
  const float result = max_lanes(largest);
  return result == -kInfinity ? 0.0f : result;
}

// out = map(x) over a row.
template <class Map>
HWY_INLINE void map_row(const float* x, std::size_t cols, float* out, const Map& map) {
  for_each_vector(cols, [&](std::size_t i, auto lanes)
                            HWY_ATTR { write(map(read(x + i, lanes)), out + i, lanes); });
}

struct DivideBy {
  Vector divisor;
  HWY_INLINE Vector operator()(Vector x) const { return hn::Div(x, divisor); }
};

struct SubtractBoth {
  Vector first, second;
  HWY_INLINE Vector operator()(Vector x) const { return hn::Sub(hn::Sub(x, first), second); }
};

// (x - mean) * inverse, times gain, plus bias.
HWY_INLINE void normalize_row(const float* x, std::size_t cols, Vector mean, Vector inverse,
                              const float* gain, const float* bias, float* out) {
  for_each_vector(cols, [&](std::size_t i, auto lanes) HWY_ATTR {
    Vector y = hn::Mul(hn::Sub(read(x + i, lanes), mean), inverse);
    if (gain) y = hn::Mul(y, read(gain + i, lanes));
    if (bias) y = hn::Add(y, read(bias + i, lanes));
    write(y, out + i, lanes);
  });
}

void softmax(const RowsIn& in, std::size_t rows, std::size_t cols, const RowsOut& out) {
  if (cols == 0) return;
  check(in.columns == cols, "softmax: column counts differ");
  for (std::size_t r = 0; r < rows; ++r) {
    const float* x = row_of(in, r, cols);
    float* y = out.data + r * out.stride;
    map_row(x, cols, y, ExpAround{broadcast(finite_max(x, cols))});
    const float sum = sum_terms(y, cols, 0.0f, Identity{});
    map_row(y, cols, y, DivideBy{broadcast(sum == 0.0f ? 1.0f : sum)});
  }
}

void log_sum_exp(const RowsIn& in, std::size_t rows, std::size_t cols, const RowsOut& out) {
  check(in.columns == cols, "log_sum_exp: column counts differ");
  for (std::size_t r = 0; r < rows; ++r) {
    const float* x = row_of(in, r, cols);
    const float largest = finite_max(x, cols);
    const float sum = sum_terms(x, cols, -kInfinity, ExpAround{broadcast(largest)});
    out.data[r * out.stride] = log_of(sum) + largest;
  }
}

void log_softmax(const RowsIn& in, std::size_t rows, std::size_t cols, const RowsOut& out) {
  if (cols == 0) return;
  check(in.columns == cols, "log_softmax: column counts differ");
  for (std::size_t r = 0; r < rows; ++r) {
    const float* x = row_of(in, r, cols);
    const float largest = finite_max(x, cols);
    const float sum = sum_terms(x, cols, -kInfinity, ExpAround{broadcast(largest)});
    // Subtracted separately: in their sum a large maximum would round away the logarithm.
    const float log_sum = sum == 0.0f ? 0.0f : log_of(sum);
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
    const float mean = sum_terms(x, cols, 0.0f, Identity{}) / count;
    const Vector center = broadcast(mean);
    const float variance = sum_terms(x, cols, mean, SquareAround{center}) / count;
    const Vector inverse = broadcast(1.0f / std::sqrt(variance + eps));
    normalize_row(x, cols, center, inverse, gain, bias, out.data + r * out.stride);
  }
}

void rms_norm(const RowsIn& in, const float* scale, float eps, std::size_t rows, std::size_t cols,
              const RowsOut& out) {
  if (cols == 0) return;
  check(in.columns == cols, "rms_norm: column counts differ");
  const Vector zero = hn::Zero(Tag());
  for (std::size_t r = 0; r < rows; ++r) {
    const float* x = row_of(in, r, cols);
    const float mean = sum_terms(x, cols, 0.0f, SquareAround{zero}) / static_cast<float>(cols);
    const Vector inverse = broadcast(1.0f / std::sqrt(mean + eps));
    normalize_row(x, cols, zero, inverse, scale, nullptr, out.data + r * out.stride);
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
FUSELAGE_DISPATCH_FAMILY(fill_normalize)
#endif
