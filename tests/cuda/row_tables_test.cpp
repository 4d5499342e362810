#include "backends/cuda/device/rows/row_tables.h"

#include <gmock/gmock.h>

#include <random>

#include "backends/cuda/device/rows/device_row_memory.h"
#include "backends/cuda/layout.h"
#include "fuselage/base/error.h"
#include "tests/cuda/device_array.h"

namespace fuselage::cuda {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// The declarations of a decoder, `copies` times.
Graph declarations(int copies) {
  Graph graph("test");
  const DomainId words = graph.add_vocabulary("words", 50);
  const DomainId places = graph.add_vocabulary("places", 5);
  const DomainId sentences = graph.add_sentences("sentences");
  for (int i = 0; i < copies; ++i) {
    const auto name = [&](const char* base) { return base + std::to_string(i); };
    const DomainId source = graph.add_source(name("source"), sentences);
    const DomainId shortlist = graph.add_shortlist(name("shortlist"), sentences);
    const DomainId parents = graph.add_parents(name("parents"), sentences);
    const DomainId hypotheses = graph.add_hypotheses(name("hypotheses"), parents);
    const DomainId prefix = graph.add_prefix(name("prefix"), hypotheses);
    graph.add_pairs(name("attention"), hypotheses, source);
    graph.add_pairs(name("shared_attention"), parents, source);
    graph.add_pairs(name("listed"), hypotheses, shortlist);
    const DomainId self = graph.add_pairs(name("self_attention"), hypotheses, prefix);
    const DomainId window =
        graph.add_pairs(name("window"), hypotheses, prefix, {.first = -2, .last = 0});
    graph.add_neighbour_map(name("before"), prefix, -1);
    graph.add_neighbour_map(name("third"), prefix, -3);
    graph.add_position_map(name("place"), hypotheses, places, -1);
    graph.add_distance_map(name("distance"), self, places, {.causal = true});
    graph.add_distance_map(name("distance_in_window"), window, places, {});
    graph.add_word_map(name("word"), hypotheses, words, true);
    graph.add_word_map(name("same_word"), hypotheses, words, true);
    graph.add_word_map(name("source_word"), source, words, false);
  }
  return graph;
}

/// A batch with a random search, on the host and on the device.
class RandomSearch {
 public:
  RandomSearch(const Graph& graph, std::uint32_t seed)
      : random_(seed), graph_(graph), frame_(graph), memory_(graph) {
    const int sentences = below(17) + 1;
    beam_ = std::array{1, 2, 6, 40}[static_cast<std::size_t>(below(4))];
    for (int s = 0; s < sentences; ++s) {
      sentences_.emplace_back(static_cast<std::size_t>(below(9) + 1), below(50));
      shortlists_.emplace_back(static_cast<std::size_t>(below(30)), below(50));
      limits_.hypotheses.push_back(beam_);
      limits_.steps.push_back(below(12) + 1);
      live_.push_back({s, -1, -1, -1, 0, 0});
    }
    frame_.begin_batch(sentences_, shortlists_);
    frame_.reserve_steps(limits_);
  }

  /// Reserves memory in `tables` and on the device.
  void begin(RowTables& tables, const Stream& stream) {
    const Layout layout = layout_of(frame_, sentences_.size(), limits_);
    memory_.place(layout);
    memory_.upload_source(frame_, stream);
    rows_ = memory_.rows(layout.rows);
    const auto most = *std::max_element(limits_.steps.begin(), limits_.steps.end());
    const auto sentences = static_cast<std::int32_t>(sentences_.size());
    tables.reserve({sentences, sentences * beam_, std::int64_t{sentences} * beam_ * most});
    tables.begin(stream.get());
  }

  bool lives() const { return !live_.empty(); }
  DeviceRows& device_rows() { return rows_; }

