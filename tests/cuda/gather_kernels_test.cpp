#include <fmt/format.h>

#include "tests/cuda/op_program.h"

namespace fuselage::cuda {
namespace {

using RowKernelsTest = OpTest;

TEST_F(RowKernelsTest, SelectRowsFollowsPathsAndTakesDefaultRows) {
  expect_for_all(R"(%x = import() {name = "x", domain = sentence, dims = [$n]}
%y = select_rows(%x) {via = [cross.left, hyp.parent, parent.sentence]}
%e = param() {name = "E", domain = vocab, dims = [$n]}
%d = param() {name = "d", dims = [$n]}
%z = select_rows(%e, %d) {via = [hyp.word]}
%n = select_rows(%e) {via = [hyp.word]}
return y = %y, z = %z, n = %n
)",
                 0);
}

TEST_F(RowKernelsTest, SliceTakesColumnsOfSelectedRows) {
  for (const int begin : {0, 1, 4, 7})
    for (const int hypotheses : {0, 1, 33})
      expect_as_reference(with(with(R"(%e = param() {name = "E", domain = vocab, dims = [24]}
%d = param() {name = "d", dims = [24]}
%x = select_rows(%e, %d) {via = [hyp.word]}
%y = slice(%x) {begin = $a, end = $b}
return y = %y
)",
                                    "$a", begin),
                               "$b", begin + 12),
                          hypotheses, 0);
}

TEST_F(RowKernelsTest, ConcatPutsViewsSideBySide) {
  expect_for_all(R"(%x = import() {name = "x", domain = hyp, dims = [$n]}
%e = param() {name = "E", domain = vocab, dims = [12]}
%w = select_rows(%e) {via = [hyp.word]}
%s = slice(%w) {begin = 3, end = 8}
%y = concat(%s, %x, %s, %x)
return y = %y
)",
                 0);
}

TEST_F(RowKernelsTest, ElementsInAnotherOrder) {
  expect_for_all(R"(%x = import() {name = "x", domain = hyp, dims = [2, 3, $n]}
%o = import() {name = "o", domain = hyp, dims = [3, 1]}
%e = param() {name = "E", domain = vocab, dims = [$n]}
%w = select_rows(%e) {via = [hyp.word]}
%a = permute(%x) {order = [2, 0, 1]}
%b = permute(%x) {order = [1, 0, 2]}
%c = expand(%o) {dims = [2, 3, $n]}
%d = expand(%w) {dims = [4, $n]}
%f = mul(%x, %c)
%m = reshape(%x) {dims = [6, $n]}
%g = concat(%o, %o, %o)
%h = concat(%x, %c, %x)
%t = transpose(%m)
%l = slice_leading(%m) {begin = 1, end = 5}
%s = slice(%t) {begin = 2, end = 5}
return a = %a, b = %b, c = %c, d = %d, f = %f, g = %g, h = %h, t = %t, l = %l, s = %s
)",
                 1e-7);
}

TEST_F(RowKernelsTest, BatchMatmul) {
  expect_for_all(R"(%a = import() {name = "a", domain = hyp, dims = [2, 3, $n]}
%b = import() {name = "b", domain = hyp, dims = [2, $n, 4]}
%c = import() {name = "c", domain = hyp, dims = [2, 5, $n]}
%w = param() {name = "w", dims = [2, 3, $n]}
%y = batch_matmul(%a, %b)
%z = batch_matmul(%a, %c) {transposed = true}
%u = batch_matmul(%w, %b)
%v = batch_matmul(%c, %w) {transposed = true}
return y = %y, z = %z, u = %u, v = %v
)");
}

TEST_F(RowKernelsTest, PrefixRowsBeginWhereThoseOfEarlierStepsEnd) {
  expect_for_all(R"(%x = import() {name = "x", domain = prefix, dims = [$n]}
%y = concat(%x, %x)
%z = relu(%y)
return z = %z, y = %y
)",
                 0);
}

TEST_F(RowKernelsTest, PositionsAndTheirSignal) {
  expect_as_reference(R"(%p = position() {domain = source}
%y = sinusoid(%p) {dim = 34}
%q = position() {domain = hyp}
%z = sinusoid(%q) {dim = 4}
%pf = cast(%p) {to = f32}
%qf = cast(%q) {to = f32}
return p = %p, y = %y, q = %q, z = %z, pf = %pf, qf = %qf
)",
                      33);
  for (const int hypotheses : {0, 1, 33})
    expect_as_reference(R"(%p = import() {name = "p", domain = hyp, dims = [], dtype = i32}
%y = sinusoid(%p) {dim = 514}
return y = %y
)",
                        hypotheses, 1e-6);
}

