#include <cstddef>

#include "backends/cpu/simd/table.h"
#include "backends/cpu/simd/targets.h"
#include "fuselage/base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/simd/elementwise/pointwise.cpp"
#include "hwy/foreach_target.h"
// Compiled once per target: included after foreach_target.h.
#include "backends/cpu/simd/elementwise/activations-inl.h"
#include "backends/cpu/simd/elementwise/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {
namespace {

template <Unary kOp>
HWY_INLINE Vector apply(Vector x) {
  if constexpr (kOp == Unary::neg) return hn::Neg(x);
  if constexpr (kOp == Unary::sigmoid) return sigmoid_of(x);
  if constexpr (kOp == Unary::tanh) return tanh_of(x);
  if constexpr (kOp == Unary::sigmoid_fast) return sigmoid_fast_of(x);
  if constexpr (kOp == Unary::tanh_fast) return tanh_fast_of(x);
  if constexpr (kOp == Unary::sigmoid_table) return sigmoid_table_of(x);
  if constexpr (kOp == Unary::tanh_table) return tanh_table_of(x);
  if constexpr (kOp == Unary::relu) return relu_of(x);
  if constexpr (kOp == Unary::swish) return swish_of(x);
  if constexpr (kOp == Unary::gelu) return gelu_of(x);
  if constexpr (kOp == Unary::exp) return exp_of(x);
  if constexpr (kOp == Unary::log) return log_of(x);
  if constexpr (kOp == Unary::sqrt) return hn::Sqrt(x);
  if constexpr (kOp == Unary::abs) return hn::Abs(x);
}

template <Binary kOp>
HWY_INLINE Vector apply(Vector a, Vector b) {
  if constexpr (kOp == Binary::add) return hn::Add(a, b);
  if constexpr (kOp == Binary::sub) return hn::Sub(a, b);
  if constexpr (kOp == Binary::mul) return hn::Mul(a, b);
  if constexpr (kOp == Binary::div) return hn::Div(a, b);
  if constexpr (kOp == Binary::max) return max_of(a, b);
  if constexpr (kOp == Binary::min) return min_of(a, b);
  const Vector one = broadcast(1.0f);
  if constexpr (kOp == Binary::equal) return hn::IfThenElseZero(hn::Eq(a, b), one);
  // Not hn::Ne, which does not hold for NaN on some targets.
  if constexpr (kOp == Binary::not_equal) return hn::IfThenZeroElse(hn::Eq(a, b), one);
  if constexpr (kOp == Binary::less) return hn::IfThenElseZero(hn::Lt(a, b), one);
  if constexpr (kOp == Binary::less_equal) return hn::IfThenElseZero(hn::Le(a, b), one);
  if constexpr (kOp == Binary::greater) return hn::IfThenElseZero(hn::Gt(a, b), one);
  if constexpr (kOp == Binary::greater_equal) return hn::IfThenElseZero(hn::Ge(a, b), one);
}

// One element repeated, or a row.
template <bool kScalar, class Lanes>
HWY_INLINE Vector operand(const float* p, std::size_t i, Lanes lanes) {
  return kScalar ? broadcast(*p) : read(p + i, lanes, 1.0f);
}

template <Unary kOp, bool kScalar>
void unary_row(const float* x, std::size_t cols, float* out) {
  for_each_vector(cols, [&](std::size_t i, auto lanes) HWY_ATTR {
    write(apply<kOp>(operand<kScalar>(x, i, lanes)), out + i, lanes);
  });
}

template <Binary kOp, bool kScalarA, bool kScalarB>
void binary_row(const float* a, const float* b, std::size_t cols, float* out) {
  for_each_vector(cols, [&](std::size_t i, auto lanes) HWY_ATTR {
    const Vector left = operand<kScalarA>(a, i, lanes);
    write(apply<kOp>(left, operand<kScalarB>(b, i, lanes)), out + i, lanes);
  });
}

// Contiguous rows are processed as one long row: every lane runs the same instructions.
bool is_dense(const RowsIn& in, std::size_t cols) {
  return !in.rows && in.stride == cols && in.columns == cols;
}

template <Unary kOp>
UnaryRow unary_row_for(bool scalar) {
  return scalar ? unary_row<kOp, true> : unary_row<kOp, false>;
}

template <Binary kOp>
BinaryRow binary_row_for(bool scalar_a, bool scalar_b) {
  if (scalar_a) return scalar_b ? binary_row<kOp, true, true> : binary_row<kOp, true, false>;
  return scalar_b ? binary_row<kOp, false, true> : binary_row<kOp, false, false>;
}

UnaryRow choose(Unary op, bool scalar) {
  switch (op) {
    case Unary::neg:
      return unary_row_for<Unary::neg>(scalar);
    case Unary::sigmoid:
      return unary_row_for<Unary::sigmoid>(scalar);
    case Unary::tanh:
      return unary_row_for<Unary::tanh>(scalar);
    case Unary::sigmoid_fast:
      return unary_row_for<Unary::sigmoid_fast>(scalar);
    case Unary::tanh_fast:
      return unary_row_for<Unary::tanh_fast>(scalar);
    case Unary::sigmoid_table:
      return unary_row_for<Unary::sigmoid_table>(scalar);
    case Unary::tanh_table:
      return unary_row_for<Unary::tanh_table>(scalar);
    case Unary::relu:
      return unary_row_for<Unary::relu>(scalar);
    case Unary::swish:
      return unary_row_for<Unary::swish>(scalar);
    case Unary::gelu:
      return unary_row_for<Unary::gelu>(scalar);
    case Unary::exp:
      return unary_row_for<Unary::exp>(scalar);
    case Unary::log:
      return unary_row_for<Unary::log>(scalar);
    case Unary::sqrt:
      return unary_row_for<Unary::sqrt>(scalar);
    case Unary::abs:
      return unary_row_for<Unary::abs>(scalar);
  }
  throw InternalError("unary: unknown operation");
}

BinaryRow choose(Binary op, bool scalar_a, bool scalar_b) {
  switch (op) {
    case Binary::add:
      return binary_row_for<Binary::add>(scalar_a, scalar_b);
    case Binary::sub:
      return binary_row_for<Binary::sub>(scalar_a, scalar_b);
    case Binary::mul:
      return binary_row_for<Binary::mul>(scalar_a, scalar_b);
    case Binary::div:
      return binary_row_for<Binary::div>(scalar_a, scalar_b);
    case Binary::max:
      return binary_row_for<Binary::max>(scalar_a, scalar_b);
    case Binary::min:
      return binary_row_for<Binary::min>(scalar_a, scalar_b);
    case Binary::equal:
      return binary_row_for<Binary::equal>(scalar_a, scalar_b);
    case Binary::not_equal:
      return binary_row_for<Binary::not_equal>(scalar_a, scalar_b);
    case Binary::less:
      return binary_row_for<Binary::less>(scalar_a, scalar_b);
    case Binary::less_equal:
      return binary_row_for<Binary::less_equal>(scalar_a, scalar_b);
    case Binary::greater:
      return binary_row_for<Binary::greater>(scalar_a, scalar_b);
    case Binary::greater_equal:
      return binary_row_for<Binary::greater_equal>(scalar_a, scalar_b);
  }
  throw InternalError("binary: unknown operation");
}

void unary(Unary op, const RowsIn& x, std::size_t rows, std::size_t cols, const RowsOut& out) {
  if (rows == 0 || cols == 0) return;
  check(x.columns == cols || x.columns == 1, "unary: column counts differ");
  const UnaryRow run = choose(op, x.columns != cols);
  if (is_dense(x, cols) && out.stride == cols) return run(x.data, rows * cols, out.data);
  for (std::size_t r = 0; r < rows; ++r) run(row_of(x, r, cols), cols, out.data + r * out.stride);
}

void binary(Binary op, const RowsIn& a, const RowsIn& b, std::size_t rows, std::size_t cols,
            const RowsOut& out) {
  if (rows == 0 || cols == 0) return;
  check(a.columns == cols || a.columns == 1, "binary: column counts of a differ");
  check(b.columns == cols || b.columns == 1, "binary: column counts of b differ");
  const BinaryRow run = choose(op, a.columns != cols, b.columns != cols);
  if (is_dense(a, cols) && is_dense(b, cols) && out.stride == cols)
    return run(a.data, b.data, rows * cols, out.data);
  for (std::size_t r = 0; r < rows; ++r)
    run(row_of(a, r, cols), row_of(b, r, cols), cols, out.data + r * out.stride);
}

}  // namespace

std::int64_t fill_pointwise(KernelTable& table) {
  table.unary = unary;
  table.binary = binary;
  table.unary_row = choose;
  table.binary_row = choose;
  return HWY_TARGET;
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
FUSELAGE_DISPATCH_FAMILY(fill_pointwise)
#endif
