#include "fuselage/passes/pipeline.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

bool has_rule(const std::vector<Pass>& passes, std::string_view name) {
  for (const Pass& pass : passes)
    for (const Rule& rule : pass.rules)
      if (rule.name == name) return true;
  return false;
}

bool has_pass(const std::vector<Pass>& passes, std::string_view name) {
  for (const Pass& pass : passes)
    if (pass.name == name) return true;
  return false;
}

TEST(SelectPasses, LeavesOutRulesAndPasses) {
  EXPECT_TRUE(has_rule(select_passes("all"), "merge_states"));
  EXPECT_FALSE(has_rule(select_passes("all,-merge-states"), "merge_states"));
  EXPECT_TRUE(has_rule(select_passes("all,-merge_states"), "embeddings"));
  EXPECT_FALSE(has_pass(select_passes("all,-commute-rows"), "commute_rows"));
  EXPECT_FALSE(
      has_pass(select_passes("all,-merge-common-subexpressions"), "merge_common_subexpressions"));
}

TEST(SelectPasses, APassWithoutRulesGoes) {
  std::string names = "commute_rows";
  const std::vector<Pass> all = select_passes("commute_rows");
  for (const Rule& rule : all.front().rules) names += ",-" + rule.name;
  EXPECT_FALSE(has_pass(select_passes(names), "commute_rows"));
}

TEST(SelectPasses, ARuleStandsForItsPassWithThatRuleAlone) {
  const auto passes = select_passes("embeddings,simplify");
  ASSERT_EQ(passes.size(), 2u);
  EXPECT_EQ(passes[0].name, "commute_rows");
  ASSERT_EQ(passes[0].rules.size(), 1u);
  EXPECT_EQ(passes[0].rules[0].name, "embeddings");
}

TEST(SelectPasses, TakesWholeLayersWhereTheyHaveKernelsAndHideNoIntegers) {
  EXPECT_FALSE(has_pass(select_passes("all"), "fuse_recurrence"));
  EXPECT_TRUE(has_pass(select_passes("all", {.recurrent_kernels = true}), "fuse_recurrence"));
  for (const Precision precision : {Precision::bf16, Precision::int8, Precision::stored})
    EXPECT_FALSE(has_pass(select_passes("all", {.precision = precision, .recurrent_kernels = true}),
                          "fuse_recurrence"))
        << to_string(precision);
}

TEST(SelectPasses, LeavesOutWhatOnlyOtherOptionsBring) {
  const std::vector<Pass> all = select_passes("all");
  for (const char* names : {"all,-fuse_recurrence", "all,-recurrent-layers"})
    EXPECT_EQ(select_passes(names).size(), all.size()) << names;
  EXPECT_FALSE(has_pass(select_passes("all,-fuse_recurrence", {.recurrent_kernels = true}),
                        "fuse_recurrence"));
  EXPECT_THROW(select_passes("fuse_recurrence"), Error);
}

TEST(SelectPasses, RefusesUnknownNamesAndVainOnes) {
  EXPECT_THAT([] { select_passes("all,-merge-state"); },
              ThrowsMessage<Error>(HasSubstr("there is no pass 'merge_state'; did you mean "
                                             "'merge_states'?")));
  EXPECT_THAT([] { select_passes("simplify,-embeddings"); },
              ThrowsMessage<Error>(HasSubstr("write 'all,-embeddings'")));
  EXPECT_THROW(select_passes("all,"), Error);
  EXPECT_THROW(select_passes("all,-"), Error);
}

TEST(DefaultPipeline, HasThePassesForTablesFirst) {
  for (const char* names : {"all", "all,-frequent_rows", "all,-lookup_products"}) {
    const std::vector<Pass> passes = select_passes(names);
    const auto for_tables = [](const Pass& pass) { return pass.for_tables; };
    EXPECT_TRUE(std::is_partitioned(passes.begin(), passes.end(), for_tables)) << names;
    EXPECT_TRUE(for_tables(passes.front())) << names;
    EXPECT_FALSE(for_tables(passes.back())) << names;
  }
  EXPECT_TRUE(select_passes("frequent_rows")[0].for_tables);
  EXPECT_TRUE(select_passes("embeddings")[0].for_tables) << "of a rule, its pass";
  EXPECT_FALSE(select_passes("fuse_output")[0].for_tables);
}

TEST(PrecisionFromString, IsTheInverseOfItsName) {
  for (const std::string_view name : precision_names())
    EXPECT_EQ(to_string(precision_from_string(name)), name);
  EXPECT_EQ(precision_from_string("int4-log"), Precision::int4_log);
  EXPECT_THAT([] { precision_from_string("int9"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("there is no precision 'int9'"),
                                         HasSubstr("did you mean 'int"), HasSubstr("fp32, bf16"))));
}

TEST(ActivationsFromString, KnowsItsNamesAndRefusesOthers) {
  EXPECT_EQ(activations_from_string("exact"), Activations::exact);
  EXPECT_EQ(activations_from_string("fast"), Activations::fast);
  EXPECT_EQ(activations_from_string("table"), Activations::table);
  for (const std::string_view name : activations_names())
    EXPECT_EQ(to_string(activations_from_string(name)), name);
  EXPECT_THAT([] { activations_from_string("tables"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("'tables'; did you mean 'table'?"),
                                         HasSubstr("exact, fast, table"))));
}

// They run only when somebody asks for them.
TEST(KvCacheFromString, KnowsItsNamesAndRefusesOthers) {
  for (const std::string_view name : kv_cache_names())
    EXPECT_EQ(to_string(kv_cache_from_string(name)), name);
  EXPECT_EQ(kv_cache_from_string("int8"), KvCache::int8);
  EXPECT_THAT(
      [] { kv_cache_from_string("int4"); },
      ThrowsMessage<Error>(AllOf(HasSubstr("there is no type of the key/value cache 'int4'"),
                                 HasSubstr("fp32, int8"))));
}

TEST(QuantizeAttention, StaysOutOfThePipelineUnlessAskedFor) {
  const auto has_pass = [](const PipelineOptions& options) {
    const std::vector<Pass> pipeline = default_pipeline(options);
    return std::any_of(pipeline.begin(), pipeline.end(),
                       [](const Pass& pass) { return pass.name == "quantize_attention"; });
  };
  EXPECT_FALSE(has_pass({.precision = Precision::int8}));
  EXPECT_TRUE(has_pass({.kv_cache = KvCache::int8}));
}

TEST(ApproximateActivations, StayOutOfThePipelineUnlessAskedFor) {
  for (const Rule& rule : approximate_activations().rules)
    EXPECT_FALSE(PassOptions{}.allows(rule.numerics.kind)) << rule.name;
}

}  // namespace
}  // namespace fuselage
