#include <gmock/gmock.h>

#include <algorithm>
#include <limits>

#include "backends/cuda/device/executor/cuda_executable.h"
#include "backends/reference/backend.h"
#include "emulated_cuda/control.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/beam_search.h"
#include "fuselage/decoding/search_head.h"
#include "reference_kernels.h"
#include "tests/backends/support.h"

namespace fuselage::cuda::executable_search_test {
namespace {

using support::random_sentences;
using support::ToyModel;
using ::testing::HasSubstr;

SearchOptions options_with(std::int32_t beam_size) {
  return {.beam_size = beam_size, .normalize = 0.6f, .max_length_factor = 2, .suppressed = {3, 7}};
}

/// A toy model with a search head.
struct SearchModel {
  explicit SearchModel(const SearchOptions& options)
      : toy(support::toy_model(1)),
        graph(with_search_head(
            toy.graph, SearchHead::k_best,
            {.k = BeamSearch::candidates_per_row(options), .alignment = options.alignment})) {}

  std::unique_ptr<Executable> on_reference() const { return compile_reference(graph, toy.weights); }
  std::unique_ptr<Executable> on_cuda(bool eager = false,
                                      const std::vector<int>& devices = {0}) const {
    return make_cuda_executable(split_by_binding_time(graph), toy.weights, {.eager = eager},
                                reference_kernels(), reference_registry(), devices);
  }

