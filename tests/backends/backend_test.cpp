// Back-ends as objects: their names, properties, and the options that they refuse.

#include "fuselage/backends/backend.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "backends/cpu/runtime/isa.h"
#include "fuselage/backends/compile.h"
#include "fuselage/base/error.h"
#include "fuselage/graph/text.h"
#include "fuselage/ops/arithmetic/matmul.h"
#include "fuselage/ops/registry.h"
#include "support.h"

namespace fuselage {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Backends, AreFoundByTheirNames) {
  for (const Backend* backend : all_backends()) EXPECT_EQ(&find_backend(backend->name()), backend);
  EXPECT_EQ(all_backends().front()->name(), CompileOptions{}.backend);
}

TEST(Backends, OfAnotherNameAreRefusedWithTheNearest) {
  EXPECT_THAT([] { find_backend("cude"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("there is no back-end 'cude'"),
                                         HasSubstr("did you mean 'cuda'?"),
                                         HasSubstr("cpu, cuda, reference"))));
  const support::ToyModel model = support::toy_model(12);
  EXPECT_THAT([&] { compile(model.graph, model.weights, {.backend = "abacus"}); },
              ThrowsMessage<Error>(HasSubstr("'abacus'")));
}

TEST(Backends, HaveKernelsWhereTheyHavePlans) {
  for (const Backend* backend : all_backends())
    for (const BindingTime time : {BindingTime::load, BindingTime::source, BindingTime::step})
      EXPECT_EQ(backend->kernels(time).empty(), !backend->capabilities().plans) << backend->name();
}

TEST(Backends, QuantizeResultsIfTheirKernelsDo) {
  for (const Backend* backend : all_backends()) {
    if (!backend->capabilities().plans) continue;
    const KernelSet kernels = backend->kernels(BindingTime::step);
    EXPECT_EQ(std::any_of(kernels.begin(), kernels.end(),
                          [](const KernelInfo* kernel) { return kernel->quantizes; }),
              backend->capabilities().quantizing_kernels)
        << backend->name();
  }
}

TEST(Backends, ShowPlansUnlessTheyInterpret) {
  const Programs programs = split_by_binding_time(support::toy_model(1).graph);
  EXPECT_FALSE(plan_programs(programs, find_backend("cuda"))[2].empty());
  EXPECT_THAT([&] { plan_programs(programs, find_backend("reference")); },
              ThrowsMessage<Error>(HasSubstr("the reference back-end has no plans")));
}

TEST(Backends, BoundBatchesByTheBeam) {
  const Backend& cpu = find_backend("cpu");
  for (const std::string& isa : cpu::supported_isas()) {
    cpu::force_isa(isa);
    const bool tiles = isa == "avx3_amx";
    EXPECT_EQ(cpu.fastest_batches(1).sentences, tiles ? 64u : 12u) << isa;
    EXPECT_EQ(cpu.fastest_batches(6).sentences, tiles ? 16u : 10u) << isa;
    EXPECT_EQ(cpu.fastest_batches(10000).sentences, 1u) << isa;
    EXPECT_EQ(cpu.fastest_batches(1).firm, !tiles) << isa;
  }
  EXPECT_GT(find_backend("cuda").fastest_batches(6).sentences, 100u);
}

// --- The cost model ---

/// Products with the state of a parent, with a word and a state side by side, and with a mixture.
constexpr std::string_view kMovable = R"(fuselage.graph 1
domain words = vocabulary 6
domain sentence = sentence
domain src = source of sentence
domain parent = parent of sentence
domain hyp = hypothesis of parent
domain hs = pairs of hyp, src
map src.word : src -> words
map hyp.word : hyp -> words partial
%table = param() {name = "table", domain = words, dims = [512]}
%w = param() {name = "w", dims = [512, 512]}
%w2 = param() {name = "w2", dims = [1024, 512]}
%e = select_rows(%table) {via = [src.word]}
%mean = mean_rows(%e) {to = [src.sentence]}
%state = state(%mean) {domain = parent}
%kept = select_rows(%state) {via = [hyp.parent]}
next(%state, %kept)
%h = select_rows(%table) {via = [hyp.word]}
%keys = tanh(%e)
%left = select_rows(%kept) {via = [hs.left]}
%right = select_rows(%keys) {via = [hs.right]}
%scores = head_dot(%left, %right) {heads = 1}
%a = segment_softmax(%scores) {to = [hs.left]}
%mixed = mix_rows(%a, %keys) {to = [hs.left], via = [hs.right]}
%both = concat(%h, %kept)
%x = matmul(%kept, %w)
%y = matmul(%both, %w2)
%z = matmul(%mixed, %w)
return x = %x, y = %y, z = %z
)";

/// How often each rule is applied to it for a workload.
std::map<std::string, std::size_t> rewrites(const Workload& workload) {
  Graph graph = parse_graph(kMovable, "test", all_ops());
  std::map<std::string, std::size_t> counts;
  for (const PassRecord& record : optimize(graph, {.workload = workload}))
    for (const auto& [rule, count] : record.rewrites) counts[rule] += count;
  return counts;
}

TEST(CostModel, MovesNothingToParentsWhereEachHypothesisHasItsOwn) {
  EXPECT_EQ(Workload{.beam = 1}.distinct_parents, 1);
  EXPECT_EQ(rewrites({.beam = 1})["merge_states"], 0u);
  EXPECT_GT(rewrites({.beam = 6})["merge_states"], 0u);
}

