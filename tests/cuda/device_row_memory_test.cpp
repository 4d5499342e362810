#include "backends/cuda/device/rows/device_row_memory.h"

#include <numeric>

#include "backends/cuda/device/rows/index_slots.h"
#include "backends/cuda/device/runtime/launch.h"
#include "device_array.h"
#include "tests/backends/support.h"

namespace fuselage::cuda {
namespace {

using Numbers = std::vector<std::int32_t>;

Numbers numbers_at(const std::int32_t* data, std::size_t size) {
  Numbers numbers(size);
  expect_success(
      cudaMemcpy(numbers.data(), data, size * sizeof(std::int32_t), cudaMemcpyDeviceToHost),
      "copy of row numbers");
  return numbers;
}

Numbers numbers_of(std::span<const std::int32_t> span) { return {span.begin(), span.end()}; }

/// The rows of a toy model on the host and on the device.
class DeviceRowMemoryTest : public CudaTest {
 protected:
  void begin(const std::vector<WordIds>& sentences) {
    const StepLimits limits{Numbers(sentences.size(), 3), Numbers(sentences.size(), 4)};
    frame_.begin_batch(sentences);
    frame_.reserve_steps(limits);
    layout_ = rounded(graph_, layout_of(frame_, sentences.size(), limits), 1);
    memory_.place(layout_);
    memory_.upload_source(frame_, queue_);
    queue_.synchronize();
  }

  /// `width` hypotheses for each of `sentences` sentences, with the first one of the last step as
  /// parent.
  void step(std::int32_t sentences, std::int32_t width, std::int32_t position) {
    Numbers parents(static_cast<std::size_t>(sentences)), sentence(parents), parent, words;
    std::iota(sentence.begin(), sentence.end(), 0);
    for (std::int32_t s = 0; s < sentences; ++s) {
      parents[static_cast<std::size_t>(s)] = position == 0 ? -1 : s;
      parent.insert(parent.end(), static_cast<std::size_t>(width), s);
    }
    words.assign(parent.size(), position == 0 ? -1 : 7);
    frame_.begin_step({parents, sentence, parent, words, Numbers(parent.size(), position)});
    memory_.upload_step(frame_.table(), queue_);
    queue_.synchronize();
  }

  void expect_same_rows(BindingTime time) {
    const RowTable& table = frame_.table();
    const DeviceRows rows = memory_.rows(layout_.rows);
    for (std::uint32_t i = 0; i < graph_.domain_count(); ++i) {
      const Domain& domain = graph_.domain(DomainId{i});
      if (domain.binding != time || domain.kind == DomainKind::scan) continue;
      const DeviceRows::DomainRows& there = rows[DomainId{i}];
      const auto count = static_cast<std::int32_t>(table.rows(DomainId{i}));
      const auto first = static_cast<std::int32_t>(table.first_new(DomainId{i}));
      EXPECT_EQ(numbers_at(&there.counts->rows, 3), (Numbers{count, first, count - first}))
          << domain.name;
      EXPECT_GE(there.max_rows, count);
      expect_array(there.positions, table.positions(DomainId{i}));
      expect_array(there.previous, table.previous(DomainId{i}));
    }
    for (std::uint32_t i = 0; i < graph_.map_count(); ++i) {
      const Domain& from = graph_.domain(graph_.map(MapId{i}).from);
      if (from.binding != time || from.kind == DomainKind::scan) continue;
      expect_array(rows[MapId{i}].index, table.index(MapId{i}));
      expect_array(rows[MapId{i}].segments, table.segments(MapId{i}));
    }
  }

  static void expect_array(const std::int32_t* there, std::span<const std::int32_t> here) {
    if (here.empty()) return;
    ASSERT_NE(there, nullptr);
    EXPECT_EQ(numbers_at(there, here.size()), numbers_of(here));
  }

