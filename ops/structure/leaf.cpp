// Ops without operands: parameters, inputs, constants, results of an earlier program.

#include "fuselage/ops/structure/leaf.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "fuselage/ops/evaluate.h"
#include "fuselage/ops/infer.h"

namespace fuselage {
namespace {

/// Attributes that give the type of an external value.
struct ExternalType {
  DomainId domain;
  Dims dims;
  DType dtype = DType::f32;
  static constexpr auto attributes() {
    return std::tuple(defaulted("domain", &ExternalType::domain),
                      required("dims", &ExternalType::dims),
                      defaulted("dtype", &ExternalType::dtype));
  }
};

std::vector<Type> infer_external(const InferContext& in) {
  const auto type = in.as<ExternalType>();
  expect_dims(in, type.dims);
  expect_even_if_half(in, {type.dtype, type.domain, type.dims});
  return {{type.dtype, type.domain, type.dims}};
}

std::vector<Type> infer_param(const InferContext& in) {
  std::vector<Type> types = infer_external(in);
  if (in.graph().domain(types[0].domain).binding != BindingTime::load)
    in.fail(fmt::format("a parameter has no rows or one per vocabulary entry, not {}",
                        in.show(types[0])));
  return types;
}

std::size_t input_index(const Graph& graph, const Node& node) {
  const std::string name = node.as<op::Input>().name;
  const auto index = graph.find_input(name);
  if (index) return *index;
  std::vector<std::string_view> names;
  for (const Input& input : graph.inputs()) names.push_back(input.name);
  throw Error(fmt::format("{}: input {} is not declared{}", graph.describe(node), in_quotes(name),
                          did_you_mean(name, names)));
}

std::vector<Type> infer_input(const InferContext& in) {
  return {in.graph().inputs()[input_index(in.graph(), in.node())].type};
}

template <typename T>
void evaluate_input(EvalContext<T>& context) {
  const auto numbers = context.rows.input(input_index(context.graph, context.node));
  std::copy(numbers.begin(), numbers.end(), context.results[0].data.begin());
}

std::vector<Type> infer_constant(const InferContext& in) {
  const auto [values, dims] = in.as<op::Constant>();
  expect_dims(in, dims);
  const Type type{DType::f32, in.none(), dims};
  if (row_size(type) != static_cast<std::int64_t>(values.size()) && values.size() != 1)
    in.fail(fmt::format("{} needs {} values or one for all, not {}", in.show(type), row_size(type),
                        values.size()));
  return {type};
}

template <typename T>
void evaluate_constant(EvalContext<T>& context) {
  const auto& values = context.node.template as<op::Constant>().values;
  auto& data = context.results[0].data;
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<T>(static_cast<float>(values.size() == 1 ? values[0] : values[i]));
}

}  // namespace

std::span<const OpDef> leaf_ops() {
  static const OpDef ops[] = {
      define<op::Param>({.summary = "The stored weight `name`.",
                         .traits = Trait::external,
                         .infer = infer_param}),
      define<op::Import>({.summary = "The result `name` of a program with an earlier binding time.",
                          .traits = Trait::external,
                          .infer = infer_external}),
      define<op::Input>({.summary = "The declared input `name`: numbers from the caller.",
                         .infer = infer_input,
                         .evaluate_f32 = evaluate_input<float>,
                         .evaluate_f64 = evaluate_input<double>}),
      define<op::Constant>(
          {.summary = "Numbers written in the graph; one number fills all dimensions.",
           .infer = infer_constant,
           .evaluate_f32 = evaluate_constant<float>,
           .evaluate_f64 = evaluate_constant<double>}),
  };
  return ops;
}

}  // namespace fuselage
