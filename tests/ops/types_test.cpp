// Rules for types.

#include <set>

#include "fuselage/graph/verifier.h"
#include "tests/ops/evaluation.h"

namespace fuselage {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Good {
  const char* equation;  ///< one line over kInputs that makes %y
  const char* type;
};

constexpr Good kGood[] = {
    {"%y = param() {name = \"n\", dims = [3, 4], dtype = i8}", "i8[3, 4]"},
    {"%y = param() {name = \"n\", domain = vocab, dims = []}", "vocab f32[]"},
    {"%y = import() {name = \"n\", domain = hyp, dims = [3], dtype = i32}", "hyp i32[3]"},
    {"%y = constant() {values = [1]}", "f32[]"},
    {"%y = constant() {values = [1, 2, 3, 4], dims = [2, 2]}", "f32[2, 2]"},
    {"%y = state(%v) {domain = parent}", "parent f32[2]"},
    {"%y = state(%sent) {domain = parent}", "parent f32[2]"},
    {"%y = state(%sent) {domain = bwd}", "bwd f32[2]"},
    {"%y = collect(%f)", "source f32[2]"},
    {"%y = history(%h22) {domain = prefix}", "prefix f32[2, 2]"},
    {"%y = history(%h22) {domain = prefix, to = bf16}", "prefix bf16[2, 2]"},
    {"%w = param() {name = \"w\", dims = [2, 9]}\n%u = param() {name = \"u\", dims = [3, 9]}\n"
     "%b = param() {name = \"b\", dims = [9]}\n"
     "%y = recurrent_layer(%x, %w, %u, %b, %b) {cell = \"gru\", over = fwd}",
     "source f32[3]"},
    {"%y = neg(%h22)", "hyp f32[2, 2]"},
    {"%y = add(%h, %v)", "hyp f32[2]"},
    {"%y = add(%v, %h)", "hyp f32[2]"},
    {"%y = sub(%s, %v)", "f32[2]"},
    {"%y = mul(%hs, %v)", "hyp f32[2]"},
    {"%y = div(%h22, %h1)", "hyp f32[2, 2]"},
    {"%y = max(%h1, %hs)", "hyp f32[1]"},
    {"%y = where(%h1, %h22, %s)", "hyp f32[2, 2]"},
    {"%y = matmul(%h, %m)", "hyp f32[3]"},
    {"%y = matmul(%h22, %m)", "hyp f32[2, 3]"},
    {"%y = matmul(%v, %m)", "f32[3]"},
    {"%y = matmul(%h, %e) {transposed = true}", "hyp f32[5]"},
    {"%y = matmul(%h5, %e)", "hyp f32[2]"},
    {"%y = layer_norm(%h, %v) {epsilon = 1e-6}", "hyp f32[2]"},
    {"%y = layer_norm(%h, %v, %v) {epsilon = 1e-6}", "hyp f32[2]"},
    {"%y = rms_norm(%x4, %v4) {epsilon = 1e-6}", "source f32[4]"},
    {"%y = softmax(%h)", "hyp f32[2]"},
    {"%y = log_softmax(%v4)", "f32[4]"},
    {"%y = concat(%h, %h1, %h4)", "hyp f32[7]"},
    {"%y = concat(%h22, %h22)", "hyp f32[2, 4]"},
    {"%y = slice(%h4) {begin = 1, end = 4}", "hyp f32[3]"},
    {"%y = slice(%h22) {begin = 0, end = 1}", "hyp f32[2, 1]"},
    {"%y = quantize(%h4)", "hyp qint8[4]"},
    {"%y = quantize(%m) {to = qint16, largest = 8191}", "qint16[2, 3]"},
    {"%y = quantize(%e, %s)", "vocab qint8[2]"},
    {"%y = quantize(%h4) {vectors = 2}", "hyp qint8[2, 2]"},
    {"%y = quantize(%m) {vectors = 3}", "qint8[2, 3, 1]"},
    {"%q = quantize(%m) {to = qint16}\n%y = dequantize(%q)", "f32[2, 3]"},
    {"%y = quantize(%m) {to = qlog4, largest = 128}", "qlog4[2, 3]"},
    {"%y = quantize(%h) {largest = 64, logarithmic = true}", "hyp qint8[2]"},
    {"%y = quantize(%h) {to = bf16}", "hyp bf16[2]"},
    {"%y = import() {name = \"i\", domain = hyp, dims = [2], dtype = bf16}", "hyp bf16[2]"},
    {"%q = quantize(%h) {to = f16}\n%w = cast(%m) {to = f16}\n%y = matmul(%q, %w)", "hyp f32[3]"},
    {"%q = quantize(%h) {to = f16}\n%y = history(%q) {domain = prefix}", "prefix f16[2]"},
    {"%q = quantize(%h)\n%w = quantize(%e) {to = qlog4, largest = 128}\n"
     "%y = matmul(%q, %w) {transposed = true}",
     "hyp f32[5]"},
    {"%y = cast(%e)", "vocab bf16[2]"},
    {"%y = cast(%e) {to = f16}", "vocab f16[2]"},
    {"%b = cast(%m)\n%y = cast(%b) {to = f32}", "f32[2, 3]"},
    {"%b = cast(%m)\n%y = quantize(%b)", "qint8[2, 3]"},
    {"%b = cast(%e)\n%y = select_rows(%b) {via = [hyp.word]}", "hyp bf16[2]"},
    {"%b = cast(%e)\n%r = select_rows(%b) {via = [hyp.word]}\n%y = cast(%r) {to = f32}",
     "hyp f32[2]"},
    {"%y = cast(%hi) {to = f32}", "hyp f32[]"},
    {"%w = cast(%m)\n%y = matmul(%h, %w)", "hyp f32[3]"},
    {"%w = cast(%e)\n%y = matmul(%h, %w) {transposed = true}", "hyp f32[5]"},
    {"%y = transpose(%m)", "f32[3, 2]"},
    {"%q = quantize(%h)\n%y = select_rows(%q) {via = [cross.left]}", "cross qint8[2]"},
    {"%q = quantize(%h)\n%w = quantize(%e)\n%y = matmul(%q, %w) {transposed = true}", "hyp f32[5]"},
    {"%w = quantize(%e)\n%y = matmul(%h, %w) {transposed = true}", "hyp f32[5]"},
    {"%y = slice_leading(%m) {begin = 1, end = 2}", "f32[1, 3]"},
    {"%y = slice_leading(%h22) {begin = 0, end = 1}", "hyp f32[1, 2]"},
    {"%y = reshape(%h4) {dims = [2, 2]}", "hyp f32[2, 2]"},
    {"%y = reshape(%m) {dims = [6]}", "f32[6]"},
    {"%y = batch_matmul(%h22, %m)", "hyp f32[2, 3]"},
    {"%y = batch_matmul(%m, %m) {transposed = true}", "f32[2, 2]"},
    {"%y = expand(%h1) {dims = [3, 4]}", "hyp f32[3, 4]"},
    {"%y = expand(%hs) {dims = [2]}", "hyp f32[2]"},
    {"%y = permute(%m) {order = [1, 0]}", "f32[3, 2]"},
    {"%t = reshape(%h4) {dims = [1, 2, 2]}\n%y = permute(%t) {order = [1, 2, 0]}",
     "hyp f32[2, 2, 1]"},
    {"%y = reduce_sum(%h4)", "hyp f32[1]"},
    {"%y = reduce_max(%h22)", "hyp f32[2]"},
    {"%y = reduce_mean(%m)", "f32[2]"},
    {"%y = less(%h4, %h1)", "hyp f32[4]"},
    {"%y = select_rows(%sent) {via = [cross.left, hyp.parent, parent.sentence]}", "cross f32[2]"},
    {"%y = select_rows(%e, %v) {via = [hyp.word]}", "hyp f32[2]"},
    {"%y = segment_softmax(%c) {to = [cross.left]}", "cross f32[2]"},
    {"%y = segment_softmax(%x) {to = [source.sentence]}", "source f32[2]"},
    {"%y = mix_rows(%c, %x4) {to = [cross.left], via = [cross.right]}", "hyp f32[4]"},
    {"%y = mean_rows(%x4) {to = [source.sentence]}", "sentence f32[4]"},
    {"%y = sum_rows(%c4) {to = [cross.left]}", "hyp f32[4]"},
    {"%t = reshape(%c4) {dims = [2, 2]}\n%y = max_rows(%t) {to = [cross.left]}", "hyp f32[2, 2]"},
    {"%y = segment_log_sum_exp(%x) {to = [source.sentence]}", "sentence f32[2]"},
    {"%y = head_dot(%c4, %d4) {heads = 2}", "cross f32[2]"},
    {"%y = head_dot(%v4, %d4) {heads = 1}", "cross f32[1]"},
    {"%y = position() {domain = source}", "source i32[]"},
    {"input frames : source f32[2, 3]\n%y = input() {name = \"frames\"}", "source f32[2, 3]"},
    {"%y = sinusoid(%hi) {dim = 4}", "hyp f32[4]"},
    {"%y = rotary(%h4, %h, %h)", "hyp f32[4]"},
    {"%y = rotary(%x4, %v, %v)", "source f32[4]"},
    {"%y, %ids = k_best(%h4) {k = 4}", "hyp f32[4]"},
    {"%y = log_sum_exp(%h4)", "hyp f32[1]"},
    {"%y = uniform(%v4, %hi)", "hyp f32[1]"},
    {"%y, %ids = sample(%h4, %h1)", "hyp f32[1]"},
    {"%a, %b = k_best(%h4) {k = 2}\n%y, %ids = sample(%a, %h1, %b) {top_k = 1}", "hyp f32[1]"},
    {"%n = slice(%c) {begin = 0, end = 1}\n"
     "%y, %ids = segment_sample(%n, %h1) {to = [cross.left], words = [cross.right]}",
     "hyp f32[1]"},
    {"%y, %ids = linear_k_best(%h, %e) {transposed = true, k = 4}", "hyp f32[4]"},
    {"%y = row_number() {via = [hyp.word]}", "hyp f32[1]"},
    {"%n = row_number() {via = [source.word]}\n"
     "%y = penalize_repeats(%h5, %n) {to = [cross.left], via = [cross.right]}",
     "hyp f32[5]"},
    {"%n = row_number() {via = [source.word]}\n"
     "%c1 = slice(%c) {begin = 0, end = 1}\n%y = segment_penalize_repeats(%c1, %n) {row = "
     "[cross.left], listed = [cross.right, "
     "source.word], to = [cross.left], via = [cross.right]}",
     "cross f32[1]"},
    {"%y = segment_log_softmax(%c4) {to = [cross.left]}", "cross f32[4]"},
    {"%y = select_elements(%h5) {row = [cross.left], element = [cross.right, source.word]}",
     "cross f32[1]"},
    {"%n = select_rows(%h1) {via = [cross.left]}\n"
     "%y, %ids = segment_k_best(%n) {k = 9, to = [cross.left], words = [cross.right]}",
     "hyp f32[9]"},
    {"%y, %ids = shortlist_k_best(%h, %e) {k = 7, to = [cross.left], words = [cross.right, "
     "source.word], transposed = true}",
     "hyp f32[7]"},
    {"%y = sampled_matmul(%h, %e) {to = [cross.left], words = [cross.right, source.word], "
     "transposed = true}",
     "cross f32[1]"},
    {"%y, %ids = ensemble_k_best(%h, %e, %h5, %h, %e) {k = 4, weights = [1, 0.5], "
     "biased = [1, 0], transposed = [1, 1]}",
     "hyp f32[4]"},
    {"%y, %a = pointwise(%h4, %h1, %v4) {expression = \"t0 = mul(x0, x1); add(t0, x2); t0\"}",
     "hyp f32[4]"},
    {"%y, %a = add_layer_norm(%h4, %v4, %v4) {epsilon = 1}", "hyp f32[4]"},
    {"%y, %a = add_rms_norm(%h4, %v4, %v4) {epsilon = 1}", "hyp f32[4]"},
    {"%y = add_sinusoid(%h4)", "hyp f32[4]"},
    {"%y = linear(%h, %m) {expression = \"tanh(x0)\"}", "hyp f32[3]"},
    {"%z, %y = linear(%h, %m) {expression = \"tanh(x0)\", quantized = [0], to = qint16, largest = "
     "9}",
     "hyp qint16[3]"},
    {"%y = linear(%h, %e, %h5) {transposed = true, expression = \"tanh(add(x0, x1))\"}",
     "hyp f32[5]"},
    {"%y = leading_rows(%e) {count = 3}", "f32[3, 2]"},
    {"%y = lookup_matmul(%e, %m, %m) {via = [hyp.word]}", "hyp f32[3]"},
    {"%y, %a = dot_attention(%h4, %x4, %x4) {left = [cross.left], right = [cross.right], heads = "
     "2}",
     "cross f32[2]"},
    {"%y, %a = dot_attention(%h4, %x4, %x4, %c) {left = [cross.left], right = [cross.right], heads "
     "= 2}",
     "cross f32[2]"},
    {"%w1 = constant() {values = [1], dims = [2, 1]}\n"
     "%y, %a = additive_attention(%h, %x, %w1, %x4) {left = [cross.left], right = [cross.right]}",
     "cross f32[1]"},
};

TEST(Infer, GivesTheTypeOfTheResult) {
  for (const Good& good : kGood) {
    SCOPED_TRACE(good.equation);
    const Graph graph = over_inputs(good.equation);
    EXPECT_EQ(graph.show(graph.value(value_named(graph, "y")).type), good.type);
  }
}

TEST(Infer, KBestGivesValuesAndIndices) {
  const Graph graph = over_inputs("%y, %ids = k_best(%h4) {k = 3}");
  EXPECT_EQ(graph.show(graph.value(value_named(graph, "ids")).type), "hyp i32[3]");
}

struct Bad {
  const char* equation;
  const char* message;
};

constexpr Bad kBad[] = {
    {"%y = param() {name = \"n\", domain = hyp, dims = [3]}",
     "a parameter has no rows or one per vocabulary entry, not hyp f32[3]"},
    {"%y = param() {name = \"n\", dims = [3, 0]}", "dimensions [3, 0] are out of range"},
    {"%y = import() {name = \"n\", dims = [-1]}", "dimensions [-1] are out of range"},
    {"%y = constant() {values = [1, 2], dims = [3]}",
     "f32[3] needs 3 values or one for all, not 2"},
    {"%y = constant() {values = []}", "f32[] needs 1 values or one for all, not 0"},
    {"%y = state(%v) {domain = hyp}",
     "a state lives in a scan or parent domain, but 'hyp' is a hypothesis domain"},
    {"%y = state(%x) {domain = fwd}",
     "its initial value must have no rows or one per sentence, not source f32[2]"},
    {"%t = state(%v) {domain = parent}\nnext(%t, %h4)",
     "the next value hyp f32[4] does not fit the state parent f32[2]"},
    {"%t = state(%v) {domain = fwd}\nnext(%t, %h)",
     "the next value hyp f32[2] does not fit the state fwd f32[2]"},
    {"%t = state(%v) {domain = fwd}\nnext(%t, %x)",
     "the next value source f32[2] does not fit the state fwd f32[2]"},
    {"%y = collect(%x)", "it collects the rows of a scan, not source f32[2]"},
    {"%y = history(%x) {domain = prefix}",
     "'prefix' is no prefix domain of the rows of source f32[2]"},
    {"%y = history(%h) {domain = hyp}", "'hyp' is no prefix domain of the rows of hyp f32[2]"},
    {"%y = history(%h) {domain = prefix, to = qint8}",
     "it rounds rows to bf16 or f16, not to qint8"},
    {"%y = history(%hi) {domain = prefix, to = f16}", "operand 0 must be f32, not hyp i32[]"},
    {"%y = history(%h5) {domain = prefix, to = f16}",
     "rows of f16 have an even number of elements, not 5"},
    {"%y = neg(%hi)", "operand 0 must be f32, not hyp i32[]"},
    {"%y = add(%h, %hi)", "operand 1 must be f32, not hyp i32[]"},
    {"%y = add(%h, %h4)", "dimensions differ: hyp f32[2] and hyp f32[4]"},
    {"%y = sub(%h22, %v4)", "dimensions differ: hyp f32[2, 2] and f32[4]"},
    {"%y = mul(%h, %x)",
     "operands 0 and 1 range over different rows: hyp f32[2] and source f32[2]; give one the "
     "other's rows with select_rows"},
    {"%y = matmul(%h, %h22)", "its second operand must be known at load time, not hyp f32[2, 2]"},
    {"%y = matmul(%h, %v)", "its second operand must be a matrix, not f32[2]"},
    {"%y = matmul(%h4, %m)", "inner dimensions differ: hyp f32[4] by f32[2, 3]"},
    {"%y = matmul(%h, %m) {transposed = true}",
     "inner dimensions differ: hyp f32[2] by f32[2, 3] transposed"},
    {"%y = matmul(%hs, %m)", "inner dimensions differ: hyp f32[] by f32[2, 3]"},
    {"%y = matmul(%hi, %m)", "operand 0 must be f32 or quantized, not hyp i32[]"},
    {"%y = layer_norm(%h, %v4) {epsilon = 1}", "operand 1 must be f32[2] without rows, not f32[4]"},
    {"%y = layer_norm(%h, %v, %h) {epsilon = 1}",
     "operand 2 must be f32[2] without rows, not hyp f32[2]"},
    {"%y = layer_norm(%h, %v) {epsilon = 0}", "epsilon must be positive"},
    {"%y = rms_norm(%h, %v) {epsilon = nan}", "epsilon must be positive"},
    {"%y = rms_norm(%h22, %v) {epsilon = 1}",
     "operand 0 must be a vector a row, not hyp f32[2, 2]"},
    {"%y = softmax(%hi)", "operand 0 must be f32, not hyp i32[]"},
    {"%y = concat(%h, %x)",
     "operands 0 and 1 cannot stand side by side: hyp f32[2] and source f32[2]"},
    {"%y = concat(%h22, %h22, %h)",
     "operands 0 and 2 cannot stand side by side: hyp f32[2, 2] and hyp f32[2]"},
    {"%y = concat(%hs, %hs)",
     "operands 0 and 0 cannot stand side by side: hyp f32[] and hyp f32[]"},
    {"%y = slice(%h4) {begin = 2, end = 5}", "elements 2 to 5 are not a part of hyp f32[4]"},
    {"%y = slice(%h4) {begin = 2, end = 2}", "elements 2 to 2 are not a part of hyp f32[4]"},
    {"%y = slice(%h4) {begin = -1, end = 2}", "elements -1 to 2 are not a part of hyp f32[4]"},
    {"%y = slice(%hs) {begin = 0, end = 1}", "elements 0 to 1 are not a part of hyp f32[]"},
    {"%y = quantize(%hi)", "operand 0 must be f32, not hyp i32[]"},
    {"%y = quantize(%hs)", "it takes vectors, not hyp f32[]"},
    {"%y = quantize(%h) {to = i8}", "i8 is not a quantized type"},
    {"%y = quantize(%h) {largest = 128}", "integers of qint8 go up to 127, not 128"},
    {"%y = quantize(%h4) {vectors = 3}", "hyp f32[4] cannot be divided into 3 vectors"},
    {"%y = quantize(%h4) {vectors = 0}", "hyp f32[4] cannot be divided into 0 vectors"},
    {"%y = quantize(%h4) {to = bf16, vectors = 2}", "bf16 numbers have neither a scale nor bounds"},
    {"%y = quantize(%h) {to = f16, largest = 5}", "f16 numbers have neither a scale nor bounds"},
    {"%y = quantize(%h, %s) {to = bf16}", "bf16 numbers have neither a scale nor bounds"},
    {"%y = quantize(%h5) {to = bf16}", "an even number of elements, not 5"},
    {"%q = quantize(%h) {to = bf16}\n%y = matmul(%q, %m)",
     "multiplied with a matrix of bf16, not of f32"},
    {"%y = quantize(%h) {largest = 0}", "integers of qint8 go up to 127, not 0"},
    {"%y = quantize(%h4) {largest_sum = 4}", "a sum of 4 integers cannot be bounded by 4"},
    {"%y = quantize(%h) {largest_sum = -1}", "a sum of magnitudes is bounded by -1"},
    {"%y = quantize(%h4, %s) {largest_sum = 50}", "with a given scale, sums cannot be bounded"},
    {"%y = quantize(%h, %v)", "its scale must be one number for all rows, not f32[2]"},
    {"%y = dequantize(%h)", "it takes quantized vectors, not hyp f32[2]"},
    {"%y = quantize(%h) {to = qlog4}", "integers of qlog4 go up to 128"},
    {"%y = quantize(%h) {logarithmic = true}", "qint8 up to 64, not qint8 up to 127"},
    {"%y = cast(%m) {to = i8}", "between f32 and bf16 or f16, not f32 to i8"},
    {"%n = cast(%m) {to = f16}\n%y = cast(%n)",
     "it casts i32 to f32, and between f32 and bf16 or f16, not f16 to bf16"},
    {"%q = quantize(%m)\n%y = cast(%q)", "between f32 and bf16 or f16, not qint8 to bf16"},
    {"%y = cast(%hi)", "it casts i32 to f32, and between f32 and bf16 or f16, not i32 to bf16"},
    {"%y = cast(%h) {to = f16}", "f16 numbers are known at load time, not in rows of 'hyp'"},
    {"%y = cast(%h)", "bf16 numbers are known at load time, not in rows of 'hyp'"},
    {"%o = param() {name = \"o\", domain = vocab, dims = [5]}\n%b = cast(%o)\n"
     "%y = select_rows(%b) {via = [hyp.word]}",
     "rows of bf16 have an even number of elements, not 5"},
    {"%b = cast(%e)\n%r = select_rows(%b) {via = [hyp.word]}\n%y = quantize(%r)",
     "bf16 numbers are known at load time, not in rows of 'hyp'"},
    {"%b = cast(%m)\n%y = quantize(%b) {to = bf16}", "operand 0 must be f32, not bf16[2, 3]"},
    {"%b = cast(%v)\n%y = state(%b) {domain = parent}", "not in rows of 'parent'"},
    {"%y = import() {name = \"i\", domain = hyp, dims = [3], dtype = bf16}",
     "rows of bf16 have an even number of elements, not 3"},
    {"%b = cast(%m)\n%y = relu(%b)", "operand 0 must be f32, not bf16[2, 3]"},
    {"%b = cast(%e)\n%y = matmul(%b, %m)",
     "rows of bf16 are multiplied with a matrix of bf16, not of f32"},
    {"%y = transpose(%h)", "it takes a matrix a row, not hyp f32[2]"},
    {"%w = quantize(%m)\n%y = matmul(%h, %w)", "has scales along the wrong dimension"},
    {"%y = slice_leading(%m) {begin = 0, end = 3}", "rows 0 to 3 are not a part of f32[2, 3]"},
    {"%y = slice_leading(%m) {begin = 1, end = 1}", "rows 1 to 1 are not a part of f32[2, 3]"},
    {"%y = slice_leading(%h4) {begin = 0, end = 1}",
     "it needs two dimensions or more, not hyp f32[4]"},
    {"%y = reshape(%h4) {dims = [2, 3]}",
     "numbers of elements differ: hyp f32[4] has 4 a row, hyp f32[2, 3] has 6"},
    {"%y = reshape(%h4) {dims = [2, 0]}", "dimensions [2, 0] are out of range"},
    {"%y = reshape(%hi) {dims = [1]}", "operand 0 must be f32, not hyp i32[]"},
    {"%y = batch_matmul(%h22, %h)", "operand 1 must be a matrix a row, not hyp f32[2]; reshape it"},
    {"%y = batch_matmul(%hi, %h22)", "operand 0 must be f32, not hyp i32[]"},
    {"%y = batch_matmul(%m, %m)", "inner dimensions differ: f32[2, 3] by f32[2, 3]"},
    {"%y = batch_matmul(%m, %h22) {transposed = true}",
     "inner dimensions differ: f32[2, 3] by hyp f32[2, 2] transposed"},
    {"%t = reshape(%h4) {dims = [1, 2, 2]}\n%y = batch_matmul(%t, %h22)",
     "leading dimensions differ: hyp f32[1, 2, 2] by hyp f32[2, 2]"},
    {"%t = reshape(%x4) {dims = [2, 2]}\n%y = batch_matmul(%t, %h22)",
     "operands 0 and 1 range over different rows: source f32[2, 2] and hyp f32[2, 2]"},
    {"%y = expand(%h) {dims = [2, 3]}",
     "hyp f32[2] cannot be repeated to [2, 3]: from the last dimension on, each must be 1 or stay"},
    {"%y = expand(%h22) {dims = [2]}", "hyp f32[2, 2] cannot be repeated to [2]"},
    {"%y = expand(%h1) {dims = [0]}", "dimensions [0] are out of range"},
    {"%y = permute(%m) {order = [0, 0]}", "[0, 0] is no order of the 2 dimensions of f32[2, 3]"},
    {"%y = permute(%m) {order = [1]}", "[1] is no order of the 2 dimensions of f32[2, 3]"},
    {"%y = reduce_sum(%hs)", "it reduces the last dimension, which hyp f32[] lacks"},
    {"%y = reduce_max(%hi)", "operand 0 must be f32, not hyp i32[]"},
    {"%y = reduce_mean(%hs)", "it reduces the last dimension, which hyp f32[] lacks"},
    {"%y = less(%h, %h4)", "dimensions differ: hyp f32[2] and hyp f32[4]"},
    {"%y = where(%h, %h1, %h4)", "dimensions differ: hyp f32[2] and hyp f32[4]"},
    {"%y = where(%h, %x, %h)",
     "operands 0 and 1 range over different rows: hyp f32[2] and source f32[2]"},
    {"%y = select_rows(%x) {via = []}", "its path of maps is empty"},
    {"%y = select_rows(%x) {via = [hyp.parent]}",
     "its path leads to rows of 'parent', but the operand is source f32[2]"},
    {"%y = select_rows(%sent) {via = [hyp.parent, source.sentence]}",
     "map 'hyp.parent' leads to 'parent', but the next one, 'source.sentence', starts at 'source'"},
    {"%y = select_rows(%e, %v4) {via = [hyp.word]}", "its default row must be f32[2], not f32[4]"},
    {"%y = select_rows(%e, %h) {via = [hyp.word]}",
     "its default row must be f32[2], not hyp f32[2]"},
    {"%y = segment_softmax(%c) {to = [cross.right]}", "rows are gathered along one map"},
    {"%y = segment_softmax(%c) {to = [cross.left, hyp.parent]}", "rows are gathered along one map"},
    {"%y = segment_softmax(%h) {to = [hyp.parent]}", "rows are gathered along one map"},
    {"%y = segment_softmax(%x) {to = [cross.left]}",
     "its operand must have the rows of 'cross', not source f32[2]"},
    {"%y = mix_rows(%x, %x4) {to = [cross.left], via = [cross.right]}",
     "its weights, source f32[2], must have the rows of 'cross', and its path start there"},
    {"%y = mix_rows(%c, %x4) {to = [cross.left], via = [self.right]}",
     "its weights, cross f32[2], must have the rows of 'cross', and its path start there"},
    {"%y = mix_rows(%c, %h4) {to = [cross.left], via = [cross.right]}",
     "its path leads to rows of 'source', but the mixed value is hyp f32[4]"},
    {"%y = mix_rows(%c4, %x) {to = [cross.left], via = [cross.right]}",
     "source f32[2] cannot be cut into 4 heads"},
    {"%y = sum_rows(%h) {to = [source.sentence]}",
     "its operand must have the rows of 'source', not hyp f32[2]"},
    {"%y = max_rows(%c) {to = [cross.right]}", "rows are gathered along one map"},
    {"%y = segment_log_sum_exp(%hi) {to = [cross.left]}", "operand 0 must be f32, not hyp i32[]"},
    {"%y = mean_rows(%h) {to = [source.sentence]}",
     "its operand must have the rows of 'source', not hyp f32[2]"},
    {"%y = head_dot(%c, %d4) {heads = 1}", "widths differ: cross f32[2] and cross f32[4]"},
    {"%y = head_dot(%c4, %d4) {heads = 3}", "cross f32[4] cannot be cut into 3 heads"},
    {"%y = head_dot(%c4, %d4) {heads = 0}", "cross f32[4] cannot be cut into 0 heads"},
    {"%y = head_dot(%x4, %d4) {heads = 1}",
     "operands 0 and 1 range over different rows: source f32[4] and cross f32[4]"},
    {"input frames : source f32[2]\n%y = input() {name = \"frame\"}",
     "input 'frame' is not declared; did you mean 'frames'?"},
    {"%y = position() {domain = vocab}", "rows of a vocabulary domain have no position"},
    {"%y = sinusoid(%hs) {dim = 4}", "its operand must be one i32 a row, not hyp f32[]"},
    {"%y = rotary(%h4, %h, %h) {heads = 0}", "cannot be cut into 0 heads of an even width"},
    {"%y = rotary(%h5, %h, %h)", "hyp f32[5] cannot be cut into 1 heads of an even width"},
    {"%y = rotary(%h4, %h, %h4)", "operand 2 must have 2 elements, half of a head, not hyp f32[4]"},
    {"%y = rotary(%x4, %h, %v)", "range over different rows"},
    {"%y = sinusoid(%hi) {dim = 5}", "must be even and at least 4, not 5"},
    {"%y = sinusoid(%hi) {dim = 2}", "must be even and at least 4, not 2"},
    {"%y, %ids = k_best(%h4) {k = 5}", "it cannot take the 5 best of hyp f32[4]"},
    {"%y, %ids = k_best(%h4) {k = 0}", "it cannot take the 0 best of hyp f32[4]"},
    {"%y, %ids = k_best(%h22) {k = 1}", "operand 0 must be a vector a row, not hyp f32[2, 2]"},
    {"%y = uniform(%h, %hi)", "operand 0 must be a stream, f32[4], not hyp f32[2]"},
    {"%y = uniform(%h4, %hs)", "operand 1 must be a position, i32[], not hyp f32[]"},
    {"%y, %ids = sample(%h4, %h)", "operand 1 must be a number, f32[1], not hyp f32[2]"},
    {"%y, %ids = sample(%h22, %h1)", "operand 0 must be a vector a row, not hyp f32[2, 2]"},
    {"%y, %ids = sample(%h4, %h1, %h4)",
     "operand 2 must have a word for each score, i32[4], not hyp f32[4]"},
    {"%y, %ids = sample(%h4, %h1) {top_k = 2}", "top_k = 2 is for the words of a list"},
    {"%y, %ids = sample(%h4, %h1) {temperature = 0}",
     "its temperature must be a number above 0, not 0"},
    {"%y, %ids = sample(%h4, %h1) {temperature = nan}", "must be a number above 0, not nan"},
    {"%y, %ids = sample(%h4, %h1) {top_p = 0}", "top_p must be above 0 and at most 1, not 0"},
    {"%y, %ids = sample(%h4, %h1) {epsilon = 2}", "epsilon must be from 0 to 1, not 2"},
    {"%y, %ids = sample(%h4, %h1) {excluded = [2, 1]}",
     "excluded words must ascend from 0 on; 1 does not"},
    {"%y, %ids = sample(%h4, %h1) {excluded = [-1]}", "must ascend from 0 on; -1 does not"},
    {"%y, %ids = sample(%h4, %h1) {excluded = [4]}", "it excludes word 4, but hyp f32[4] has none"},
    {"%y, %ids = segment_sample(%h1, %h1) {to = [cross.left], words = [cross.right]}",
     "its operand must be one number for each row of 'cross'"},
    {"%n = slice(%c) {begin = 0, end = 1}\n"
     "%y, %ids = segment_sample(%n, %n) {to = [cross.left], words = [cross.right]}",
     "operand 1 must be a number for each row of 'hyp', not cross f32[1]"},
    {"%n = slice(%c) {begin = 0, end = 1}\n"
     "%y, %ids = segment_sample(%n, %h1) {to = [cross.left], words = [cross.right], epsilon = 2}",
     "epsilon must be from 0 to 1, not 2"},
    {"%y = log_sum_exp(%h22)", "operand 0 must be a vector a row, not hyp f32[2, 2]"},
    {"%y, %ids = linear_k_best(%h, %m) {k = 4}", "it cannot take the 4 best of hyp f32[3]"},
    {"%y, %ids, %n = linear_k_best(%h, %m) {k = 1, log_softmax = false, normalizer = true}",
     "only log-probabilities have a normalizer"},
    {"%y, %ids = linear_k_best(%h4, %m) {k = 1}",
     "inner dimensions differ: hyp f32[4] by f32[2, 3]"},
    {"%y = segment_log_softmax(%h) {to = [cross.left]}",
     "its operand must have the rows of 'cross', not hyp f32[2]"},
    {"%y = row_number() {via = [hyp.parent]}",
     "its path leads to 'parent', which is no vocabulary of at most 16777216 entries"},
    {"%y = penalize_repeats(%h5, %h1) {to = [cross.left], via = [cross.right]}",
     "its words must be one number for each row of 'source', not hyp f32[1]"},
    {"%n = row_number() {via = [source.word]}\n"
     "%y = penalize_repeats(%x4, %n) {to = [cross.left], via = [cross.right]}",
     "its scores must have the rows of 'hyp', not source f32[4]"},
    {"%n = row_number() {via = [source.word]}\n"
     "%y = penalize_repeats(%h5, %n) {to = [cross.left], via = [cross.right], penalty = 0}",
     "its penalty must be above 0, not 0"},
    {"%n = row_number() {via = [source.word]}\n"
     "%y = penalize_repeats(%h5, %n) {to = [cross.left], via = [cross.right], ngram = -1}",
     "n-grams have at least one word, and 0 stands for none, not -1"},
    {"%n = row_number() {via = [source.word]}\n"
     "%y = penalize_repeats(%h5, %n) {to = [cross.left], via = [cross.right], forbidden = [1, -2]}",
     "a forbidden sequence has the id -2"},
    {"%n = row_number() {via = [source.word]}\n"
     "%y = penalize_repeats(%h5, %n) {to = [cross.left], via = [cross.right], forbidden = "
     "[1, -1, -1]}",
     "a forbidden sequence has no ids"},
    {"%n = row_number() {via = [source.word]}\n"
     "%y = penalize_repeats(%h5, %n) {to = [cross.left], via = [cross.right], forbidden = "
     "[1, -1, 2]}",
     "the last forbidden sequence has no -1 behind it"},
    {"%y = row_number() {via = [source.word], unmapped = -2}",
     "the number of unmapped rows must be from -1 to 16777216, not -2"},
    {"%y = penalize_repeats(%h5, %h1) {to = [cross.left], via = [cross.left, hyp.parent]}",
     "`via` must be a map from rows of 'cross'"},
    {"%n = row_number() {via = [source.word]}\n"
     "%y = segment_penalize_repeats(%h5, %n) {row = [cross.left], listed = [cross.right, "
     "source.word], to = [cross.left], via = [cross.right]}",
     "its scores must be one number for each row of 'cross', not hyp f32[5]"},
    {"%n = row_number() {via = [source.word]}\n"
     "%c1 = slice(%c) {begin = 0, end = 1}\n%y = segment_penalize_repeats(%c1, %n) {row = "
     "[cross.left], listed = [cross.right], "
     "to = [cross.left], via = [cross.right]}",
     "`listed` leads to 'source', which is no vocabulary"},
    {"%n = row_number() {via = [source.word]}\n"
     "%c1 = slice(%c) {begin = 0, end = 1}\n%y = segment_penalize_repeats(%c1, %n) {row = "
     "[cross.right], listed = [cross.right, "
     "source.word], to = [cross.left], via = [cross.right]}",
     "`row` must be a map to rows of 'hyp'"},
    {"%y = select_elements(%h4) {row = [cross.left], element = [cross.right, source.word]}",
     "'vocab', where its path leads, has no entry for each element of hyp f32[4]"},
    {"%y = select_elements(%h5) {row = [cross.left], element = [cross.right]}",
     "'source', where its path leads, has no entry"},
    {"%y = select_elements(%h5) {row = [cross.right], element = [cross.right, source.word]}",
     "its path leads to rows of 'source', but the operand is hyp f32[5]"},
    {"%y = select_elements(%h5) {row = [cross.left], element = [source.word]}",
     "its paths start at rows of 'cross' and 'source', not at the same"},
    {"%y, %ids = segment_k_best(%c) {k = 1, to = [cross.left], words = [cross.right]}",
     "its operand must be one number for each row of 'cross'"},
    {"%y, %ids = segment_k_best(%h1) {k = 1, to = [cross.left], words = [cross.right]}",
     "its operand must be one number for each row of 'cross'"},
    {"%n = select_rows(%h1) {via = [cross.left]}\n"
     "%y, %ids = segment_k_best(%n) {k = 0, to = [cross.left], words = [cross.right]}",
     "it cannot take the 0 best"},
    {"%n = select_rows(%h1) {via = [cross.left]}\n"
     "%y, %ids = segment_k_best(%n) {k = 1, to = [cross.right], words = [cross.right]}",
     "rows are gathered along one map"},
    {"%y, %ids = shortlist_k_best(%h, %m) {k = 1, to = [cross.left], words = [cross.right, "
     "source.word]}",
     "'vocab', where its path leads, has no entry for each element of hyp f32[3]"},
    {"%y = sampled_matmul(%h, %m) {to = [cross.left], words = [cross.right, source.word]}",
     "'vocab', where its path leads, has no entry for each element of hyp f32[3]"},
    {"%y, %ids = ensemble_k_best(%h, %m) {k = 4, weights = [1]}",
     "it cannot take the 4 best of hyp f32[3]"},
    {"%y, %ids = ensemble_k_best(%h, %m) {k = 1, weights = []}",
     "it has no members; give a weight for each"},
    {"%y, %ids = ensemble_k_best(%h, %m) {k = 1, weights = [-1]}",
     "weights must be finite and not negative, not -1"},
    {"%y, %ids = ensemble_k_best(%h, %m) {k = 1, weights = [inf]}",
     "weights must be finite and not negative, not inf"},
    {"%y, %ids = ensemble_k_best(%h, %m) {k = 1, weights = [1], biased = [0, 1]}",
     "biased has 2 entries for 1 weights"},
    {"%y, %ids = ensemble_k_best(%h, %m) {k = 1, weights = [1], transposed = [2]}",
     "transposed has 2, not 0 or 1"},
    {"%y, %ids = ensemble_k_best(%h, %m) {k = 1, weights = [1, 1]}",
     "its members have 4 operands, but there are 2"},
    {"%y, %ids = ensemble_k_best(%h, %m, %h, %m) {k = 1, weights = [1], biased = [1]}",
     "its members have 3 operands, but there are 4"},
    {"%y, %ids = ensemble_k_best(%h, %m, %h, %e) {k = 1, weights = [1, 1], transposed = [0, 1]}",
     "one member gives f32[3] and another f32[5]"},
    {"%y = recurrent_layer(%x, %m, %m, %v, %v) {cell = \"rnn\", over = fwd}",
     "its cell must be 'gru' or 'lstm', not 'rnn'"},
    {"%y = recurrent_layer(%x, %m, %m, %v, %v) {cell = \"gru\", over = source}",
     "it runs over a scan, but 'source' is a source domain"},
    {"%y = recurrent_layer(%h, %m, %m, %v, %v) {cell = \"gru\", over = fwd}",
     "'fwd' runs over rows of 'source', but the input is hyp f32[2]"},
    {"%y = recurrent_layer(%x, %m, %e, %v, %v) {cell = \"gru\", over = fwd}",
     "operand 2 must be a matrix without rows, not vocab f32[2]"},
    {"%y = recurrent_layer(%x, %m, %m, %v, %v) {cell = \"gru\", over = fwd}",
     "operand 2, f32[2, 3], must have 6 columns, 3 gates of the state's 2"},
    {"%u = param() {name = \"u\", dims = [1, 3]}\n%w = param() {name = \"w\", dims = [3, 3]}\n"
     "%y = recurrent_layer(%x, %w, %u, %v, %v) {cell = \"gru\", over = fwd}",
     "operand 1 must be f32[2, 3], for the input source f32[2] and the state's f32[1, 3], not "
     "f32[3, "
     "3]"},
    {"%u = param() {name = \"u\", dims = [1, 3]}\n"
     "%y = recurrent_layer(%x, %m, %u, %v, %v) {cell = \"gru\", over = fwd}",
     "operand 3 must be f32[3] without rows, not f32[2]"},
    {"%y = pointwise(%h4) {expression = \"add(x0, x1)\"}",
     "its expression is for 2 operands, but there are 1"},
    {"%y = pointwise(%h4) {expression = \"tan(x0)\"}", "'tan' is no elementwise op"},
    {"%y = pointwise(%h4, %x4) {expression = \"add(x0, x1)\"}", "range over different rows"},
    {"%y, %a = add_layer_norm(%h4, %h, %v4) {epsilon = 1}", "dimensions differ"},
    {"%y, %a = add_rms_norm(%h4, %h4, %v) {epsilon = 1}", "must be"},
    {"%y = add_sinusoid(%h5)", "must be even and at least 4, not 5"},
    {"%y = add_sinusoid(%c4)", "rows of a pairs domain have no position"},
    {"%y = linear(%h, %e) {expression = \"tanh(x0)\"}", "inner dimensions differ"},
    {"%y, %q = linear(%h, %m) {expression = \"tanh(x0)\", quantized = [1]}",
     "it has no result 1 to quantize, only 1"},
    {"%y, %q = linear(%h, %m) {expression = \"tanh(x0)\", quantized = [-1]}",
     "it has no result -1 to quantize, only 1"},
    {"%y, %q = linear(%h, %m) {expression = \"tanh(x0)\", quantized = [0], largest = 128}",
     "integers of qint8 go up to 127, not 128"},
    {"%y = leading_rows(%e) {count = 6}", "there are no 6 leading rows of 5"},
    {"%y = leading_rows(%h) {count = 1}",
     "operand 0 must have a row per vocabulary entry, not hyp f32[2]"},
    {"%y = leading_rows(%e, %e) {count = 1}", "its ranks must be vocab i32[], not vocab f32[2]"},
    {"%y = lookup_matmul(%e, %m, %v) {via = [hyp.word]}",
     "its table must have rows of the product hyp f32[3], not be f32[2]"},
    {"%y, %a = dot_attention(%h4, %x4, %x4) {left = [cross.left], right = [cross.right], heads = "
     "3}",
     "cannot be cut into 3 heads"},
    {"%y, %a = dot_attention(%h4, %x4, %x4, %c) {left = [cross.left], right = [cross.right], heads "
     "= 4}",
     "its bias must be cross f32[4], a number for each head of a pair, not cross f32[2]"},
    {"%y, %a = dot_attention(%h4, %x4, %x4, %v) {left = [cross.left], right = [cross.right], heads "
     "= 2}",
     "its bias must be cross f32[2], a number for each head of a pair, not f32[2]"},
    {"%w1 = constant() {values = [1], dims = [3, 1]}\n"
     "%y, %a = additive_attention(%h, %x, %w1, %x4) {left = [cross.left], right = [cross.right]}",
     "inner dimensions differ"},
};

TEST(Infer, RefusesWhatDoesNotFitWithBothTypesAndTheLine) {
  for (const Bad& bad : kBad) {
    SCOPED_TRACE(bad.equation);
    EXPECT_THAT(error_of([&] { over_inputs(bad.equation); }),
                AllOf(HasSubstr(bad.message), HasSubstr("(test.ir:")));
  }
}

TEST(Infer, EveryOpHasAPositiveAndANegativeCase) {
  std::set<std::string> good, bad;
  // The op of a case stands behind its last line's "= ", or begins that line.
  const auto op_of = [](std::string line) {
    line = line.substr(line.rfind('\n') == std::string::npos ? 0 : line.rfind('\n') + 1);
    const std::size_t end = line.find('(');
    const std::size_t begin = line.rfind(' ', end);
    return line.substr(begin == std::string::npos ? 0 : begin + 1, end - begin - 1);
  };
  for (const Good& test : kGood) good.insert(op_of(test.equation));
  for (const Bad& test : kBad) bad.insert(op_of(test.equation));
  // Ops that share one rule, of which one stands for all.
  good.insert({"sigmoid", "tanh", "relu", "swish", "gelu", "exp", "log", "sqrt", "abs", "min"});
  bad.insert({"sigmoid", "tanh", "relu", "swish", "gelu", "exp", "log", "sqrt", "abs", "min", "max",
              "div", "log_softmax"});
  for (std::set<std::string>* cases : {&good, &bad})
    cases->insert({"sigmoid_fast", "tanh_fast", "sigmoid_table", "tanh_table", "sin", "cos",
                   "equal", "not_equal", "less_equal", "greater", "greater_equal"});
  good.insert("next");  // It has no result; the graphs of the verifier's tests contain it.
  for (const OpDef* def : all_ops().all()) {
    EXPECT_TRUE(good.contains(std::string(def->name))) << def->name;
    EXPECT_TRUE(bad.contains(std::string(def->name))) << def->name;
  }
}

}  // namespace
}  // namespace fuselage
