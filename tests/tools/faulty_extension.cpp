// Loaded in a test: ops, passes, kernels and an architecture that each have a fault, which shows
// where a graph has the op that it is named after.

#include <stdexcept>

#include "fuselage/backends/cpu/kernels/kernel_registry.h"
#include "fuselage/backends/cpu/runtime/make_kernel.h"
#include "fuselage/base/error.h"
#include "fuselage/models/architectures/architecture.h"
#include "fuselage/ops/evaluate.h"
#include "fuselage/ops/registry.h"
#include "fuselage/ops/row_function.h"
#include "fuselage/ops/structure/shape.h"
#include "fuselage/passes/pipeline.h"

namespace fuselage {
namespace {

// clang-format off
struct FaultyInfer { static constexpr std::string_view kName = "faulty_infer"; };
struct FaultyRow { static constexpr std::string_view kName = "faulty_row"; };
struct FaultyCost { static constexpr std::string_view kName = "faulty_cost"; };
struct FaultySize { static constexpr std::string_view kName = "faulty_size"; };
struct FaultyRule { static constexpr std::string_view kName = "faulty_rule"; };
struct FaultyGuard { static constexpr std::string_view kName = "faulty_guard"; };
struct FaultyLoop { static constexpr std::string_view kName = "faulty_loop"; };
struct FaultyPass { static constexpr std::string_view kName = "faulty_pass"; };
struct FaultyReport { static constexpr std::string_view kName = "faulty_report"; };
struct FaultyKernel { static constexpr std::string_view kName = "faulty_kernel"; };
struct FaultyState { static constexpr std::string_view kName = "faulty_state"; };
struct FaultyFactory { static constexpr std::string_view kName = "faulty_factory"; };
struct FaultyRefusal { static constexpr std::string_view kName = "faulty_refusal"; };
// clang-format on

/// The identity, with the given definition.
template <typename Op>
OpDef identity(OpDef definition = {}) {
  definition.summary = "x";
  definition.operands = {{"x"}};
  definition.traits = Trait::row_wise;
  return define<Op>(std::move(definition), [](const Op&, auto in, auto out) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = in[0][i];
  });
}

template <typename T>
void resize(EvalContext<T>& context) {
  context.results[0] = Array<T>(1, 1);
}

void register_faulty_ops() {
  OpDef row = define<FaultyRow>(
      {.summary = "x", .operands = {{"x"}}, .traits = Trait::row_wise | Trait::elementwise},
      [](const FaultyRow&, auto, auto) { throw std::logic_error("the row is wrong"); });
  register_ops(
      {identity<FaultyInfer>({.infer = [](const InferContext& in) -> std::vector<Type> {
         // Reads the node as another one.
         return std::vector(static_cast<std::size_t>(in.as<op::Slice>().end), in.operand(0));
       }}),
       identity<FaultyCost>(
           {.cost = [](const InferContext&) -> Cost { throw std::out_of_range("no dimension"); }}),
       row,
       define<FaultySize>({.summary = "x",
                           .operands = {{"x"}},
                           .traits = Trait::row_wise,
                           .infer = infer_row,
                           .evaluate_f32 = resize<float>,
                           .evaluate_f64 = resize<double>}),
       identity<FaultyRule>(), identity<FaultyGuard>(), identity<FaultyLoop>(),
       identity<FaultyPass>(), identity<FaultyReport>(), identity<FaultyKernel>(),
       identity<FaultyState>(), identity<FaultyFactory>(), identity<FaultyRefusal>()});
}

template <typename Op>
bool has(const Graph& graph) {
  for (const NodeId id : graph.nodes())
    if (graph.node(id).is<Op>()) return true;
  return false;
}

void register_faulty_passes() {
  const auto add = [](Pass pass) {
    register_pass(std::move(pass), PassPosition::before("simplify"), "a test");
  };
  const auto at = [](const char* name, Pattern pattern, Rule rule) {
    rule.name = std::string(name) + "_rule";
    rule.pattern = std::move(pattern);
    return Pass{.name = name, .rules = {std::move(rule)}};
  };
  add(at("faulty_rule", match::op<FaultyRule>(), {.build = [](Rewriter&, const Match&) {}}));
  add(at("faulty_guard", match::op<FaultyGuard>(),
         {.guards = {{.name = "broken",
                      .refuse = [](const Match&) -> std::optional<std::string> {
                        throw std::runtime_error("the guard is wrong");
                      }}},
          .build = [](Rewriter&, const Match&) {}}));
  add(at("faulty_loop", match::op<FaultyLoop>(), {.build = [](Rewriter& rewriter, const Match& m) {
           rewriter.replace(m.result(), rewriter.add(FaultyLoop{}, m.root_node().operands));
         }}));
  add({.name = "faulty_pass", .run = [](Rewriter& rewriter) -> bool {
         if (has<FaultyPass>(rewriter.graph())) throw Error("the pass is wrong");
         return false;
       }});
  add({.name = "faulty_report",
       .run = [](Rewriter& rewriter) { return has<FaultyReport>(rewriter.graph()); }});
}

}  // namespace

namespace cpu {
namespace {

void run_faulty(const PlannedInstruction&, const Run&) { throw 5; }

class StatefulKernel final : public Kernel {
 public:
  StatefulKernel(const PlannedInstruction&, const Binding&) {}
  std::unique_ptr<BatchState> make_state() const override {
    throw std::runtime_error("the state is wrong");
  }
  void run(const PlannedInstruction&, const Run&) const override {}
};

std::unique_ptr<Kernel> make_nothing(const PlannedInstruction&, const Binding&) { return nullptr; }

std::string refuse_wrongly(const Graph&, const Node&) {
  throw std::runtime_error("the refusal is wrong");
}

void register_faulty_kernels() {
  register_kernels(
      {KernelEntry{{.op = FaultyKernel::kName, .name = "kernel_run"},
                   make_kernel<PlainKernel<run_faulty>>},
       KernelEntry{{.op = FaultyState::kName, .name = "kernel_state"}, make_kernel<StatefulKernel>},
       KernelEntry{{.op = FaultyFactory::kName, .name = "kernel_factory"}, make_nothing},
       KernelEntry{{.op = FaultyRefusal::kName, .name = "kernel_refusal", .refuse = refuse_wrongly},
                   make_nothing}});
}

}  // namespace
}  // namespace cpu
}  // namespace fuselage

extern "C" FUSELAGE_API void fuselage_extension() {
  using namespace fuselage;
  register_faulty_ops();
  register_faulty_passes();
  cpu::register_faulty_kernels();
  register_architecture({.name = "faulty_architecture",
                         .summary = "A test.",
                         .build = [](Parameters&, const ModelOptions&) {
                           throw std::runtime_error("the equations are wrong");
                         }});
}
