#pragma once

#include <map>
#include <string>

namespace fuselage {

/// For each op a small valid graph over kDomains in which it stands, with attributes that differ
/// from their defaults where it has any.
inline const std::map<std::string, std::string>& op_examples() {
  static const std::map<std::string, std::string> examples = [] {
    std::map<std::string, std::string> made{
        {"param",
         R"(%w = param() {name = "a \"quoted\" \\ name", domain = vocab, dims = [3], dtype = i8}
return w = %w
)"},
        {"import", R"(%x = import() {name = "x", domain = self, dims = [2, 3], dtype = qint8}
return x = %x
)"},
        {"input", R"(input frames : source f32[2, 3]
%f = input() {name = "frames"}
return f = %f
)"},
        {"constant",
         R"(%c = constant() {values = [0.1, -2.5e-07, inf, -inf, nan, -0], dims = [2, 3]}
return c = %c
)"},
        {"state", R"(%i = import() {name = "i", domain = sentence, dims = [2]}
%s = state(%i) {domain = parent}
%h = select_rows(%s) {via = [hyp.parent]}
next(%s, %h)
return s = %s
)"},
        {"next", R"(%i = constant() {values = [0], dims = [2]}
%s = state(%i) {domain = bwd}
%t = tanh(%s)
next(%s, %t)
)"},
        {"collect", R"(%x = import() {name = "x", domain = fwd, dims = [2]}
%c = collect(%x)
return c = %c
)"},
        {"history", R"(%x = import() {name = "x", domain = hyp, dims = [2]}
%c = history(%x) {domain = prefix}
return c = %c
)"},
        {"recurrent_layer", R"(%x = import() {name = "x", domain = source, dims = [2]}
%w = param() {name = "w", dims = [2, 12]}
%u = param() {name = "u", dims = [3, 12]}
%b = param() {name = "b", dims = [12]}
%h = recurrent_layer(%x, %w, %u, %b, %b) {cell = "lstm", over = bwd}
return h = %h
)"},
        {"add", R"(%x = import() {name = "x", domain = hyp, dims = [2]}
%b = param() {name = "b", dims = [2]}
%y = add(%x, %b)
return y = %y
)"},
        {"sub", R"(%x = import() {name = "x", domain = hyp, dims = [2]}
%b = param() {name = "b", dims = [2]}
%y = sub(%b, %x)
return y = %y
)"},
        {"mul", R"(%x = import() {name = "x", domain = hyp, dims = [2]}
%y = mul(%x, %x)
return y = %y
)"},
        {"div", R"(%x = import() {name = "x", domain = hyp, dims = [2]}
%b = constant() {values = [3]}
%y = div(%x, %b)
return y = %y
)"},
        {"max", R"(%x = import() {name = "x", domain = hyp, dims = [2]}
%b = constant() {values = [3]}
%y = max(%b, %x)
return y = %y
)"},
        {"min", R"(%x = import() {name = "x", domain = hyp, dims = [2]}
%b = constant() {values = [3]}
%y = min(%b, %x)
return y = %y
)"},
        {"matmul", R"(%x = import() {name = "x", domain = hyp, dims = [2]}
%e = param() {name = "E", domain = vocab, dims = [2]}
%y = matmul(%x, %e) {transposed = true}
return y = %y
)"},
        {"layer_norm", R"(%x = import() {name = "x", domain = hyp, dims = [2]}
%g = param() {name = "g", dims = [1, 2]}
%y = layer_norm(%x, %g) {epsilon = 1e-05}
%z = layer_norm(%y, %g, %g) {epsilon = 0.001}
return z = %z
)"},
        {"rms_norm", R"(%x = import() {name = "x", domain = hyp, dims = [2]}
%g = param() {name = "g", dims = [2]}
%y = rms_norm(%x, %g) {epsilon = 1e-06}
return y = %y
)"},
        {"concat", R"(%x = import() {name = "x", domain = hyp, dims = [2, 3]}
%z = import() {name = "z", domain = hyp, dims = [2, 1]}
%y = concat(%x, %z, %x)
return y = %y
)"},
        {"slice", R"(%x = import() {name = "x", domain = hyp, dims = [2, 5]}
%y = slice(%x) {begin = 1, end = 4}
return y = %y
)"},
        {"where", R"(%x = import() {name = "x", domain = hyp, dims = [2]}
%b = constant() {values = [3]}
%y = where(%x, %b, %x)
return y = %y
)"},
        {"reshape", R"(%x = import() {name = "x", domain = hyp, dims = [2, 3]}
%y = reshape(%x) {dims = [6]}
return y = %y
)"},
        {"batch_matmul", R"(%a = import() {name = "a", domain = hyp, dims = [4, 2, 3]}
%b = param() {name = "b", dims = [4, 5, 3]}
%y = batch_matmul(%a, %b) {transposed = true}
return y = %y
)"},
        {"expand", R"(%x = import() {name = "x", domain = hyp, dims = [3, 1]}
%y = expand(%x) {dims = [2, 3, 4]}
return y = %y
)"},
        {"permute", R"(%x = import() {name = "x", domain = hyp, dims = [2, 3, 4]}
%y = permute(%x) {order = [2, 0, 1]}
return y = %y
)"},
        {"slice_leading", R"(%w = param() {name = "w", dims = [5, 2]}
%y = slice_leading(%w) {begin = 1, end = 4}
return y = %y
)"},
        {"select_rows", R"(%x = import() {name = "x", domain = sentence, dims = [2]}
%y = select_rows(%x) {via = [cross.left, hyp.parent, parent.sentence]}
%e = param() {name = "E", domain = vocab, dims = [2]}
%d = param() {name = "none", dims = [2]}
%z = select_rows(%e, %d) {via = [hyp.word]}
return y = %y, z = %z
)"},
        {"segment_softmax", R"(%x = import() {name = "x", domain = cross, dims = [2]}
%y = segment_softmax(%x) {to = [cross.left]}
return y = %y
)"},
        {"segment_log_softmax", R"(%x = import() {name = "x", domain = cross, dims = [2]}
%y = segment_log_softmax(%x) {to = [cross.left]}
return y = %y
)"},
        {"select_elements", R"(%x = import() {name = "x", domain = hyp, dims = [5]}
%y = select_elements(%x) {row = [cross.left], element = [cross.right, source.word]}
return y = %y
)"},
        {"segment_k_best", R"(%x = import() {name = "x", domain = cross, dims = [1]}
%best, %words = segment_k_best(%x) {k = 3, to = [cross.left], words = [cross.right, source.word]}
return best = %best, words = %words
)"},
        {"shortlist_k_best", R"(%x = import() {name = "x", domain = hyp, dims = [2]}
%w = param() {name = "w", dims = [5, 2]}
%b = param() {name = "b", dims = [5]}
%best, %words = shortlist_k_best(%x, %w, %b) {k = 3, to = [cross.left], words = [cross.right, source.word], transposed = true, log_softmax = false}
return best = %best, words = %words
)"},
        {"sampled_matmul", R"(%x = import() {name = "x", domain = hyp, dims = [2]}
%w = param() {name = "w", dims = [5, 2]}
%b = param() {name = "b", dims = [5]}
%y = sampled_matmul(%x, %w, %b) {to = [cross.left], words = [cross.right, source.word], transposed = true}
return y = %y
)"},
        {"mix_rows", R"(%w = import() {name = "w", domain = cross, dims = [2]}
%x = import() {name = "x", domain = source, dims = [6]}
%y = mix_rows(%w, %x) {to = [cross.left], via = [cross.right]}
return y = %y
)"},
        {"mean_rows", R"(%x = import() {name = "x", domain = source, dims = [6]}
%y = mean_rows(%x) {to = [source.sentence]}
return y = %y
)"},
        {"head_dot", R"(%a = import() {name = "a", domain = cross, dims = [6]}
%b = import() {name = "b", domain = cross, dims = [6]}
%y = head_dot(%a, %b) {heads = 3, scale = 0.7071067811865476}
return y = %y
)"},
        {"add_layer_norm", R"(%x = import() {name = "x", domain = hyp, dims = [2]}
%g = param() {name = "g", dims = [2]}
%y, %s = add_layer_norm(%x, %x, %g, %g) {epsilon = 1e-06}
return y = %y, s = %s
)"},
        {"add_sinusoid", R"(%x = import() {name = "x", domain = hyp, dims = [4]}
%y, %r = add_sinusoid(%x) {quantized = [0], to = bf16}
return y = %y, r = %r
)"},
        {"add_rms_norm", R"(%x = import() {name = "x", domain = hyp, dims = [2]}
%g = param() {name = "g", dims = [2]}
%y, %s = add_rms_norm(%x, %x, %g) {epsilon = 1e-06}
return y = %y, s = %s
)"},
        {"dot_attention", R"(%q = import() {name = "q", domain = hyp, dims = [4]}
%k = import() {name = "k", domain = source, dims = [4]}
%x = import() {name = "x", domain = source, dims = [6]}
%s = import() {name = "s", domain = cross, dims = [2]}
%a, %y = dot_attention(%q, %k, %x) {left = [cross.left], right = [cross.right], heads = 2, scale = 0.5}
%c, %u = dot_attention(%q, %k, %x, %s) {left = [cross.left], right = [cross.right], heads = 2}
%q16 = quantize(%q) {to = qint16, largest = 8191, vectors = 2}
%k8 = quantize(%k) {vectors = 2}
%x8 = quantize(%x) {vectors = 2}
%b, %z = dot_attention(%q16, %k8, %x8) {left = [cross.left], right = [cross.right], heads = 2, scale = 0.5}
return a = %a, y = %y, b = %b, z = %z, c = %c, u = %u
)"},
        {"additive_attention", R"(%q = import() {name = "q", domain = hyp, dims = [3]}
%k = import() {name = "k", domain = source, dims = [3]}
%v = param() {name = "v", dims = [3, 1]}
%x = import() {name = "x", domain = source, dims = [6]}
%a, %y = additive_attention(%q, %k, %v, %x) {left = [cross.left], right = [cross.right]}
return a = %a, y = %y
)"},
        {"leading_rows", R"(%e = param() {name = "e", domain = vocab, dims = [2]}
%r = param() {name = "r", domain = vocab, dims = [], dtype = i32}
%f = leading_rows(%e, %r) {count = 3}
return f = %f
)"},
        {"lookup_matmul", R"(%e = param() {name = "e", domain = vocab, dims = [2]}
%w = param() {name = "w", dims = [3, 2]}
%t = param() {name = "t", dims = [4, 3]}
%r = param() {name = "r", domain = vocab, dims = [], dtype = i32}
%y = lookup_matmul(%e, %w, %t, %r) {transposed = true, via = [hyp.word]}
return y = %y
)"},
        {"pointwise", R"ir(%x = import() {name = "x", domain = hyp, dims = [2]}
%b = param() {name = "b", dims = [2]}
%y, %z = pointwise(%x, %b) {expression = "t0 = add(x0, x1); sub(-0.5, tanh(t0)); t0"}
return y = %y, z = %z
)ir"},
        {"linear", R"ir(%x = import() {name = "x", domain = hyp, dims = [2]}
%w = param() {name = "w", dims = [3, 2]}
%b = param() {name = "b", dims = [3]}
%y, %q = linear(%x, %w, %b) {transposed = true, expression = "relu(add(x0, x1))", quantized = [0], largest = 64, logarithmic = true}
return y = %y, q = %q
)ir"},
        {"position", "%p = position() {domain = hyp}\nreturn p = %p\n"},
        {"sinusoid", R"(%p = position() {domain = source}
%y = sinusoid(%p) {dim = 8}
return y = %y
)"},
        {"rotary", R"(%x = import() {name = "x", domain = hyp, dims = [8]}
%c = import() {name = "c", domain = hyp, dims = [2]}
%y = rotary(%x, %c, %c) {heads = 2}
return y = %y
)"},
        {"row_number", "%n = row_number() {via = [cross.right, source.word]}\nreturn n = %n\n"},
        {"penalize_repeats", R"(%x = import() {name = "x", domain = hyp, dims = [9]}
%n = row_number() {via = [source.word]}
%y = penalize_repeats(%x, %n) {to = [cross.left], via = [cross.right], penalty = 1.5, ngram = 2}
return y = %y
)"},
        {"segment_penalize_repeats", R"(%x = import() {name = "x", domain = cross, dims = [1]}
%n = row_number() {via = [source.word]}
%y = segment_penalize_repeats(%x, %n) {row = [cross.left], listed = [cross.right, source.word], to = [cross.left], via = [cross.right], penalty = 1.5, ngram = 2}
return y = %y
)"},
        {"k_best", R"(%x = import() {name = "x", domain = hyp, dims = [9]}
%best, %words = k_best(%x) {k = 4}
return best = %best, words = %words
)"},
        {"uniform", R"(%s = import() {name = "s", domain = hyp, dims = [4]}
%p = position() {domain = hyp}
%u = uniform(%s, %p)
return u = %u
)"},
        {"sample", R"(%x = import() {name = "x", domain = hyp, dims = [9]}
%u = import() {name = "u", domain = hyp, dims = [1]}
%best, %words = k_best(%x) {k = 4}
%s, %w = sample(%best, %u, %words) {temperature = 0.5, top_k = 3, top_p = 0.9, epsilon = 0.01, excluded = [1, 3]}
%t, %v = sample(%x, %u)
return s = %s, w = %w, t = %t, v = %v
)"},
        {"segment_sample", R"(%x = import() {name = "x", domain = cross, dims = [1]}
%u = import() {name = "u", domain = hyp, dims = [1]}
%s, %w = segment_sample(%x, %u) {to = [cross.left], words = [cross.right, source.word], top_p = 0.5}
return s = %s, w = %w
)"},
        {"log_sum_exp", R"(%x = import() {name = "x", domain = hyp, dims = [9]}
%y = log_sum_exp(%x)
return y = %y
)"},
        {"linear_k_best", R"(%x = import() {name = "x", domain = hyp, dims = [2]}
%w = param() {name = "w", dims = [3, 2]}
%b = param() {name = "b", dims = [3]}
%best, %words = linear_k_best(%x, %w, %b) {k = 2, transposed = true, log_softmax = false}
return best = %best, words = %words
)"},
        {"quantize", R"(%x = import() {name = "x", domain = hyp, dims = [2]}
%s = param() {name = "s", dims = []}
%y = quantize(%x, %s) {to = qint16, largest = 8191}
%z = quantize(%x) {to = qint16, largest = 32767, largest_sum = 262143}
%l = quantize(%x) {largest = 64, logarithmic = true}
return y = %y, z = %z, l = %l
)"},
        {"cast", R"(%x = param() {name = "x", dims = [3, 2]}
%y = cast(%x)
%z = cast(%y) {to = f32}
return y = %y, z = %z
)"},
        {"dequantize", R"(%x = param() {name = "x", dims = [3, 2], dtype = qint8}
%y = dequantize(%x)
return y = %y
)"},
        {"transpose", R"(%x = param() {name = "x", dims = [3, 2]}
%y = transpose(%x)
return y = %y
)"},
        {"ensemble_k_best", R"(%x = import() {name = "x", domain = hyp, dims = [2]}
%w = param() {name = "w", dims = [3, 2]}
%b = param() {name = "b", dims = [3]}
%y = import() {name = "y", domain = hyp, dims = [1]}
%v = param() {name = "v", dims = [1, 3]}
%best, %words = ensemble_k_best(%x, %w, %b, %y, %v) {k = 2, weights = [0.25, 1], biased = [1, 0], transposed = [1, 0]}
return best = %best, words = %words
)"},
    };
    for (const char* name :
         {"neg",           "sigmoid",    "tanh",       "relu",        "swish",        "gelu",
          "exp",           "log",        "sqrt",       "abs",         "sigmoid_fast", "tanh_fast",
          "sigmoid_table", "tanh_table", "softmax",    "log_softmax", "sin",          "cos",
          "reduce_sum",    "reduce_max", "reduce_mean"})
      made[name] =
          "%x = import() {name = \"x\", domain = hyp, dims = [2]}\n%y = " + std::string(name) +
          "(%x)\nreturn y = %y\n";
    for (const char* name : {"sum_rows", "max_rows", "segment_log_sum_exp"})
      made[name] =
          "%x = import() {name = \"x\", domain = cross, dims = [2, 3]}\n%y = " + std::string(name) +
          "(%x) {to = [cross.left]}\nreturn y = %y\n";
    for (const char* name :
         {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"})
      made[name] =
          "%x = import() {name = \"x\", domain = hyp, dims = [2]}\n"
          "%b = constant() {values = [3]}\n%y = " +
          std::string(name) + "(%b, %x)\nreturn y = %y\n";
    return made;
  }();
  return examples;
}

}  // namespace fuselage
