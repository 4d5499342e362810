#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "fuselage/backends/executable.h"
#include "fuselage/graph/graph.h"
#include "tests/passes/random_graph.h"

namespace fuselage::support {

inline constexpr std::int64_t kVocabulary = 7;  ///< vocabulary of random graphs
inline constexpr std::int32_t kBeam = 3;
inline constexpr std::int32_t kSteps = 5;

/// A search over some sentences with random choices, for any worker.
class RandomSearch {
 public:
  explicit RandomSearch(unsigned seed) : random_(seed) {
    const auto count = 1 + below(5);
    for (std::int32_t s = 0; s < count; ++s) {
      WordIds& words = sentences_.emplace_back(static_cast<std::size_t>(1 + below(6)));
      for (std::int32_t& word : words) word = below(kVocabulary);
      WordIds& list = shortlists_.emplace_back();
      for (std::int32_t word = 0; word < kVocabulary; ++word)
        if (below(2) == 0) list.push_back(word);
      live_.push_back({s, -1});
    }
  }

  void begin(Worker& worker) const {
    const RandomFeatures features(sentences_.size());
    worker.begin({.sentences = sentences_, .shortlists = shortlists_, .inputs = features.inputs()},
                 {std::vector(sentences_.size(), kBeam), std::vector(sentences_.size(), kSteps)});
  }

  /// Chooses random continuations; a hypothesis may have several, or none. False when no hypothesis
  /// is left, or after the last step.
  bool advance() {
    if (step_ == kSteps) return false;
    for (auto* list : {&parents_, &parent_sentence_, &hypothesis_parent_, &words_, &positions_})
      list->clear();
    for (std::size_t h = 0; h < live_.size(); ++h) {
      const bool sibling = step_ > 0 && h > 0 && live_[h].row == live_[h - 1].row;
      if (!sibling) {
        parents_.push_back(live_[h].row);
        parent_sentence_.push_back(live_[h].sentence);
      }
      hypothesis_parent_.push_back(static_cast<std::int32_t>(parents_.size()) - 1);
      words_.push_back(step_ == 0 ? -1 : below(kVocabulary));
      positions_.push_back(step_);
    }
    choose();
    return !words_.empty();
  }

  void step(Worker& worker) const {
    worker.step({parents_, parent_sentence_, hypothesis_parent_, words_, positions_});
  }

 private:
  struct Live {
    std::int32_t sentence, row;
  };

  std::int32_t below(std::int64_t limit) {
    return static_cast<std::int32_t>(random_() % static_cast<std::uint64_t>(limit));
  }

  /// The live hypotheses of the next step.
  void choose() {
    std::vector<Live> next;
    for (std::size_t begin = 0; begin < live_.size();) {
      std::size_t end = begin;
      while (end < live_.size() && live_[end].sentence == live_[begin].sentence) ++end;
      std::vector<std::int32_t> rows(static_cast<std::size_t>(below(kBeam + 1)));
      for (std::int32_t& row : rows)
        row = static_cast<std::int32_t>(begin) + below(static_cast<std::int64_t>(end - begin));
      std::sort(rows.begin(), rows.end());
      for (const std::int32_t row : rows) next.push_back({live_[begin].sentence, row});
      begin = end;
    }
    live_ = next;
    ++step_;
  }

  std::mt19937_64 random_;
  std::int32_t step_ = 0;
  std::vector<WordIds> sentences_, shortlists_;
  std::vector<Live> live_;
  std::vector<std::int32_t> parents_, parent_sentence_, hypothesis_parent_, words_, positions_;
};

inline bool agree(float x, float y) {
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  return x == y || std::abs(x - y) <= 1e-4f * std::max({1.0f, std::abs(x), std::abs(y)});
}

template <typename T>
void expect_same(const OutputRows<T>& a, const OutputRows<T>& b, const std::string& what) {
  ASSERT_EQ(a.rows, b.rows) << what;
  ASSERT_EQ(a.cols, b.cols) << what;
  for (std::int64_t i = 0; i < a.rows * a.cols; ++i)
    ASSERT_TRUE(agree(static_cast<float>(a.data[i]), static_cast<float>(b.data[i])))
        << what << " element " << i << ": " << a.data[i] << " and " << b.data[i];
}

/// Runs the same batches of random searches on two executables and compares all outputs after each
/// step, also those of the load and the source program. Batches repeat, so that workers see known
/// sizes again.
inline void expect_same_runs(const Graph& graph, const Executable& a, const Executable& b,
                             unsigned seed) {
  const auto worker_a = a.make_worker();
  const auto worker_b = b.make_worker();
  for (const unsigned batch : {0, 1, 2, 0}) {
    RandomSearch search(4 * seed + batch);
    search.begin(*worker_a);
    search.begin(*worker_b);
    while (search.advance()) {
      search.step(*worker_a);
      search.step(*worker_b);
      for (const Output& output : graph.outputs()) {
        const std::string what = "seed " + std::to_string(seed) + " output " + output.name;
        const std::size_t in_a = a.output(output.name);
        const std::size_t in_b = b.output(output.name);
        if (graph.value(output.value).type.dtype == DType::i32)
          expect_same(worker_a->integers(in_a), worker_b->integers(in_b), what);
        else
          expect_same(worker_a->floats(in_a), worker_b->floats(in_b), what);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace fuselage::support
