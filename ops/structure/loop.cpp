// Loops over source positions (scan) and over target positions (the decoder step). Executors
// implement these ops; see docs/architecture.md, "Loops are domains".

#include "fuselage/ops/structure/loop.h"

#include <fmt/format.h>

#include "fuselage/ops/infer.h"

namespace fuselage {
namespace {

const Domain& domain_of(const InferContext& in, std::size_t operand) {
  return in.graph().domain(in.operand(operand).domain);
}

std::vector<Type> infer_state(const InferContext& in) {
  const DomainId loop = in.as<op::State>().domain;
  const Domain& domain = in.graph().domain(loop);
  if (domain.kind != DomainKind::scan && domain.kind != DomainKind::parent)
    in.fail(fmt::format("a state lives in a scan or parent domain, but '{}' is a {} domain",
                        domain.name, to_string(domain.kind)));
  const Type& init = in.operand(0);
  if (init.domain != in.none() && init.domain != in.graph().sentences_of(loop))
    in.fail(fmt::format("its initial value must have no rows or one per sentence, not {}",
                        in.show(init)));
  expect_weights_if_half(in, init.dtype, loop);
  return {{init.dtype, loop, init.dims}};
}

std::vector<Type> infer_next(const InferContext& in) {
  const Type& state = in.operand(0);
  const Type& value = in.operand(1);
  const Domain& value_domain = domain_of(in, 1);
  // The next value of a decoder state has a row per hypothesis; some of them become parents of the
  // next step.
  const bool decoder = domain_of(in, 0).kind == DomainKind::parent;
  const bool same_rows =
      decoder ? value_domain.kind == DomainKind::hypothesis && value_domain.of == state.domain
              : value.domain == state.domain;
  if (!same_rows || value.dims != state.dims || value.dtype != state.dtype)
    in.fail(
        fmt::format("the next value {} does not fit the state {}", in.show(value), in.show(state)));
  return {};
}

std::vector<Type> infer_collect(const InferContext& in) {
  const Domain& scan = domain_of(in, 0);
  if (scan.kind != DomainKind::scan)
    in.fail(fmt::format("it collects the rows of a scan, not {}", in.show(in.operand(0))));
  return {{in.operand(0).dtype, scan.of, in.operand(0).dims}};
}

std::vector<Type> infer_history(const InferContext& in) {
  const DomainId prefix = in.as<op::History>().domain;
  const Domain& domain = in.graph().domain(prefix);
  if (domain.kind != DomainKind::prefix || domain.of != in.operand(0).domain)
    in.fail(fmt::format("'{}' is no prefix domain of the rows of {}", domain.name,
                        in.show(in.operand(0))));
  Type type{in.operand(0).dtype, prefix, in.operand(0).dims};
  if (const DType to = in.as<op::History>().to; is_half(to)) {
    expect_f32(in, 0);
    type.dtype = to;
    expect_even_if_half(in, type);
  } else if (to != DType::f32) {
    in.fail(fmt::format("it rounds rows to bf16 or f16, not to {}", to_string(to)));
  }
  return {type};
}

}  // namespace

std::span<const OpDef> loop_ops() {
  static const OpDef ops[] = {
      define<op::State>({.summary = "s(0) = init, s(t + 1) = the value that `next` sets in "
                                    "iteration t of the loop of `domain`.",
                         .operands = {{"init"}},
                         .traits = Trait::loop_state,
                         .infer = infer_state}),
      define<op::Next>({.summary = "s(t + 1) = value(t), for the state s.",
                        .operands = {{"state"}, {"value"}},
                        .traits = Trait::loop_next | Trait::sink,
                        .infer = infer_next}),
      define<op::Collect>({.summary = "y(position of iteration t) = x(t), for all iterations of a "
                                      "scan: rows of source tokens.",
                           .operands = {{"x"}},
                           .traits = Trait::changes_domain,
                           .infer = infer_collect}),
      define<op::History>(
          {.summary = "x of every generated token, past and present: rows of a prefix domain. `to` "
                      "bf16 or f16 rounds them, ties to even.",
           .operands = {{"x"}},
           .traits = Trait::changes_domain,
           .infer = infer_history}),
  };
  return ops;
}

}  // namespace fuselage
