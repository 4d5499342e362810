#include "backends/cuda/elementwise_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "backends/cuda/element_functions.h"
#include "fuselage/base/error.h"
#include "fuselage/ops/fused/chains.h"

namespace fuselage::cuda {
namespace {

using Argument = ElementwiseExpression::Argument;
using Kind = Argument::Kind;

// The structs of the header, and the code that does not depend on the expression.
constexpr const char* kPrelude = R"(
#ifndef FUSELAGE_START_EARLY
#if __CUDA_ARCH__ >= 900
#define FUSELAGE_START_EARLY() \
  asm volatile("griddepcontrol.wait;" ::: "memory"); \
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory")
#else
#define FUSELAGE_START_EARLY()
#endif
#endif
struct Rows { const int* live; int max_live; int columns; };
struct Operand {
  const float* data; long long stride; const int* index; const float* fallback; const int* first;
  int columns; int padding;
};
template <typename T> struct ResultOf { T* data; long long stride; const int* first; };
template <typename T, int kCount> struct alignas(kCount * sizeof(T)) Pack { T at[kCount]; };

static __device__ const float* row_of(const Operand& in, long long r) {
  if (in.first) r += *in.first;
  if (!in.index) return in.data + r * in.stride;
  const int index = in.index[r];
  return index >= 0 ? in.data + index * in.stride : in.fallback;
}
template <typename T> static __device__ T* row_of(const ResultOf<T>& out, long long r) {
  return out.data + (r + (out.first ? *out.first : 0)) * out.stride;
}
template <int kCount> static __device__ Pack<float, kCount> load(const float* row, long long c) {
  return row ? reinterpret_cast<const Pack<float, kCount>*>(row)[c] : Pack<float, kCount>{};
}
static_assert(sizeof(Rows) == 16 && sizeof(Operand) == 48 && sizeof(ResultOf<float>) == 24, "");
)";

// The nearest number of 16 bits, ties to even. An f16 below 2^-14 is a multiple of 2^-24, as the
// floats from 0.5 to 1 are.
constexpr const char* kRoundToBf16 = R"(
static __device__ unsigned short rounded(float x) {
  const unsigned bits = __float_as_uint(x);
  if (x != x) return (unsigned short)((bits | 0x400000u) >> 16);
  return (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
)";
constexpr const char* kRoundToF16 = R"(
static __device__ unsigned short rounded(float x) {
  const unsigned bits = __float_as_uint(x);
  const unsigned sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return (unsigned short)(sign | 0x7fffu);
  if (magnitude >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u);
  if (magnitude < 0x38800000u)
    return (unsigned short)(sign | (__float_as_uint(__uint_as_float(magnitude) + 0.5f) - 0x3f000000u));
  return (unsigned short)(sign | (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13);
}
)";

static_assert(sizeof(ElementRows) == 16 && sizeof(ElementOperand) == 48 &&
              sizeof(ElementResult) == 24 && sizeof(RoundedElementResult) == 24);

std::string text_of(float number) {
  check(std::isfinite(number), "elementwise_source: a number that is not finite");
  return fmt::format("({:a}f)", number);
}

/// The source of an argument. Numbers are rounded to float, as for single ops.
std::string show(const Argument& argument) {
  switch (argument.kind) {
    case Kind::number:
      return text_of(static_cast<float>(argument.number));
    case Kind::operand:
      return fmt::format("x{}", argument.index);
    case Kind::step:
      return fmt::format("t{}", argument.index);
  }
  return "";
}

/// The numbers of the operands that the expression reads.
std::set<std::uint32_t> operands_read(const ElementwiseExpression& expression) {
  std::set<std::uint32_t> read;
  for (const ElementwiseExpression::Step& step : expression.steps)
    for (const Argument& argument : step.arguments)
      if (argument.kind == Kind::operand) read.insert(argument.index);
  return read;
}

/// Writes the source of an expression.
class Writer {
 public:
  Writer(const ElementwiseExpression& expression, const std::vector<bool>& scalar,
         const std::vector<ElementForm>& forms)
      : expression_(expression), scalar_(scalar), read_(operands_read(expression)) {
    for (std::size_t i = 0; i < expression.results.size(); ++i) {
      const ElementForm form = i < forms.size() ? forms[i] : ElementForm{};
      if (form.floats) floats_.push_back(i);
      if (form.rounded) rounded_.push_back(i);
      is_bf16_ = is_bf16_ && form.is_bf16;
    }
  }

  std::string write() {
    text_ = kPrelude;
    functions();
    if (!rounded_.empty()) text_ += is_bf16_ ? kRoundToBf16 : kRoundToF16;
    text_ += fmt::format("struct Parameters {{ Rows rows; Operand operands[{}];", scalar_.size());
    if (!floats_.empty()) text_ += fmt::format(" ResultOf<float> results[{}];", floats_.size());
    if (!rounded_.empty())
      text_ += fmt::format(" ResultOf<unsigned short> rounded[{}];", rounded_.size());
    text_ += " };\n";
    compute();
    run();
    for (const auto& [name, pack] : {std::pair{kScalarKernel, 1}, {kFloat4Kernel, 4}})
      text_ += fmt::format("extern \"C\" __global__ void {}(Parameters p) {{\n  run<{}>(p);\n}}\n",
                           name, pack);
    return std::move(text_);
  }

 private:
  void functions() {
    std::set<std::string_view> written;
    for (const ElementwiseExpression::Step& step : expression_.steps)
      if (written.insert(step.op->name).second) text_ += element_function(step.op->name);
  }

  /// Function compute(x…, &y…): the expression for one element.
  void compute() {
    std::string parameters;
    for (const std::uint32_t i : read_) parameters += fmt::format("float x{}, ", i);
    for (std::size_t i = 0; i < expression_.results.size(); ++i)
      parameters += fmt::format("{}float& y{}", i > 0 ? ", " : "", i);
    text_ += fmt::format("static __device__ void compute({}) {{\n", parameters);
    for (std::size_t i = 0; i < expression_.steps.size(); ++i) {
      std::string arguments;
      for (const Argument& argument : expression_.steps[i].arguments)
        arguments += (arguments.empty() ? "" : ", ") + show(argument);
      text_ += fmt::format("  const float t{} = op_{}({});\n", i, expression_.steps[i].op->name,
                           arguments);
    }
    for (std::size_t i = 0; i < expression_.results.size(); ++i)
      text_ += fmt::format("  y{} = {};\n", i, show(expression_.results[i]));
    text_ += "}\n";
  }

  /// Function run<kCount>(p): the loop over all elements, in packs of kCount.
  void run() {
    text_ += R"(template <int kCount> static __device__ void run(const Parameters& p) {
  FUSELAGE_START_EARLY();
  const long long live = *p.rows.live;
  const long long rows = (long long)gridDim.x * blockDim.y;
  const long long columns = (long long)gridDim.y * blockDim.x;
  for (long long r = (long long)blockIdx.x * blockDim.y + threadIdx.y; r < live; r += rows) {
)";
    for (const std::uint32_t i : read_)
      text_ += fmt::format("    const float* row{0} = row_of(p.operands[{0}], r);\n", i);
    for (const std::uint32_t i : read_)
      if (scalar_[i]) text_ += fmt::format("    const float s{0} = row{0} ? *row{0} : 0.0f;\n", i);
    for (std::size_t i = 0; i < floats_.size(); ++i)
      text_ += fmt::format("    float* to{0} = row_of(p.results[{0}], r);\n", i);
    for (std::size_t i = 0; i < rounded_.size(); ++i)
      text_ += fmt::format("    unsigned short* rounded{0} = row_of(p.rounded[{0}], r);\n", i);
    text_ +=
        R"(    for (long long c = (long long)blockIdx.y * blockDim.x + threadIdx.x; c < p.rows.columns;
         c += columns) {
)";
    elements();
    text_ += "    }\n  }\n}\n";
  }

  /// The body of the loop: loads one pack of each operand, computes, and stores one of each result.
  void elements() {
    for (const std::uint32_t i : read_)
      if (!scalar_[i])
        text_ +=
            fmt::format("      const Pack<float, kCount> v{0} = load<kCount>(row{0}, c);\n", i);
    for (std::size_t i = 0; i < expression_.results.size(); ++i)
      text_ += fmt::format("      Pack<float, kCount> w{};\n", i);
    std::string arguments;
    for (const std::uint32_t i : read_)
      arguments += scalar_[i] ? fmt::format("s{}, ", i) : fmt::format("v{}.at[i], ", i);
    for (std::size_t i = 0; i < expression_.results.size(); ++i)
      arguments += fmt::format("{}w{}.at[i]", i > 0 ? ", " : "", i);
    text_ += fmt::format("      for (int i = 0; i < kCount; ++i) compute({});\n", arguments);
    for (std::size_t i = 0; i < floats_.size(); ++i)
      text_ += fmt::format("      reinterpret_cast<Pack<float, kCount>*>(to{})[c] = w{};\n", i,
                           floats_[i]);
    for (std::size_t i = 0; i < rounded_.size(); ++i)
      text_ += fmt::format(
          "      Pack<unsigned short, kCount> h{0};\n"
          "      for (int i = 0; i < kCount; ++i) h{0}.at[i] = rounded(w{1}.at[i]);\n"
          "      reinterpret_cast<Pack<unsigned short, kCount>*>(rounded{0})[c] = h{0};\n",
          i, rounded_[i]);
  }

  const ElementwiseExpression& expression_;
  const std::vector<bool>& scalar_;
  std::set<std::uint32_t> read_;
  std::vector<std::size_t> floats_, rounded_;  ///< results of the expression that are stored so
  bool is_bf16_ = true;
  std::string text_;
};

}  // namespace