  Stream queue_;
  const Graph graph_ = support::toy_model(1).graph;
  RowFrame frame_{graph_};
  DeviceRowMemory memory_{graph_};
  Layout layout_;
};

TEST_F(DeviceRowMemoryTest, HasTheHostsRows) {
  for (const int count : {1, 5, 3}) {
    begin(support::random_sentences(static_cast<unsigned>(count), count, 9));
    expect_same_rows(BindingTime::load);
    expect_same_rows(BindingTime::source);
    for (std::int32_t t = 0; t < 4; ++t) {
      step(count, 1 + t % 3, t);
      expect_same_rows(BindingTime::step);
    }
  }
}

TEST_F(DeviceRowMemoryTest, HasAllIterationsOfScans) {
  begin({{1, 0}, {1, 2, 3, 4, 0}, {0}, {5, 6, 0}});
  const DomainId forward = graph_.find_domain("forward");
  ASSERT_EQ(memory_.iterations(forward), 5);
  const auto begins = memory_.rows(layout_.rows)[forward].iteration_begin;
  EXPECT_EQ(Numbers(begins.begin(), begins.end()), (Numbers{0, 4, 7, 9, 10, 11}));
  for (const std::string_view name : {"forward", "backward"}) {
    const DomainId scan = graph_.find_domain(name);
    const MapId map = graph_.map_of(scan, MapKind::structural);
    DeviceRows rows = memory_.rows(layout_.rows);
    for (std::int64_t t = 0; t < memory_.iterations(scan); ++t) {
      frame_.begin_iteration(scan, t);
      memory_.set_iteration(rows, scan, t);
      const auto count = static_cast<std::int32_t>(frame_.table().rows(scan));
      EXPECT_EQ(numbers_at(&rows[scan].counts->rows, 3), (Numbers{count, 0, count}));
      EXPECT_GE(rows[scan].max_live, count);
      expect_array(rows[scan].previous, frame_.table().previous(scan));
      expect_array(rows[map].index, frame_.table().index(map));
    }
  }
}

TEST_F(DeviceRowMemoryTest, BoundsCanBeSmallerThanTheMemory) {
  begin({{1, 0}, {1, 2, 0}});
  const DomainId hypotheses = graph_.find_domain("hyp");
  const DeviceRows rows = memory_.rows(live_bounds(graph_, layout_, 2));
  EXPECT_EQ(rows[hypotheses].max_live, 2);
  EXPECT_EQ(rows[hypotheses].max_rows, 8);
}

TEST_F(DeviceRowMemoryTest, PathsOfMapsAreComposed) {
  ProgramPlan plan;
  plan.graph = graph_.declarations();
  const auto map = [&](std::string_view name) { return graph_.find_map(name); };
  const auto add = [&](const MapPath& path) {
    plan.indexes.push_back({path, graph_.map(path.front()).from});
  };
  add({map("forward.source")});
  add({map("backward.source"), map("source.word")});
  add({map("hyp_source.left"), map("hyp.parent"), map("parent.sentence")});
  add({map("hyp_source.left"), map("hyp.word")});
  add({map("hyp.word")});
  begin({{1, 0}, {1, 2, 3, 0}, {4, 5, 0}});
  step(3, 2, 0);
  step(3, 1, 1);
  IndexSlots slots(plan, memory_);
  slots.place(layout_, queue_);
  const DeviceRows rows = memory_.rows(layout_.rows);
  slots.compose(rows, queue_);
  queue_.synchronize();
  Numbers expected;
  for (std::size_t i = 2; i < plan.indexes.size(); ++i) {
    frame_.table().resolve(plan.indexes[i].path, expected);
    EXPECT_EQ(numbers_at(slots.all()[i], expected.size()), expected) << "slot " << i;
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const DomainId scan = plan.indexes[i].from;
    for (std::int64_t t = 0; t < memory_.iterations(scan); ++t) {
      frame_.begin_iteration(scan, t);
      frame_.table().resolve(plan.indexes[i].path, expected);
      EXPECT_EQ(numbers_at(slots.in_iteration(scan, t)[i], expected.size()), expected)
          << "slot " << i << " iteration " << t;
    }
  }
}

}  // namespace
}  // namespace fuselage::cuda
