// The bounds of memory that docs/limits.md gives.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/machine/process_memory.h"
#include "fuselage/backends/compile.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/models/load_model.h"

namespace fuselage {
namespace {

using ::testing::MatchesRegex;

/// A model and the sizes that the bounds depend on.
struct Architecture {
  std::string path;
  std::int64_t d;       ///< the largest of the sizes of embeddings and states
  std::int64_t f;       ///< of the inner layer of a transformer; 0: a recurrent model
  std::int64_t layers;  ///< of the decoder
  std::int64_t heads;   ///< of a decoder that attends to its own words; 0 if it does not
};

std::vector<Architecture> architectures() {
  const std::string data = FUSELAGE_TEST_DATA;
  return {{data + "/transformer-ssru/model.npz", 32, 64, 2, 0},
          {data + "/transformer-post/model.npz", 32, 64, 2, 4},
          {data + "/nematus/model.npz", 48, 0, 1, 0},
          {std::string(FUSELAGE_SOURCE_DIR) + "/models/en-de", 256, 0, 1, 0}};
}

struct BoundedBatch {
  std::int64_t sentences, length, beam;

  std::int64_t tokens() const { return sentences * length; }
  std::int64_t hypotheses() const { return sentences * beam; }
  std::int64_t words() const { return hypotheses() * 3 * length; }
};

/// Most bytes that the values of a batch take in one worker.
std::int64_t batch_bound(const Architecture& model, KvCache kv_cache, const BoundedBatch& batch) {
  const bool recurrent = model.f == 0;
  const std::int64_t token =
      recurrent ? 80 * model.d : 8 * model.layers * model.d + 24 * model.d + 12 * model.f;
  const std::int64_t hypothesis = 120 * model.d + 16 * model.f + 16 * batch.beam;
  const std::int64_t keys_and_values =
      kv_cache == KvCache::int8 ? 2 * model.d + 8 * model.heads : 8 * model.d;
  const std::int64_t word = model.heads > 0 ? model.layers * keys_and_values : 0;
  return token * batch.tokens() + hypothesis * batch.hypotheses() +
         4 * batch.beam * batch.tokens() + word * batch.words();
}

void begin(Worker& worker, const BoundedBatch& batch, std::int32_t words) {
  const std::vector<WordIds> sentences(static_cast<std::size_t>(batch.sentences),
                                       WordIds(static_cast<std::size_t>(batch.length), 1));
  StepLimits limits;
  limits.hypotheses.assign(sentences.size(), static_cast<std::int32_t>(batch.beam));
  limits.steps.assign(sentences.size(), words);
  worker.begin(sentences, limits);
}

std::size_t values_of(const Executable& executable, const BoundedBatch& batch) {
  const auto worker = executable.make_worker();
  begin(*worker, batch, static_cast<std::int32_t>(3 * batch.length));
  return worker->arena_bytes(BindingTime::source) + worker->arena_bytes(BindingTime::step);
}

std::unique_ptr<Executable> compiled(const Model& model, Precision precision, KvCache kv_cache,
                                     std::int64_t beam) {
  return compile(with_search_head(model.graph, SearchHead::k_best, {.k = beam}), model.weights,
                 {.precision = precision, .kv_cache = kv_cache});
}

TEST(MemoryBounds, HoldForTheValuesOfABatch) {
  for (const Architecture& one : architectures())
    for (const auto& [precision, kv_cache] : {std::pair{Precision::fp32, KvCache::fp32},
                                              {Precision::int8, KvCache::fp32},
                                              {Precision::int8, KvCache::int8}})
      for (const std::int64_t beam : {1, 6, 12}) {
        const Model model = load_model(one.path);
        const auto executable = compiled(model, precision, kv_cache, beam);
        for (const std::int64_t sentences : {1, 16, 64})
          for (const std::int64_t length : {1, 10, 30}) {
            const BoundedBatch batch{sentences, length, beam};
            const std::size_t taken = values_of(*executable, batch);
            EXPECT_LE(taken, static_cast<std::size_t>(batch_bound(one, kv_cache, batch)))
                << one.path << ' ' << to_string(precision) << " beam " << beam << ", " << sentences
                << " sentences of " << length;
          }
      }
}

TEST(MemoryBounds, OfAnImpossibleBatchAreSaid) {
#ifdef FUSELAGE_SANITIZED
  GTEST_SKIP() << "a sanitizer's allocator ends the process instead";
#endif
  const auto executable =
      compiled(load_model(architectures()[1].path), Precision::fp32, KvCache::fp32, 1);
  const auto worker = executable->make_worker();
  const auto message = [&](std::int64_t beam, std::int32_t words) -> std::string {
    try {
      begin(*worker, {.sentences = 2, .length = 3, .beam = beam}, words);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(
      message(1 << 20, 1 << 30),
      MatchesRegex("there is no memory for [0-9]+\\.[0-9] MB, which a batch of 2 sentences of "
                   "6 words needs with 2097152 hypotheses of at most 1073741824 words; .*"));
  EXPECT_EQ(message(1, 3), "") << "the worker goes on";
}

TEST(MemoryBounds, HoldForLoadingTheBundledModel) {
#ifdef FUSELAGE_SANITIZED
  GTEST_SKIP() << "sanitizers have memory of their own";
#endif
  if (process_memory().peak == 0) GTEST_SKIP() << "this system does not tell";
  const std::string path = architectures().back().path;
  std::uint64_t parameters = 0;
  for (const auto& [name, tensor] : load_model(path).weights)
    parameters += static_cast<std::uint64_t>(tensor.size());
  for (const Precision precision : {Precision::fp32, Precision::int8}) {
    EXPECT_EXIT(
        {
          // A process begins with the peak that its parent has at that time.
          const std::uint64_t before = process_memory().resident;
          compiled(load_model(path), precision, KvCache::fp32, 6);
          const std::uint64_t taken = process_memory().peak - before;
          const std::uint64_t bound = 40'000'000 + 12 * parameters + 64'000'000;
          fmt::print(stderr, "{} of {} bytes\n", taken, bound);
          std::exit(taken <= bound ? 0 : 1);
        },
        ::testing::ExitedWithCode(0), "of [0-9]+ bytes")
        << to_string(precision);
  }
}

}  // namespace
}  // namespace fuselage
