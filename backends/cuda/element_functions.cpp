#include "backends/cuda/element_functions.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <span>

#include "ops/arithmetic/approximate_activations.h"

namespace fuselage::cuda {
namespace {

// The definitions of ops/arithmetic/pointwise.cpp as CUDA C++. The source of an expression
// concatenates the functions of its ops.

std::string unary(std::string_view op, std::string_view body) {
  return fmt::format("static __device__ float op_{}(float a) {{ {} }}\n", op, body);
}

std::string binary(std::string_view op, std::string_view body) {
  return fmt::format("static __device__ float op_{}(float a, float b) {{ {} }}\n", op, body);
}

/// A comparison of a and b.
std::string comparison(std::string_view op, std::string_view sign) {
  return binary(op, fmt::format("return a {} b ? 1.0f : 0.0f;", sign));
}

/// A float as a hexadecimal literal, which keeps all bits.
std::string exact(float number) { return fmt::format("{:a}f", number); }

std::string list_of(std::span<const float> numbers) {
  std::string text;
  for (const float number : numbers) text += exact(number) + ", ";
  return text;
}

/// A polynomial in z by Horner's rule, as in ops/arithmetic/approximate_activations.h.
std::string polynomial(const std::array<float, 3>& c) {
  return fmt::format("(({} * z + {}) * z + {})", exact(c[0]), exact(c[1]), exact(c[2]));
}

/// A definition that several functions need, with a guard against repetition.
std::string once(std::string_view name, std::string_view text) {
  return fmt::format("#ifndef HAS_{0}\n#define HAS_{0}\n{1}#endif\n", name, text);
}

std::string sigmoid_text() {
  return once("SIGMOID", unary("sigmoid",
                               "const float e = expf(-fabsf(a)); "
                               "return (a >= 0.0f ? 1.0f : e) / (1.0f + e);"));
}

std::string tanh_fast_text() {
  const std::string limit = exact(FastTanh::kLimit);
  return once("TANH_FAST",
              unary("tanh_fast", fmt::format("a = a > {0} ? {0} : a; a = a < -{0} ? -{0} : a; "
                                             "const float z = a * a; return a * {1} / {2};",
                                             limit, polynomial(FastTanh::kNumerator),
                                             polynomial(FastTanh::kDenominator))));
}

std::string centered_sigmoid_text() {
  return once("CENTERED_SIGMOID",
              fmt::format("static __device__ const float sigmoid_slopes[] = {{{}}};\n"
                          "static __device__ const float sigmoid_offsets[] = {{{}}};\n",
                          list_of(SigmoidTable::kSlopes), list_of(SigmoidTable::kOffsets)) +
                  unary("centered_sigmoid",
                        fmt::format("if (a != a) return a; "
                                    "const float m = fabsf(a) > {0} ? {0} : fabsf(a); "
                                    "const int i = (int)rintf(m / {1}); "
                                    "return copysignf(sigmoid_slopes[i] * m + sigmoid_offsets[i], "
                                    "a);",
                                    exact(SigmoidTable::kLimit), exact(SigmoidTable::kStep))));
}

std::map<std::string_view, std::string> make_functions() {
  return {
      {"neg", unary("neg", "return -a;")},
      {"sigmoid", sigmoid_text()},
      {"tanh", unary("tanh", "return tanhf(a);")},
      {"sigmoid_fast",
       tanh_fast_text() + unary("sigmoid_fast", "return op_tanh_fast(a * 0.5f) * 0.5f + 0.5f;")},
      {"tanh_fast", tanh_fast_text()},
      {"sigmoid_table",
       centered_sigmoid_text() + unary("sigmoid_table", "return op_centered_sigmoid(a) + 0.5f;")},
      {"tanh_table",
       centered_sigmoid_text() + unary("tanh_table", "return op_centered_sigmoid(a + a) * 2.0f;")},
      {"relu", unary("relu", "return a > 0.0f ? a : 0.0f;")},
      {"swish", sigmoid_text() + unary("swish", "return a * op_sigmoid(a);")},
      {"gelu",
       unary("gelu", fmt::format("return a / 2.0f * (1.0f + erff(a / {}));", exact(1.41421356f)))},
      {"exp", unary("exp", "return expf(a);")},
      {"log", unary("log", "return logf(a);")},
      {"sqrt", unary("sqrt", "return sqrtf(a);")},
      {"abs", unary("abs", "return fabsf(a);")},
      {"add", binary("add", "return a + b;")},
      {"sub", binary("sub", "return a - b;")},
      {"mul", binary("mul", "return a * b;")},
      {"div", binary("div", "return a / b;")},
      {"max", binary("max", "return a > b ? a : b;")},
      {"min", binary("min", "return a < b ? a : b;")},
      {"sin", unary("sin", "return sinf(a);")},
      {"cos", unary("cos", "return cosf(a);")},
      {"equal", comparison("equal", "==")},
      {"not_equal", comparison("not_equal", "!=")},
      {"less", comparison("less", "<")},
      {"less_equal", comparison("less_equal", "<=")},
      {"greater", comparison("greater", ">")},
      {"greater_equal", comparison("greater_equal", ">=")},
      {"where",
       "static __device__ float op_where(float a, float b, float c) "
       "{ return a != 0.0f ? b : c; }\n"},
  };
}

}  // namespace

std::string_view element_function(std::string_view op) {
  static const std::map<std::string_view, std::string> functions = make_functions();
  const auto found = functions.find(op);
  return found == functions.end() ? std::string_view() : found->second;
}

}  // namespace fuselage::cuda
