#include <gmock/gmock.h>

#include <functional>
#include <numeric>
#include <optional>
#include <random>

#include "backends/cuda/device/rows/device_row_memory.h"
#include "backends/cuda/device/search/beam_search.h"
#include "backends/cuda/layout.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/beam_search.h"
#include "tests/cuda/device_array.h"
#include "tests/cuda/hash_scores.h"

namespace fuselage::cuda {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// The declarations of a decoder with embeddings of words and a state of its parents.
Graph decoder(std::int64_t vocabulary) {
  Graph graph("decoder");
  const DomainId words = graph.add_vocabulary("words", vocabulary);
  const DomainId sentences = graph.add_sentences("sentences");
  const DomainId parents = graph.add_parents("parents", sentences);
  const DomainId hypotheses = graph.add_hypotheses("hypotheses", parents);
  graph.add_word_map("word", hypotheses, words, true);
  return graph;
}

/// A worker that searches on the device. The host computes the scores, from the rows that a step
/// program would read. With fewer slots than sentences, sentences wait until a slot is free.
class DeviceWorker : public HashWorker {
 public:
  DeviceWorker(const ScoreShape& shape, std::int64_t vocabulary, std::size_t places = 1000)
      : HashWorker(shape),
        shape_(shape),
        places_(places),
        graph_(decoder(vocabulary)),
        frame_(graph_),
        memory_(graph_),
        search_(graph_) {}

  void begin(const Batch& batch, const StepLimits& limits) override {
    HashWorker::begin(batch, limits);
    frame_.begin_batch(batch);
    frame_.reserve_steps(limits);
    const Layout layout = layout_of(frame_, batch.size(), limits);
    if (max_.holds(layout)) return;
    max_ = joined(max_, layout);
    memory_.place(max_);
    rows_ = memory_.rows(max_.rows);
    const auto rows = static_cast<std::size_t>(rows_[domain("hypotheses")].max_live);
    const auto size = rows * static_cast<std::size_t>(shape_.columns);
    scores_.emplace(size, NAN);
    words_.emplace(size, -1);
    begin_step_.reset();
  }

  bool search(const SearchSettings& settings, SearchRecord& record) override {
    start(settings);
    std::vector<SearchRecord::Finished> finished;
    while (refill(settings, record, finished) || live_rows() > 0) {
      begin_step_->launch(stream_);
      run_model();
      end_step_->launch(stream_);
    }
    const std::int32_t steps = status_.steps;
    for (int surplus = 0; surplus < 2; ++surplus) {
      begin_step_->launch(stream_);
      end_step_->launch(stream_);
    }
    EXPECT_EQ(live_rows(), 0);
    EXPECT_EQ(status_.steps, steps);
    search_.read(stream_.get(), record);
    collect(record, finished);
    record.finished = finished;
    return true;
  }

 private:
  /// Begins the search with the first sentences.
  void start(SearchSettings settings) {
    std::vector<std::int32_t>& limits = settings.length_limits;
    const auto all = std::accumulate(limits.begin(), limits.end(), 0);
    limits.resize(std::min(limits.size(), places_));
    occupants_.resize(limits.size());
    std::iota(occupants_.begin(), occupants_.end(), 0);
    const bool moved =
        search_.reserve({.sentences = static_cast<std::int32_t>(limits.size()),
                         .beam_size = settings.beam_size,
                         .steps = all,
                         .suppressed = static_cast<std::int32_t>(settings.suppressed.size())});
    if (moved || !begin_step_) capture();
    search_.begin(stream_.get(), settings, static_cast<std::int32_t>(limits.size()));
    next_ = limits.size();
  }

  /// Refills the slots of ended sentences. Returns whether any was refilled.
  bool refill(const SearchSettings& settings, SearchRecord& record,
              std::vector<SearchRecord::Finished>& finished) {
    std::vector<DeviceSearch::Slot> slots;
    if (next_ < settings.length_limits.size())
      for (const std::int32_t ended : search_.ended(stream_.get()))
        if (const std::size_t next = next_ + slots.size(); next < settings.length_limits.size())
          slots.push_back({ended, settings.length_limits[next]});
    if (slots.empty()) return false;
    search_.refill(stream_.get(), slots, record);
    collect(record, finished);
    for (const DeviceSearch::Slot& slot : slots)
      occupants_[static_cast<std::size_t>(slot.sentence)] = static_cast<std::int32_t>(next_++);
    return true;
  }

  /// Appends finished hypotheses, with slots replaced by their sentences.
  void collect(const SearchRecord& record, std::vector<SearchRecord::Finished>& finished) const {
    for (SearchRecord::Finished hypothesis : record.finished) {
      hypothesis.sentence = occupants_[static_cast<std::size_t>(hypothesis.sentence)];
      finished.push_back(hypothesis);
    }
  }

