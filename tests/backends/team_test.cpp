#include "backends/cpu/runtime/team.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <numeric>

#include "backends/cpu/runtime/isa.h"
#include "fuselage/backends/compile.h"
#include "fuselage/base/error.h"
#include "fuselage/graph/text.h"
#include "fuselage/ops/registry.h"
#include "support.h"

namespace fuselage::team_test {
namespace {

using cpu::Team;
using ::testing::Each;

TEST(Team, DoesEachPartOnce) {
  for (const std::size_t size : {1u, 2u, 5u}) {
    Team team(size);
    ASSERT_EQ(team.size(), size);
    std::vector<int> done(size, 0);
    for (int round = 0; round < 1000; ++round) team.run([&](std::size_t part) { ++done[part]; });
    EXPECT_THAT(done, Each(1000));
  }
}

TEST(Team, DoesPartsInSeveralThreads) {
  Team team(3);
  std::atomic<int> there = 0;
  for (int round = 1; round <= 20; ++round)
    team.run([&](std::size_t) {
      // Nobody goes on before all are there, so none can do the part of another.
      ++there;
      while (there < 3 * round) std::this_thread::yield();
    });
  EXPECT_EQ(there, 60);
}

TEST(Team, DoesNotWaitForWhoComesTooLate) {
  for (int round = 0; round < 200; ++round) {
    Team team(4);
    std::vector<int> done(4, 0);
    for (int job = 0; job < 3; ++job) team.run([&](std::size_t part) { ++done[part]; });
    EXPECT_THAT(done, Each(3));
  }
}

TEST(Team, HandsResultsFromPartToPart) {
  Team team(3);
  std::vector<int> values(3, 1);
  for (int round = 0; round < 500; ++round) {
    const int sum = std::accumulate(values.begin(), values.end(), 0);
    team.run([&](std::size_t part) { values[part] = sum % 1000 + static_cast<int>(part); });
  }
  EXPECT_EQ(values[2], values[0] + 2);
}

TEST(Team, WakesUpFromSleep) {
  Team team(3);
  std::atomic<int> count = 0;
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    team.run([&](std::size_t part) {
      // The others sleep, too, while they wait for the last part.
      if (part == static_cast<std::size_t>(round))
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ++count;
    });
    EXPECT_EQ(count, 3 * (round + 1));
  }
}

TEST(Team, ThrowsWhatAPartThrewAndGoesOn) {
  Team team(4);
  for (std::size_t bad = 0; bad < 4; ++bad) {
    std::atomic<int> count = 0;
    EXPECT_THROW(team.run([&](std::size_t part) {
      if (part == bad) throw Error(fmt::format("part {}", part));
      ++count;
    }),
                 Error);
    EXPECT_EQ(count, 3);
  }
  team.run([](std::size_t) {});
}

// In a process of its own: what a thread that is not joined ends is the process.
TEST(Team, EndsWithoutHavingHadAJob) {
  EXPECT_EXIT(
      {
        { const Team team(3); }
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

// --- Models that several threads run ---

/// Attention and products that are worth cutting, of which no width fills a panel, alone and with
/// what follows.
constexpr std::string_view kGraph = R"(fuselage.graph 1
domain words = vocabulary 50
domain sentence = sentence
domain source = source of sentence
domain parent = parent of sentence
domain hyp = hypothesis of parent
domain cross = pairs of hyp, source
map source.word : source -> words
map hyp.word : hyp -> words partial
%table = param() {name = "table", domain = words, dims = [131]}
%w = param() {name = "w", dims = [131, 613]}
%v = param() {name = "v", dims = [613, 203]}
%b = param() {name = "b", dims = [203]}
%u = param() {name = "u", dims = [131, 1]}
%none = constant() {values = [0.25], dims = [131]}
%s = state(%none) {domain = parent}
%prev = select_rows(%s) {via = [hyp.parent]}
%word = select_rows(%table, %none) {via = [hyp.word]}
%both = add(%prev, %word)
%read = select_rows(%table) {via = [source.word]}
%key = exp(%read)
%query = exp(%both)
%a, %mixed = additive_attention(%query, %key, %u, %read) {left = [cross.left], right = [cross.right]}
%d, %x = dot_attention(%mixed, %read, %read) {left = [cross.left], right = [cross.right], heads = 1, scale = 0.5}
%p = matmul(%x, %w)
%q = tanh(%p)
%r = matmul(%q, %v)
%y = add(%r, %b)
%z = tanh(%y)
%part = slice(%z) {begin = 9, end = 140}
next(%s, %part)
return logits = %z
)";

support::ToyModel wide_model() {
  support::ToyModel model{parse_graph(kGraph, "test", all_ops()), {}};
  std::mt19937 random(17);
  std::uniform_real_distribution<float> uniform(-0.2f, 0.2f);
  for (const auto& [name, shape] : std::vector<std::pair<std::string, Dims>>{{"table", {50, 131}},
                                                                             {"w", {131, 613}},
                                                                             {"v", {613, 203}},
                                                                             {"b", {203}},
                                                                             {"u", {131, 1}}}) {
    Tensor tensor(DType::f32, shape);
    std::generate_n(tensor.mutable_data<float>(), tensor.size(), [&] { return uniform(random); });
    model.weights.emplace(name, std::move(tensor));
  }
  return model;
}

class TeamLevels : public ::testing::TestWithParam<std::string> {
 protected:
  TeamLevels() { cpu::force_isa(GetParam()); }
  ~TeamLevels() override { cpu::force_isa(before_); }

 private:
  const std::string before_ = cpu::active_isa();
};

INSTANTIATE_TEST_SUITE_P(Backends, TeamLevels, ::testing::ValuesIn(cpu::supported_isas()),
                         [](const auto& isa) { return isa.param; });

TEST_P(TeamLevels, GiveTheSameBytesForAnySize) {
  const support::ToyModel model = wide_model();
  const auto sentences = support::random_sentences(2, 5, 31);
  for (const std::string passes : {"none", "all"})
    for (const Precision precision : {Precision::fp32, Precision::int8, Precision::int16}) {
      std::vector<support::Trace> expected;
      for (const std::size_t threads : {1u, 2u, 3u, 7u}) {
        const auto executable =
            compile(model.graph, model.weights,
                    {.passes = passes, .precision = precision, .threads_per_sentence = threads});
        const auto traces =
            support::run_trace(*executable->make_worker(), *executable, sentences, 3, 4);
        if (threads == 1) expected = traces;
        ASSERT_EQ(traces.size(), expected.size());
        for (std::size_t s = 0; s < traces.size(); ++s)
          EXPECT_EQ(traces[s].rows, expected[s].rows)
              << passes << " " << to_string(precision) << ", " << threads << " threads";
      }
    }
}

}  // namespace
}  // namespace fuselage::team_test