  /// Makes the rows of a step on the host and on the device.
  void run_step(const RowTables& tables, const Stream& stream) {
    step_on_host();
    std::vector<std::int32_t> begin(sentences_.size() + 1, 0);
    for (const LiveHypothesis& row : live_) ++begin[static_cast<std::size_t>(row.sentence) + 1];
    for (std::size_t s = 0; s < sentences_.size(); ++s) begin[s + 1] += begin[s];
    std::vector<LiveHypothesis> live = live_;
    live.resize(live.size() + 1, {-1000, -1000, -1000, -1000, -1000, 0});
    const DeviceArray<LiveHypothesis> device_live(live);
    const DeviceArray<std::int32_t> device_begin(begin);
    const DeviceArray<std::int32_t> count(1, static_cast<std::int32_t>(sentences_.size()));
    // A bound above the number of sentences.
    tables.enqueue(stream.get(), rows_,
                   {device_live.data(), device_begin.data(), count.data(),
                    static_cast<std::int32_t>(sentences_.size()) + 3});
    stream.synchronize();
  }

  /// Chooses random continuations, in any order within a sentence.
  void advance() {
    std::vector<LiveHypothesis> next;
    for (std::size_t begin = 0, end = 0; begin < live_.size(); begin = end) {
      while (end < live_.size() && live_[end].sentence == live_[begin].sentence) ++end;
      const LiveHypothesis& first = live_[begin];
      const auto rows = static_cast<int>(end - begin);
      if (first.length + 1 >= limits_.steps[static_cast<std::size_t>(first.sentence)]) continue;
      const int width = first.length == 0 ? beam_ : rows;
      for (int i = below(3) == 0 ? below(width + 1) : width; i > 0; --i)
        next.push_back({first.sentence, 0, below(50),
                        static_cast<std::int32_t>(begin) + below(rows), first.length + 1, 0});
    }
    live_ = next;
  }

  void expect_same_rows() const {
    for (std::uint32_t i = 0; i < graph_.domain_count(); ++i)
      if (graph_.domain(DomainId{i}).binding == BindingTime::step) expect_same_domain(DomainId{i});
    for (std::uint32_t i = 0; i < graph_.map_count(); ++i)
      if (graph_.domain(graph_.map(MapId{i}).from).binding == BindingTime::step)
        expect_same_map(MapId{i});
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint32_t>(n)); }

  void step_on_host() {
    std::vector<std::int32_t> parents, parent_sentence, hypothesis_parent, words, positions;
    for (std::size_t h = 0; h < live_.size(); ++h) {
      std::size_t first = 0;
      while (live_[first].sentence != live_[h].sentence || live_[first].row != live_[h].row)
        ++first;
      if (first == h) {
        hypothesis_parent.push_back(static_cast<std::int32_t>(parents.size()));
        parents.push_back(live_[h].row);
        parent_sentence.push_back(live_[h].sentence);
      } else {
        hypothesis_parent.push_back(hypothesis_parent[first]);
      }
      words.push_back(live_[h].word);
      positions.push_back(live_[h].length);
    }
    frame_.begin_step({parents, parent_sentence, hypothesis_parent, words, positions});
  }

  static std::vector<std::int32_t> on_device(const std::int32_t* data, std::size_t count) {
    std::vector<std::int32_t> values(count);
    expect_success(
        cudaMemcpy(values.data(), data, count * sizeof(std::int32_t), cudaMemcpyDeviceToHost),
        "copy from the device");
    return values;
  }

  static void expect_same(const std::int32_t* data, std::span<const std::int32_t> expected,
                          const std::string& what) {
    EXPECT_EQ(on_device(data, expected.size()),
              std::vector<std::int32_t>(expected.begin(), expected.end()))
        << what;
  }

  void expect_same_domain(DomainId id) const {
    const std::string& name = graph_.domain(id).name;
    const RowTable& table = frame_.table();
    const auto counts = on_device(&rows_[id].counts->rows, 3);
    EXPECT_EQ(counts[0], table.rows(id)) << name;
    EXPECT_EQ(counts[1], table.first_new(id)) << name;
    EXPECT_EQ(counts[2], table.rows(id) - table.first_new(id)) << name;
    if (graph_.domain(id).kind == DomainKind::parent)
      expect_same(rows_[id].previous, table.previous(id), name + " previous");
    if (graph_.domain(id).kind == DomainKind::hypothesis)
      expect_same(rows_[id].positions, table.positions(id), name + " positions");
  }

