// The search loop allocates nothing: counted by replacing the global allocation functions of this
// program, between the first step of a search and its last.

#include <gmock/gmock.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <new>

#include "decoding/sampling_streams.h"
#include "fuselage/backends/compile.h"
#include "fuselage/decoding/beam_search.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/models/architectures/ensemble.h"
#include "models/marian/marian_loader.h"
#include "text/vocabulary.h"

namespace {

std::atomic<std::size_t> allocations{0};

void* counted(std::size_t size, std::size_t alignment) {
  ++allocations;
  void* p = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (!p) throw std::bad_alloc();
  return p;
}

}  // namespace

void* operator new(std::size_t size) { return counted(size, alignof(std::max_align_t)); }
void* operator new[](std::size_t size) { return counted(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return operator new(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return operator new[](size);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace fuselage {
namespace {

/// Passes everything on, and notes the number of allocations when a step begins and ends.
class CountingWorker : public Worker {
 public:
  CountingWorker(std::unique_ptr<Worker> worker, std::vector<std::size_t>& counts)
      : worker_(std::move(worker)), counts_(counts) {}

  void begin(const Batch& batch, const StepLimits& limits) override {
    worker_->begin(batch, limits);
  }
  void step(const StepInput& input) override {
    counts_.push_back(allocations);
    worker_->step(input);
    counts_.push_back(allocations);
  }
  OutputRows<float> floats(std::size_t output) const override { return worker_->floats(output); }
  OutputRows<std::int32_t> integers(std::size_t output) const override {
    return worker_->integers(output);
  }

 private:
  std::unique_ptr<Worker> worker_;
  std::vector<std::size_t>& counts_;
};

class CountingExecutable : public Executable {
 public:
  CountingExecutable(std::unique_ptr<Executable> executable, std::vector<std::size_t>& counts)
      : executable_(std::move(executable)), counts_(counts) {}

  std::unique_ptr<Worker> make_worker(std::size_t device) const override {
    return std::make_unique<CountingWorker>(executable_->make_worker(device), counts_);
  }
  std::size_t output(std::string_view name) const override { return executable_->output(name); }

 private:
  std::unique_ptr<Executable> executable_;
  std::vector<std::size_t>& counts_;
};

/// Every other word of the vocabulary, for one sentence more of them than for the next.
std::vector<WordIds> some_shortlists(std::size_t sentences, WordId words) {
  std::vector<WordIds> lists(sentences);
  for (std::size_t s = 0; s < sentences; ++s)
    for (WordId word = 0; word < words; word += 2 + static_cast<WordId>(s))
      lists[s].push_back(word);
  return lists;
}

class SearchLoop : public ::testing::TestWithParam<std::string> {
 protected:
  enum class With : std::uint8_t { nothing, shortlists, ensembles, prefixes, samples };
  void expect_no_allocations(With with) const;
};

INSTANTIATE_TEST_SUITE_P(Allocations, SearchLoop,
                         ::testing::Values("nematus", "transformer-post", "transformer-ssru"),
                         [](const auto& model) {
                           std::string name = model.param;
                           for (char& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

constexpr Sampling kNucleus{.method = SamplingMethod::nucleus, .temperature = 0.9};

/// An ensemble of a model and itself.
Model two_of(const std::string& path) {
  std::vector<EnsembleMember> members;
  for (const char* name : {"first", "second"}) members.push_back({load_marian(path), 0.5, name});
  return make_ensemble(std::move(members));
}

void SearchLoop::expect_no_allocations(With with) const {
  const std::string data = FUSELAGE_TEST_DATA;
  const auto vocabulary = load_vocabulary(data + "/vocab.yml");
  const Model model = with == With::ensembles ? two_of(data + "/" + GetParam() + "/model.npz")
                                              : load_marian(data + "/" + GetParam() + "/model.npz");
  const bool listed = with == With::shortlists || with == With::ensembles;
  const bool samples = with == With::samples;
  SearchOptions options{.beam_size = samples ? 1 : 6,
                        .normalize = 0.6f,
                        .max_length_factor = 2,
                        .end_id = vocabulary->end_id(),
                        .suppressed = {vocabulary->unknown_id()},
                        .alignment = true,
                        .models = with == With::ensembles ? 2u : 0u,
                        .guided = with == With::prefixes};
  std::vector<std::size_t> counts;
  counts.reserve(10000);
  const CountingExecutable executable(
      compile(with_search_head(model.graph, SearchHead::k_best,
                               {.k = BeamSearch::candidates_per_row(options),
                                .shortlist = listed,
                                .members = options.models > 0,
                                .listed = options.guided,
                                .sampling = samples ? std::optional(kNucleus) : std::nullopt,
                                .suppressed = options.suppressed}),
              model.weights),
      counts);
  std::ifstream input(data + "/" + GetParam() + "/input.sp.en");
  std::vector<WordIds> sentences;
  for (std::string line; std::getline(input, line);) sentences.push_back(vocabulary->encode(line));
  ASSERT_GT(sentences.size(), 10u);

  BeamSearch search(executable, options);
  std::vector<WordIds> shortlists;
  if (listed) shortlists = some_shortlists(sentences.size(), vocabulary->size());
  std::vector<SearchGuide> guides;
  if (with == With::prefixes)
    for (const WordIds& sentence : sentences)
      guides.push_back({.prefix = WordIds(sentence.size() % 5, 7)});
  SamplingStreams streams(std::vector<std::uint64_t>(sentences.size(), 1));
  Batch batch{.sentences = sentences, .shortlists = shortlists};
  if (samples) batch = streams.added_to(batch);
  if (with != With::nothing) {
    // A thread has memory for a row's probabilities and for products with lists from its first step
    // on.
    search.search(batch, guides);
    counts.clear();
  }
  const std::vector<NBest> translations = search.search(batch, guides);
  ASSERT_EQ(translations.size(), sentences.size());
  ASSERT_GT(counts.size(), 20u);
  EXPECT_GT(counts.front(), 0u) << "the counter is not connected";
  EXPECT_EQ(counts.back() - counts.front(), 0u) << "over " << counts.size() / 2 << " steps";
}

TEST_P(SearchLoop, AllocatesNothing) { expect_no_allocations(With::nothing); }

TEST_P(SearchLoop, AllocatesNothingWithShortlists) { expect_no_allocations(With::shortlists); }

TEST_P(SearchLoop, AllocatesNothingWithAnEnsembleAndShortlists) {
  expect_no_allocations(With::ensembles);
}

TEST_P(SearchLoop, AllocatesNothingForSamples) { expect_no_allocations(With::samples); }

TEST_P(SearchLoop, AllocatesNothingWithPrefixes) { expect_no_allocations(With::prefixes); }

}  // namespace
}  // namespace fuselage
