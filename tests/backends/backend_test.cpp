// Back-ends as objects: their names, properties, and the options that they refuse.

#include "backends/backend.h"

#include <algorithm>

#include "backends/compile.h"
#include "base/error.h"
#include "support.h"

namespace fuselage {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
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
  const testing::ToyModel model = testing::toy_model(12);
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
  const Programs programs = split_by_binding_time(testing::toy_model(1).graph);
  EXPECT_FALSE(plan_programs(programs, find_backend("cuda"))[2].empty());
  EXPECT_THAT([&] { plan_programs(programs, find_backend("reference")); },
              ThrowsMessage<Error>(HasSubstr("the reference back-end has no plans")));
}

TEST(Backends, BoundBatchesByTheBeam) {
  const Backend& cpu = find_backend("cpu");
  EXPECT_EQ(cpu.fastest_batches(1).sentences, 16u);
  EXPECT_EQ(cpu.fastest_batches(6).sentences, 10u);
  EXPECT_EQ(cpu.fastest_batches(10000).sentences, 1u);
  EXPECT_GT(find_backend("cuda").fastest_batches(6).sentences, 100u);
}

// A batch has one text, which all source domains would share without a word.
TEST(Compile, RefusesAGraphThatReadsSeveralSourceTexts) {
  testing::ToyModel model = testing::toy_model(3);
  const DomainId source = model.graph.find_domain("source");
  const DomainId context = model.graph.add_source("context", model.graph.domain(source).of);
  model.graph.add_word_map("context.word", context, model.graph.find_domain("vocabulary"), false);
  for (const Backend* backend : all_backends())
    EXPECT_THAT(
        [&] { compile(model.graph, model.weights, {.backend = std::string(backend->name())}); },
        ThrowsMessage<Error>(AllOf(HasSubstr("reads 2 source texts, 'source', 'context'"),
                                   HasSubstr("declare one source domain"))));
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
      {{.backend = "cuda", .profile = &profile}, "profile", "the cpu back-end"},
      {{.backend = "cpu", .observer = observer}, "observer", "the reference back-end"},
      {{.backend = "cpu", .cuda = {.device = 1}}, "a device number", "the cuda back-end"},
      {{.backend = "reference", .cuda = {.tf32 = true}}, "tf32", "the cuda back-end"},
      {{.backend = "cpu", .cuda = {.eager = true}}, "eager", "the cuda back-end"},
  };
  const testing::ToyModel model = testing::toy_model(12);
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

TEST(Backends, TakeOptionsThatHold) {
  // Rows have the same bits in any batch on the CPU anyway.
  EXPECT_NO_THROW(find_backend("cpu").check({.cuda = {.deterministic = true}}));
  EXPECT_NO_THROW(find_backend("reference").check({.cuda = {.deterministic = true}}));
  EXPECT_NO_THROW(find_backend("cpu").check({.threads_per_sentence = 3}));
}

}  // namespace
}  // namespace fuselage