ElementwiseExpression elementwise_expression(const Node& node) {
  if (node.has<op::Expression>()) return parse_expression(node.as<op::Expression>().expression);
  ElementwiseExpression expression{.steps = {{.op = node.op, .arguments = {}, .attrs = node.attrs}},
                                   .results = {{.kind = Kind::step}}};
  for (std::uint32_t i = 0; i < node.operands.size(); ++i)
    expression.steps[0].arguments.push_back({.index = i});
  return expression;
}

std::string refuse_elementwise_source(const ElementwiseExpression& expression) {
  for (const ElementwiseExpression::Step& step : expression.steps) {
    if (element_function(step.op->name).empty())
      return fmt::format("op '{}' has no CUDA function", step.op->name);
    for (const Argument& argument : step.arguments)
      if (argument.kind == Kind::number && !std::isfinite(static_cast<float>(argument.number)))
        return fmt::format("{} is not a finite f32", argument.number);
  }
  return "";
}

std::string elementwise_source(const ElementwiseExpression& expression,
                               const std::vector<bool>& scalar,
                               const std::vector<ElementForm>& forms) {
  check(refuse_elementwise_source(expression).empty(),
        "elementwise_source: an expression without source");
  check(scalar.size() >= operand_count(expression) && !scalar.empty(),
        "elementwise_source: an operand is missing");
  check(scalar.size() <= kMaxElementOperands && expression.results.size() <= kMaxElementResults,
        "elementwise_source: too many operands or results");
  return Writer(expression, scalar, forms).write();
}

}  // namespace fuselage::cuda
