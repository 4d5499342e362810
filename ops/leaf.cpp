// Values that come from outside the graph: parameters, constants, results of an earlier program.

#include "ops/evaluate.h"
#include "ops/families.h"
#include "ops/infer.h"

namespace fuselage {
namespace {

std::vector<Type> infer_external(const InferContext& in) {
  expect_dims(in, in.attr<Dims>("dims"));
  expect_weights_if_half(in, in.attr<DType>("dtype"), in.attr<DomainId>("domain"));
  return {{in.attr<DType>("dtype"), in.attr<DomainId>("domain"), in.attr<Dims>("dims")}};
}

std::vector<Type> infer_param(const InferContext& in) {
  std::vector<Type> types = infer_external(in);
  if (in.graph().domain(types[0].domain).binding != BindingTime::load)
    in.fail(fmt::format("a parameter has no rows or one per vocabulary entry, not {}",
                        in.show(types[0])));
  return types;
}

std::vector<Type> infer_constant(const InferContext& in) {
  const Dims& dims = in.attr<Dims>("dims");
  const auto& values = in.attr<std::vector<double>>("values");
  expect_dims(in, dims);
  const Type type{DType::f32, in.none(), dims};
  if (row_size(type) != static_cast<std::int64_t>(values.size()) && values.size() != 1)
    in.fail(fmt::format("{} needs {} values or one for all, not {}", in.show(type), row_size(type),
                        values.size()));
  return {type};
}

template <typename T>
void evaluate_constant(EvalContext<T>& context) {
  const auto& values = context.node.template attr<std::vector<double>>("values");
  auto& data = context.results[0].data;
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<T>(static_cast<float>(values.size() == 1 ? values[0] : values[i]));
}

const OpDef kOps[] = {
    {.name = "param",
     .summary = "A stored weight.",
     .attributes = {{"name", AttrKind::string},
                    {"domain", AttrKind::domain, DomainId{0}},
                    {"dims", AttrKind::dims},
                    {"dtype", AttrKind::dtype, DType::f32}},
     .traits = static_cast<std::uint32_t>(Trait::external),
     .infer = infer_param},
    {.name = "import",
     .summary = "A result of a program with an earlier binding time.",
     .attributes = {{"name", AttrKind::string},
                    {"domain", AttrKind::domain, DomainId{0}},
                    {"dims", AttrKind::dims},
                    {"dtype", AttrKind::dtype, DType::f32}},
     .traits = static_cast<std::uint32_t>(Trait::external),
     .infer = infer_external},
    {.name = "constant",
     .summary = "Numbers written in the graph; one number fills all dimensions.",
     .attributes = {{"values", AttrKind::reals}, {"dims", AttrKind::dims, Dims{}}},
     .infer = infer_constant,
     .evaluate_f32 = evaluate_constant<float>,
     .evaluate_f64 = evaluate_constant<double>},
};

}  // namespace

std::span<const OpDef> leaf_ops() { return kOps; }

}  // namespace fuselage