  void capture() {
    begin_step_.emplace(stream_, [&] { search_.enqueue_rows(stream_.get(), rows_); });
    end_step_.emplace(stream_, [&] {
      search_.enqueue_expand(
          stream_.get(),
          {.data = scores_->data(), .stride = shape_.columns, .columns = shape_.columns},
          {.data = words_->data(), .stride = shape_.columns, .columns = shape_.columns});
    });
  }

  DomainId domain(std::string_view name) const { return graph_.find_domain(name); }

  std::vector<std::int32_t> on_device(const std::int32_t* data, std::int32_t count) const {
    std::vector<std::int32_t> values(static_cast<std::size_t>(count));
    expect_success(
        cudaMemcpy(values.data(), data, values.size() * sizeof(std::int32_t), cudaMemcpyDefault),
        "copy from the device");
    return values;
  }

  std::int32_t live_rows() {
    search_.enqueue_status(stream_.get(), &status_);
    stream_.synchronize();
    return status_.live_rows;
  }

  void run_model() {
    stream_.synchronize();
    const DomainId parents = domain("parents"), hypotheses = domain("hypotheses");
    const std::int32_t parent_count = on_device(&rows_[parents].counts->live, 1)[0];
    const std::int32_t count = on_device(&rows_[hypotheses].counts->live, 1)[0];
    const auto index = [&](DomainId id) {
      return rows_[graph_.map_of(id, MapKind::structural)].index;
    };
    std::vector<std::int32_t> parent_sentence = on_device(index(parents), parent_count);
    for (std::int32_t& sentence : parent_sentence)
      sentence = occupants_[static_cast<std::size_t>(sentence)];
    step({.parents = on_device(rows_[parents].previous, parent_count),
          .parent_sentence = parent_sentence,
          .hypothesis_parent = on_device(index(hypotheses), count),
          .words = on_device(rows_[graph_.find_map("word")].index, count),
          .positions = on_device(rows_[hypotheses].positions, count)});
    upload(floats(0), scores_->data());
    upload(integers(0), words_->data());
  }

  template <typename T>
  void upload(const OutputRows<T>& rows, T* to) {
    const std::size_t bytes = static_cast<std::size_t>(rows.rows * rows.cols) * sizeof(T);
    expect_success(cudaMemcpyAsync(to, rows.data, bytes, cudaMemcpyHostToDevice, stream_.get()),
                   "copy to the device");
  }

  ScoreShape shape_;
  std::size_t places_;
  Graph graph_;
  RowFrame frame_;
  Stream stream_;
  DeviceRowMemory memory_;
  DeviceSearch search_;
  DeviceSearch::Status status_;
  std::vector<std::int32_t> occupants_;  ///< sentences by slot
  std::size_t next_ = 0;                 ///< first waiting sentence
  Layout max_;
  DeviceRows rows_;
  std::optional<DeviceArray<float>> scores_;
  std::optional<DeviceArray<std::int32_t>> words_;
  std::optional<CapturedWork> begin_step_, end_step_;
};

class FakeExecutable : public Executable {
 public:
  explicit FakeExecutable(std::function<std::unique_ptr<Worker>()> make) : make_(std::move(make)) {}
  std::unique_ptr<Worker> make_worker(std::size_t) const override { return make_(); }
  std::size_t output(std::string_view) const override { return 0; }

 private:
  std::function<std::unique_ptr<Worker>()> make_;
};

/// A search on the host and a search on the device, with the same scores.
class BothSearches {
 public:
  BothSearches(const ScoreShape& shape, const SearchOptions& options, std::size_t places = 1000)
      : host_(FakeExecutable([&] { return std::make_unique<HashWorker>(shape); }), options),
        device_(FakeExecutable([&] {
                  return std::make_unique<DeviceWorker>(shape, shape.vocabulary, places);
                }),
                options) {}

  void expect_same(const std::vector<WordIds>& sentences) {
    std::string host_error, device_error;
    const auto host = run(host_, sentences, host_error);
    const auto device = run(device_, sentences, device_error);
    EXPECT_EQ(host_error, device_error);
    ASSERT_EQ(host.size(), device.size());
    for (std::size_t s = 0; s < host.size(); ++s) {
      ASSERT_EQ(host[s].size(), device[s].size()) << "sentence " << s;
      for (std::size_t i = 0; i < host[s].size(); ++i) {
        EXPECT_EQ(host[s][i].words, device[s][i].words) << "sentence " << s << ", " << i;
        EXPECT_EQ(host[s][i].word_scores, device[s][i].word_scores);
        EXPECT_EQ(host[s][i].log_probability, device[s][i].log_probability);
        EXPECT_EQ(host[s][i].score, device[s][i].score);
        hypotheses_ += 1;
      }
    }
    errors_ += host_error.empty() ? 0 : 1;
  }

  int hypotheses() const { return hypotheses_; }
  int errors() const { return errors_; }

 private:
  static std::vector<NBest> run(BeamSearch& search, const std::vector<WordIds>& sentences,
                                std::string& error) {
    try {
      return search.search(sentences);
    } catch (const Error& e) {
      error = e.what();
      return {};
    }
  }

