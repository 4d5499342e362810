// Element operations of the matrix product, for each type of matrix. Compiled once per target,
// hence the unusual guard.
#if defined(FUSELAGE_CPU_KERNELS_ARITHMETIC_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_ARITHMETIC_INL_H_
#undef FUSELAGE_CPU_KERNELS_ARITHMETIC_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_ARITHMETIC_INL_H_
#endif

#include <cstddef>

#include "backends/cpu/simd/gemm/byte_pairs-inl.h"
#include "backends/cpu/simd/gemm/float_arithmetic-inl.h"
#include "backends/cpu/simd/gemm/integer_arithmetic-inl.h"
#include "backends/cpu/simd/gemm/log4_arithmetic-inl.h"
#include "backends/cpu/simd/gemm/packed_matrix.h"
#include "fuselage/base/error.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

// An arithmetic is a range of panels of a matrix and the operations of its products. The terms of a
// sum are divided into groups; a step multiplies a group of a row by the same group of each column.
//
//     kGroupBytes         bytes of a column's group in the matrix
//     kTileRows           rows whose sums are computed together
//     kDecodes            whether `right` is more than a load
//     skip(vectors)       makes a run that begins with a panel begin with a later vector
//     start(v)            the first value of the sums of the run's vector v of columns
//     right(b)            the groups of kLanes columns, which lie at b
//     left(row, i)        group i of a row, in every lane
//     multiply_add        left * right + sum
//     finish(sum, row, v) the products
//
// One that shares work between the columns of a row has multiply_add_row instead of left and
// multiply_add. Its steps may leave terms of a row out, which multiply_add_rest adds. Rows that
// need other steps (needs_wide), or may have faster ones (are_unsigned), have them in the
// arithmetics Wide and Unsigned.
//
// Some need rows in another form (prepare), of prepared_elements(k) units of 4 bytes.

template <class Arithmetic>
struct Type {
  using type = Arithmetic;
};

/// Calls f with the arithmetic of a matrix, as a Type.
template <class F>
HWY_INLINE void with_arithmetic(const PackedMatrix& b, const F& f) {
  check(b.layout() == kPanelLayout, "the matrix was packed for another instruction set");
  switch (b.dtype()) {
    case DType::qint8:
      return f(Type<Int8Arithmetic>());
    case DType::qint16:
      return f(Type<Int16Arithmetic>());
    case DType::bf16:
      return f(Type<BFloat16Arithmetic>());
    case DType::qlog4:
      return f(Type<Log4Arithmetic>());
    default:
      return f(Type<FloatArithmetic>());
  }
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_ARITHMETIC_INL_H_