TEST(CostModel, TakesRoundingFromNeitherBeamNorBatch) {
  for (const char* rule : {"split_concatenation", "attention"}) {
    const std::size_t usual = rewrites({})[rule];
    EXPECT_GT(usual, 0u) << rule;
    for (const Workload& workload :
         {Workload{.beam = 1}, Workload{.beam = 48}, Workload{.batch = 1}, Workload{.batch = 512}})
      EXPECT_EQ(rewrites(workload)[rule], usual)
          << rule << ", beam " << workload.beam << ", batch " << workload.batch;
  }
}

TEST(CostModel, HasTheFiguresOfTheDevice) {
  const Target& cpu = find_backend("cpu").capabilities().target;
  const Target& gpu = find_backend("cuda").capabilities().target;
  EXPECT_GT(gpu.flop_per_second, 100 * cpu.flop_per_second);
  EXPECT_GT(gpu.bytes_per_second, 100 * cpu.bytes_per_second);
  EXPECT_GT(gpu.kernel_seconds, cpu.kernel_seconds);
  EXPECT_EQ(gpu.load_flop_per_second, cpu.load_flop_per_second) << "the CPU runs load programs";
}

// --- Options ---

/// Options that one back-end refuses, and parts of the message.
struct Refused {
  CompileOptions options;
  const char* what;
  const char* advice;
};

TEST(Backends, RefuseOptionsThatTheyWouldIgnore) {
  Profile profile;
  const NodeObserver observer = [](const EvalContext<float>&) {};
  const std::vector<Refused> cases = {
      {{.backend = "reference", .weights_cache = "cache"}, "weights-cache", "the cpu back-end"},
      {{.backend = "cuda", .weights_cache = "cache"}, "weights-cache", "the cpu back-end"},
      {{.backend = "reference", .threads_per_sentence = 7},
       "threads-per-sentence",
       "the cpu back-end"},
      {{.backend = "cuda", .threads_per_sentence = 2}, "threads-per-sentence", "the cpu back-end"},
      {{.backend = "cuda", .kv_cache = KvCache::int8}, "kv-cache", "the cpu or reference back-end"},
      {{.backend = "cuda", .profile = &profile}, "profile", "the cpu back-end"},
      {{.backend = "cpu", .observer = observer}, "observer", "the reference back-end"},
      {{.backend = "cpu", .cuda = {.devices = {1}}}, "device numbers", "the cuda back-end"},
      {{.backend = "reference", .cuda = {.tf32 = true}}, "tf32", "the cuda back-end"},
      {{.backend = "cpu", .cuda = {.eager = true}}, "eager", "the cuda back-end"},
  };
  const support::ToyModel model = support::toy_model(12);
  for (const Refused& refused : cases) {
    SCOPED_TRACE(refused.what);
    const std::string backend = "the " + refused.options.backend + " back-end has no use for ";
    EXPECT_THAT(
        [&] { compile(model.graph, model.weights, refused.options); },
        ThrowsMessage<Error>(AllOf(HasSubstr(backend + refused.what), HasSubstr(refused.advice))));
  }
  EXPECT_THAT([] { find_backend("cpu").check({.threads_per_sentence = 0}); },
              ThrowsMessage<Error>(HasSubstr("must be at least 1")));
}

TEST(Backends, RefusePrecisionsThatTheyHaveNoProductsIn) {
  EXPECT_THAT([] { make_optimizer({.precision = Precision::fp16}); },
              ThrowsMessage<Error>(AllOf(HasSubstr("the cpu back-end has no products in fp16"),
                                         HasSubstr("use fp32, bf16, int16, int8, int4, int4-log"),
                                         HasSubstr("or the cuda or reference back-end"))));
  EXPECT_THAT([] { make_optimizer({.backend = "cuda", .precision = Precision::int4}); },
              ThrowsMessage<Error>(HasSubstr("the cuda back-end has no products in int4")));
}

TEST(Backends, KeepStoredTypesThatTheyHaveNoProductsInAsFloats) {
  const Graph graph = parse_graph(R"(fuselage.graph 1
domain sentence = sentence
input x : sentence f32[4]
%x = input() {name = "x"}
%w4 = param() {name = "w4", dims = [3, 4], dtype = qlog4}
%n4 = dequantize(%w4)
%c4 = transpose(%n4)
%w8 = param() {name = "w8", dims = [3, 4], dtype = qint8}
%n8 = dequantize(%w8)
%c8 = transpose(%n8)
%a = matmul(%x, %c4)
%b = matmul(%x, %c8)
return a = %a, b = %b
)",
                                  "test", all_ops());
  const auto types = [&](const std::string& backend) {
    Graph optimized = graph;
    optimize(optimized, {.backend = backend, .passes = "quantize", .precision = Precision::stored});
    std::vector<DType> found;
    for (const NodeId id : optimized.nodes())
      if (const Node& node = optimized.node(id); node.is<op::Matmul>())
        found.push_back(optimized.value(node.operands[1]).type.dtype);
    return found;
  };
  EXPECT_THAT(types("cpu"), ::testing::UnorderedElementsAre(DType::qlog4, DType::qint8));
  EXPECT_THAT(types("cuda"), ::testing::UnorderedElementsAre(DType::f32, DType::qint8));
}

TEST(Backends, TakeOptionsThatHold) {
  // Rows have the same bits in any batch on the CPU anyway.
  EXPECT_NO_THROW(find_backend("cpu").check({.cuda = {.deterministic = true}}));
  EXPECT_NO_THROW(find_backend("reference").check({.cuda = {.deterministic = true}}));
  EXPECT_NO_THROW(find_backend("cpu").check({.threads_per_sentence = 3}));
  EXPECT_NO_THROW(find_backend("cuda").check({.kv_cache = KvCache::fp32}));
}

}  // namespace
}  // namespace fuselage