  BeamSearch host_, device_;
  int hypotheses_ = 0, errors_ = 0;
};

std::vector<WordIds> some_sentences(int count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<WordIds> sentences;
  for (int s = 0; s < count; ++s) {
    WordIds words(random() % 4 + 1);
    for (std::int32_t& word : words) word = static_cast<std::int32_t>(random() % 1000);
    sentences.push_back(words);
  }
  return sentences;
}

using SearchTest = CudaTest;

/// Batches of various sizes, one after the other, with the same search.
void compare(const ScoreShape& shape, const SearchOptions& options,
             std::initializer_list<int> batches = {1, 5, 17, 2}, std::size_t places = 1000) {
  BothSearches searches(shape, options, places);
  for (const int sentences : batches) {
    searches.expect_same(some_sentences(sentences, static_cast<std::uint32_t>(sentences)));
    if (::testing::Test::HasFailure()) break;
  }
  EXPECT_GT(searches.hypotheses(), 0);
  EXPECT_EQ(searches.errors(), 0);
}

TEST_F(SearchTest, IsThatOfTheHostForAnyBeam) {
  for (const std::int32_t beam : {1, 2, 6})
    compare({.vocabulary = 40, .columns = beam}, {.beam_size = beam, .normalize = 0.6f},
            {1, 17, 3});
}

TEST_F(SearchTest, IsThatOfTheHostForALargeBeam) {
  compare({.vocabulary = 90, .columns = 65},
          {.beam_size = 64, .word_penalty = 0.2f, .max_length_factor = 2, .suppressed = {3}},
          {3, 1});
}

TEST_F(SearchTest, IsThatOfTheHostForManySentences) {
  compare({.vocabulary = 20, .columns = 2}, {.beam_size = 2}, {33, 50});
}

TEST_F(SearchTest, BreaksTiesAsTheHostDoes) {
  for (const std::uint32_t levels : {1u, 2u, 5u})
    compare({.vocabulary = 12, .columns = 6, .levels = levels}, {.beam_size = 6}, {1, 7});
}

TEST_F(SearchTest, GivesThePlacesOfSentencesThatEndedToOthers) {
  for (const std::size_t places : {1u, 3u, 17u})
    for (const std::int32_t beam : {1, 4})
      compare({.vocabulary = 30, .columns = beam}, {.beam_size = beam, .max_length_factor = 2},
              {1, 5, 40}, places);
}

TEST_F(SearchTest, CutsWhatIsTooLong) {
  for (const float factor : {0.1f, 1.0f, 1.5f, 6.0f})
    compare({.vocabulary = 50, .columns = 4},
            {.beam_size = 4, .max_length_factor = factor, .end_id = 7}, {1, 6});
  // Without an end symbol all hypotheses end at the length limit.
  compare({.vocabulary = 50, .columns = 4}, {.beam_size = 4, .end_id = 999}, {1, 6});
}

TEST_F(SearchTest, LeavesOutSuppressedWords) {
  compare({.vocabulary = 9, .columns = 9}, {.beam_size = 4, .suppressed = {8, 1, 5, 2, 77}});
}

TEST_F(SearchTest, TakesFewerWordsThanTheBeamIsWide) {
  compare({.vocabulary = 3, .columns = 2}, {.beam_size = 6});
  compare({.vocabulary = 3, .columns = 6}, {.beam_size = 6});  // some are no words
  compare({.vocabulary = 2, .columns = 1}, {.beam_size = 5});
}

TEST_F(SearchTest, LeavesOutWhatIsImpossible) {
  for (const std::uint32_t impossible : {2u, 3u})
    compare({.vocabulary = 16, .columns = 16, .impossible = impossible}, {.beam_size = 9}, {1, 6});
}

TEST_F(SearchTest, FailsWhereTheHostFails) {
  int errors = 0;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    BothSearches searches({.vocabulary = 3, .columns = 3, .impossible = 2, .seed = seed},
                          {.beam_size = 2, .max_length_factor = 5, .end_id = 2});
    for (const int sentences : {1, 2, 5})
      searches.expect_same(some_sentences(sentences, static_cast<std::uint32_t>(seed)));
    errors += searches.errors();
  }
  EXPECT_GT(errors, 2);
  EXPECT_LT(errors, 18);
  BothSearches searches({.vocabulary = 9, .columns = 2}, {.beam_size = 2, .suppressed = {0, 1}});
  searches.expect_same(some_sentences(2, 1));
}

TEST_F(SearchTest, RefusesWordsThatCannotBeLookedUp) {
  const ScoreShape shape{.vocabulary = 40, .columns = 5};
  BeamSearch search(FakeExecutable([&] { return std::make_unique<DeviceWorker>(shape, 10); }),
                    {.beam_size = 5});
  EXPECT_THAT([&] { search.search(some_sentences(4, 1)); },
              ThrowsMessage<Error>(HasSubstr("target embeddings have 10 entries")));
}

}  // namespace
}  // namespace fuselage::cuda