  ToyModel toy;
  Graph graph;
};

void expect_same(const std::vector<NBest>& a, const std::vector<NBest>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t s = 0; s < a.size(); ++s) {
    ASSERT_EQ(a[s].size(), b[s].size()) << "sentence " << s;
    for (std::size_t i = 0; i < a[s].size(); ++i) {
      EXPECT_EQ(a[s][i].words, b[s][i].words) << "sentence " << s << " hypothesis " << i;
      EXPECT_EQ(a[s][i].word_scores, b[s][i].word_scores);
      EXPECT_EQ(a[s][i].score, b[s][i].score);
      EXPECT_EQ(a[s][i].alignment, b[s][i].alignment);
    }
  }
}

TEST(CudaExecutableSearch, FindsWhatTheHostFinds) {
  for (const std::int32_t beam_size : {1, 4}) {
    const SearchOptions options = options_with(beam_size);
    const SearchModel model(options);
    const auto reference = model.on_reference();
    BeamSearch expected(*reference, options);
    for (const bool eager : {true, false}) {
      const auto cuda = model.on_cuda(eager);
      BeamSearch search(*cuda, options);
      for (const int count : {1, 6, 3, 6}) {
        const auto sentences = random_sentences(static_cast<unsigned>(count), count, 7);
        expect_same(search.search(sentences), expected.search(sentences));
      }
    }
  }
}

TEST(CudaExecutableSearch, LeavesAlignmentsToTheHost) {
  SearchOptions options = options_with(3);
  options.alignment = true;
  const SearchModel model(options);
  const auto reference = model.on_reference();
  const auto cuda = model.on_cuda();
  const auto sentences = random_sentences(5, 4, 6);
  expect_same(BeamSearch(*cuda, options).search(sentences),
              BeamSearch(*reference, options).search(sentences));
}

TEST(CudaExecutableSearch, TakesNoMemoryForBatchesThatItHasSeen) {
  const SearchOptions options = options_with(4);
  const auto cuda = SearchModel(options).on_cuda();
  BeamSearch search(*cuda, options);
  const auto sentences = random_sentences(6, 5, 8);
  search.search(sentences);
  const auto before = emulated_cuda::allocations();
  search.search(sentences);
  search.search({sentences.begin(), sentences.begin() + 2});
  EXPECT_EQ(emulated_cuda::allocations(), before);
}

TEST(CudaExecutableSearch, AWorkerSurvivesThatMemoryIsShort) {
  const SearchOptions options = options_with(4);
  const SearchModel model(options);
  const auto reference = model.on_reference();
  const auto cuda = model.on_cuda();
  const auto few = random_sentences(6, 2, 4);
  const auto expected = BeamSearch(*reference, options).search(few);
  int failures = 0;
  for (bool failed = true; failed; failures += failed) {
    BeamSearch search(*cuda, options);
    for (int i = 0; i < 2; ++i) search.search(few);
    emulated_cuda::fail_allocation(failures + 1);
    failed = false;
    try {
      search.search(random_sentences(7, 4, 8));
    } catch (const Error&) {
      failed = true;
    }
    emulated_cuda::fail_allocation(0);
    for (int i = 0; i < 2; ++i) expect_same(search.search(few), expected);
  }
  EXPECT_GT(failures, 10) << "allocations of the larger batch";
}

TEST(CudaExecutableSearch, DividesWorkersAmongDevices) {
  const SearchOptions options = options_with(4);
  const SearchModel model(options);
  const auto sentences = random_sentences(6, 5, 8);
  const auto expected = BeamSearch(*model.on_reference(), options).search(sentences);
  for (const std::vector<int>& devices : {std::vector<int>{0, 1}, {1, 0}, {1, 1}}) {
    const auto cuda = model.on_cuda(false, devices);
    EXPECT_EQ(cuda->devices(), 2u);
    EXPECT_EQ(cuda->notes().size(), 2u);
    BeamSearch first(*cuda, options, 0), second(*cuda, options, 1);
    for (int i = 0; i < 4; ++i)
      for (BeamSearch* search : {&first, &second}) expect_same(search->search(sentences), expected);
  }
  EXPECT_EQ(model.on_cuda(false, {0, 1})->memory().rows, 2 * model.on_cuda()->memory().rows);
  EXPECT_THROW(model.on_cuda(false, {0, 2}), Error);
}

TEST(CudaExecutableSearch, GivesMemoryBackThatABatchCannotUse) {
  const SearchOptions options = options_with(4);
  const SearchModel model(options);
  const auto reference = model.on_reference();
  const auto sentences = random_sentences(6, 64, 8);
  const auto few = random_sentences(6, 32, 8);
  const auto expected = BeamSearch(*reference, options).search(few);
  const auto cuda = model.on_cuda();
  std::size_t needed = 0;
  {
    BeamSearch search(*cuda, options);
    const std::size_t before = emulated_cuda::memory_in_use();
    search.search(sentences);
    needed = emulated_cuda::memory_in_use() - before;
  }
  BeamSearch search(*cuda, options);
  // Nearly enough: most of it is taken before an allocation fails.
  for (const std::size_t percent : {95, 75, 60}) {
    const std::size_t before = emulated_cuda::memory_in_use();
    emulated_cuda::set_memory(before + needed * percent / 100);
    EXPECT_THROW(search.search(sentences), OutOfMemory) << percent;
    EXPECT_NO_FATAL_FAILURE(expect_same(search.search(few), expected)) << percent;
    emulated_cuda::set_memory(0);
    search = BeamSearch(*cuda, options);
  }
}

TEST(CudaExecutableSearch, NeedsNoMemoryOfEarlierBatches) {
  const SearchOptions options = options_with(4);
  const SearchModel model(options);
  const auto cuda = model.on_cuda();
  const auto long_ones = random_sentences(6, 4, 60), many = random_sentences(7, 200, 2);
  std::size_t needed = 0;
  for (const auto& sentences : {long_ones, many}) {
    BeamSearch search(*cuda, options);
    const std::size_t before = emulated_cuda::memory_in_use();
    search.search(sentences);
    needed = std::max(needed, emulated_cuda::memory_in_use() - before);
  }
  BeamSearch search(*cuda, options);
  emulated_cuda::set_memory(emulated_cuda::memory_in_use() + needed);
  EXPECT_NO_THROW(search.search(long_ones));
  EXPECT_NO_THROW(search.search(many)) << "it fits alone";
  EXPECT_NO_THROW(search.search(long_ones));
  emulated_cuda::set_memory(0);
}

std::string error_of(BeamSearch& search, const std::vector<WordIds>& sentences) {
  try {
    search.search(sentences);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(CudaExecutableSearch, NamesTheNodeWhoseNumbersAreNone) {
  const SearchOptions options = options_with(2);
  const auto sentences = random_sentences(7, 3, 6);
  for (const char* weight : {"wc", "attended"}) {
    SearchModel model(options);
    model.toy.weights.at(weight).mutable_data<float>()[5] = std::numeric_limits<float>::quiet_NaN();
    const auto cuda = model.on_cuda();
    BeamSearch search(*cuda, options);
    const std::string message = error_of(search, sentences);
    EXPECT_THAT(message, HasSubstr("not numbers after 0 words"));
    EXPECT_THAT(message, HasSubstr("not finite is that of matmul"));
    EXPECT_EQ(error_of(search, sentences), message) << "the worker is good for the next batch";
  }
}

}  // namespace
}  // namespace fuselage::cuda::executable_search_test