  void expect_same_map(MapId id) const {
    const RowMap& map = graph_.map(id);
    expect_same(rows_[id].index, frame_.table().index(id), map.name);
    if (map.kind == MapKind::left)
      expect_same(rows_[id].segments, frame_.table().segments(id), map.name + " segments");
  }

  std::mt19937 random_;
  const Graph& graph_;
  RowFrame frame_;
  DeviceRowMemory memory_;
  DeviceRows rows_;
  std::int32_t beam_;
  std::vector<WordIds> sentences_, shortlists_;
  StepLimits limits_;
  std::vector<LiveHypothesis> live_;
};

using RowTablesTest = CudaTest;

TEST_F(RowTablesTest, AreThoseOfTheHost) {
  const Graph graph = declarations(1);
  const Stream stream;
  RowTables tables(graph);
  for (std::uint32_t seed = 0; seed < 12 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    RandomSearch search(graph, seed);
    for (search.begin(tables, stream); search.lives() && !HasFailure(); search.advance()) {
      search.run_step(tables, stream);
      search.expect_same_rows();
    }
  }
}

TEST_F(RowTablesTest, HoldNoRowsOnceNothingLives) {
  const Graph graph = declarations(1);
  const Stream stream;
  RowTables tables(graph);
  RandomSearch search(graph, 3);
  for (search.begin(tables, stream); search.lives(); search.advance())
    search.run_step(tables, stream);
  for (int surplus = 0; surplus < 3; ++surplus) {
    search.run_step(tables, stream);
    search.expect_same_rows();
  }
}

TEST_F(RowTablesTest, AreThereForAnyNumberOfDomains) {
  const Graph graph = declarations(7);
  const Stream stream;
  RowTables tables(graph);
  for (std::uint32_t seed = 0; seed < 3; ++seed) {
    RandomSearch search(graph, seed);
    for (search.begin(tables, stream); search.lives() && !HasFailure(); search.advance()) {
      search.run_step(tables, stream);
      search.expect_same_rows();
    }
  }
}

TEST_F(RowTablesTest, PassOverArraysThatAreNotThere) {
  const Graph graph = declarations(1);
  const Stream stream;
  RowTables tables(graph);
  RandomSearch search(graph, 1), bare(graph, 1);
  search.begin(tables, stream);
  bare.begin(tables, stream);
  for (auto& domain : bare.device_rows().domains) domain.positions = domain.previous = nullptr;
  for (std::uint32_t i = 0; i < graph.map_count(); ++i)
    if (graph.domain(graph.map(MapId{i}).from).binding == BindingTime::step)
      bare.device_rows().maps[i] = {};
  bare.run_step(tables, stream);
  tables.begin(stream.get());
  search.run_step(tables, stream);
  search.expect_same_rows();
}

TEST_F(RowTablesTest, SayWhenTheyNeedMoreRoom) {
  RowTables tables(declarations(1));
  EXPECT_TRUE(tables.reserve({2, 4, 20}));
  EXPECT_FALSE(tables.reserve({2, 3, 10}));
  EXPECT_TRUE(tables.reserve({1, 4, 21}));
  EXPECT_TRUE(tables.reserve({3, 4, 5}));
  EXPECT_FALSE(tables.reserve({3, 4, 21}));
}

TEST_F(RowTablesTest, RefuseAWordThatMustBeThere) {
  Graph graph("test");
  const DomainId words = graph.add_vocabulary("words", 50);
  const DomainId parents = graph.add_parents("parents", graph.add_sentences("sentences"));
  graph.add_word_map("word", graph.add_hypotheses("hypotheses", parents), words, false);
  EXPECT_THAT(
      [&] { RowTables tables(graph); },
      ThrowsMessage<Error>(HasSubstr("word map 'word' of domain 'hypotheses' is not partial")));
}

}  // namespace
}  // namespace fuselage::cuda