TEST_F(RowKernelsTest, SumsWithTheSignalsOfPositions) {
  for (const int columns : {4, 6, 34, 514})
    for (const int hypotheses : {0, 1, 33})
      expect_as_reference(with(R"(%t = param() {name = "t", domain = vocab, dims = [$n]}
%w = select_rows(%t) {via = [hyp.word]}
%x = import() {name = "x", domain = source, dims = [$n]}
%y = add_sinusoid(%w)
%z, %r = add_sinusoid(%x) {quantized = [0], to = bf16}
%f = cast(%r) {to = f32}
return y = %y, z = %z, f = %f
)",
                               "$n", columns),
                          hypotheses, 1e-6);
}

TEST_F(RowKernelsTest, RowsOfTablesIn16Bits) {
  constexpr const char* kGraph = R"(%ef = param() {{name = "E", domain = vocab, dims = [$n]}}
%df = param() {{name = "d", dims = [$n]}}
%e = cast(%ef) {{to = {0}}}
%d = cast(%df) {{to = {0}}}
%x = select_rows(%e) {{via = [hyp.word]}}
%y = select_rows(%e, %d) {{via = [hyp.word]}}
%xf = cast(%x) {{to = f32}}
%yf = cast(%y) {{to = f32}}
return x = %xf, y = %yf
)";
  for (const char* dtype : {"bf16", "f16"})
    for (const int columns : {2, 8, 514})
      for (const int hypotheses : {0, 1, 33})
        expect_as_reference(with(fmt::format(kGraph, dtype), "$n", columns), hypotheses, 0);
}

TEST_F(RowKernelsTest, Rotary) {
  for (const int half : {1, 5, 16, 33})
    for (const int hypotheses : {0, 1, 33})
      expect_as_reference(with(R"(%x = import() {name = "x", domain = hyp, dims = [$n]}
%e = param() {name = "E", domain = vocab, dims = [$n]}
%w = select_rows(%e) {via = [hyp.word]}
%q = concat(%x, %w, %x, %x, %w, %w)
%s = param() {name = "s", dims = [$n]}
%y = rotary(%q, %x, %s) {heads = 3}
%z = rotary(%q, %s, %w) {heads = 3}
return y = %y, z = %z
)",
                               "$n", half),
                          hypotheses, 1e-6);
}

TEST_F(RowKernelsTest, HeadDot) {
  for (const int heads : {1, 3, 8})
    for (const int width : {1, 5, 33, 64, 130})
      for (const int hypotheses : {0, 1, 33})
        expect_as_reference(with(with(R"(%q = import() {name = "q", domain = hyp, dims = [$n]}
%e = param() {name = "E", domain = vocab, dims = [$n]}
%k = select_rows(%e) {via = [hyp.word]}
%y = head_dot(%q, %k) {heads = $h, scale = 0.125}
return y = %y
)",
                                      "$n", heads * width),
                                 "$h", heads),
                            hypotheses);
}

TEST_F(RowKernelsTest, MixRows) {
  for (const int heads : {1, 3, 8})
    for (const int width : {1, 5, 33, 130})
      for (const int hypotheses : {0, 1, 33})
        expect_as_reference(with(with(R"(%w = import() {name = "w", domain = cross, dims = [$h]}
%x = import() {name = "x", domain = source, dims = [$n]}
%y = mix_rows(%w, %x) {to = [cross.left], via = [cross.right]}
%e = param() {name = "E", domain = vocab, dims = [$n]}
%z = mix_rows(%w, %e) {to = [cross.left], via = [cross.right, source.word]}
return y = %y, z = %z
)",
                                      "$n", heads * width),
                                 "$h", heads),
                            hypotheses);
}

TEST_F(RowKernelsTest, ReductionsOfGroups) {
  expect_for_all(R"(%x = import() {name = "x", domain = source, dims = [$n]}
%c = import() {name = "c", domain = cross, dims = [2, $n]}
%s = sum_rows(%x) {to = [source.sentence]}
%m = max_rows(%x) {to = [source.sentence]}
%l = segment_log_sum_exp(%x) {to = [source.sentence]}
%u = sum_rows(%c) {to = [cross.left]}
%v = max_rows(%c) {to = [cross.left]}
%w = segment_log_sum_exp(%c) {to = [cross.left]}
%a = mean_rows(%c) {to = [cross.left]}
return s = %s, m = %m, l = %l, u = %u, v = %v, w = %w, a = %a
)");
}

TEST_F(RowKernelsTest, MeanRows) {
  expect_for_all(R"(%x = import() {name = "x", domain = source, dims = [$n]}
%y = mean_rows(%x) {to = [source.sentence]}
%c = import() {name = "c", domain = cross, dims = [$n]}
%z = mean_rows(%c) {to = [cross.left]}
return y = %y, z = %z
)");
}

}  // namespace
}  // namespace fuselage::cuda
