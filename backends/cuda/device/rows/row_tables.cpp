#include "backends/cuda/device/rows/row_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "backends/cuda/device/runtime/launch.h"
#include "fuselage/base/error.h"
#include "fuselage/graph/distance_table.h"

namespace fuselage::cuda {
namespace {

constexpr Purpose kPurpose{"the rows of a search's steps", "use a smaller mini-batch"};
constexpr std::size_t kProgressSize = sizeof(RowProgress) / sizeof(std::int32_t);

template <typename List, typename T>
void add(std::vector<RowArrays>& all, List RowArrays::*list, const T& item) {
  auto launch = std::find_if(all.begin(), all.end(), [&](const RowArrays& arrays) {
    return (arrays.*list).count < List::kCapacity;
  });
  if (launch == all.end()) launch = all.emplace(all.end());
  List& items = *launch.*list;
  items.at[items.count++] = item;
}

}  // namespace

RowTables::RowTables(const Graph& graph) : vocabulary_(std::numeric_limits<std::int32_t>::max()) {
  for (std::uint32_t i = 0; i < graph.domain_count(); ++i) {
    const Domain& domain = graph.domain(DomainId{i});
    if (domain.binding != BindingTime::step) continue;
    if (domain.kind == DomainKind::pairs)
      add_pairs(graph, DomainId{i});
    else
      row_domains_.push_back({DomainId{i}, domain.kind});
  }
  for (std::uint32_t i = 0; i < graph.map_count(); ++i) {
    const DomainKind from = graph.domain(graph.map(MapId{i}).from).kind;
    if (from == DomainKind::hypothesis || from == DomainKind::parent) add_index(graph, MapId{i});
  }
  for (std::uint32_t i = 0; i < graph.map_count(); ++i)
    if (const RowMap& map = graph.map(MapId{i});
        map.kind == MapKind::distance && graph.domain(map.from).binding == BindingTime::step)
      add_distances(graph, MapId{i});
  if (distance_entries_.empty()) return;
  const std::size_t bytes = distance_entries_.size() * sizeof(std::int32_t);
  distances_ = DeviceMemory(bytes, kPurpose);
  expect_success(
      cudaMemcpy(distances_.data(), distance_entries_.data(), bytes, cudaMemcpyHostToDevice),
      "copy of tables of distances");
}

void RowTables::add_pairs(const Graph& graph, DomainId id) {
  const Domain& domain = graph.domain(id);
  const DomainKind left = graph.domain(domain.left).kind;
  const DomainKind right = graph.domain(domain.right).kind;
  check(left == DomainKind::hypothesis || left == DomainKind::parent,
        "left rows of step-time pairs must be hypotheses or parents");
  Pairs pairs{.id = id,
              .left = graph.map_of(id, MapKind::left),
              .right = graph.map_of(id, MapKind::right),
              .tokens = {},
              .of_parents = left == DomainKind::parent};
  if (domain.window.first > -std::int64_t{PairArrays::kNoWindow})
    pairs.window = static_cast<std::int32_t>(1 - domain.window.first);
  if (right == DomainKind::prefix) {
    check(!pairs.of_parents, "pairs with prefix rows must have hypotheses on the left");
    keeps_ancestors_ = true;
  } else {
    check(right == DomainKind::source || right == DomainKind::shortlist,
          "right rows of step-time pairs must be source, shortlist or prefix rows");
    pairs.tokens = graph.map_of(domain.right, MapKind::structural);
  }
  pairs_.push_back(pairs);
}

void RowTables::add_index(const Graph& graph, MapId id) {
  const RowMap& map = graph.map(id);
  indexes_.push_back({.id = id,
                      .kind = map.kind,
                      .from = graph.domain(map.from).kind,
                      .offset = static_cast<std::int32_t>(map.offset),
                      .last = static_cast<std::int32_t>(graph.domain(map.to).size - 1)});
  if (map.kind == MapKind::neighbour) keeps_ancestors_ = true;
  if (map.kind != MapKind::word) return;
  if (!map.partial)
    throw Error(fmt::format(
        "word map '{}' of domain '{}' is not partial, and hypotheses begin without a word; declare "
        "it as partial",
        map.name, graph.domain(map.from).name));
  vocabulary_ =
      static_cast<std::int32_t>(std::min<std::int64_t>(vocabulary_, graph.domain(map.to).size));
}

void RowTables::add_distances(const Graph& graph, MapId id) {
  const RowMap& map = graph.map(id);
  const DistanceTable table = distance_table(map.buckets, graph.domain(map.to).size);
  distance_maps_.push_back({.id = id,
                            .pairs = map.from,
                            .begin = distance_entries_.size(),
                            .limit = static_cast<std::int32_t>(table.limit)});
  distance_entries_.insert(distance_entries_.end(), table.entries.begin(), table.entries.end());
}

const RowTables::Pairs& RowTables::pairs_of(DomainId id) const {
  return *std::find_if(pairs_.begin(), pairs_.end(),
                       [id](const Pairs& pairs) { return pairs.id == id; });
}

bool RowTables::reserve(const Bounds& bounds) {
  Capacity capacity{
      .sentences = std::max(capacity_.sentences, static_cast<std::size_t>(bounds.sentences)),
      .hypotheses = std::max(capacity_.hypotheses, static_cast<std::size_t>(bounds.hypotheses))};
  if (keeps_ancestors_)
    capacity.words = std::max(capacity_.words, static_cast<std::size_t>(bounds.words));
  const std::size_t by_sentence = 2 * capacity.sentences;
  const std::size_t ancestors = 2 * (capacity.hypotheses + 1 + capacity.words);
  capacity_ = {};  // in case of an Error
  const bool moved =
      memory_.reserve(kProgressSize + 2 * capacity.hypotheses + by_sentence + ancestors, kPurpose);
  capacity_ = capacity;
  return moved;
}

void RowTables::begin(cudaStream_t stream, const WordPages& pages) {
  pages_ = pages;
  expect_success(cudaMemsetAsync(memory_.data(), 0, sizeof(RowProgress), stream),
                 "reset of a search");
}

RowScratch RowTables::scratch() const {
  RowScratch scratch{};
  std::int32_t* next = memory_.data();
  const auto take = [&](std::size_t count) { return std::exchange(next, next + count); };
  scratch.progress = reinterpret_cast<RowProgress*>(take(kProgressSize));
  scratch.parent = take(capacity_.hypotheses);
  scratch.parents = take(capacity_.sentences);
  for (std::size_t i = 0; i < 2; ++i) {
    scratch.ancestors_begin[i] = take(capacity_.hypotheses + 1);
    scratch.ancestors[i] = take(capacity_.words);
  }
  scratch.pages = pages_;
  scratch.taken = take(capacity_.sentences);
  scratch.newest = take(capacity_.hypotheses);
  return scratch;
}

void RowTables::list_row_arrays(const DeviceRows& rows, std::vector<RowArrays>& all) const {
  for (const RowDomain& domain : row_domains_) {
    const DeviceRows::DomainRows& to = rows[domain.id];
    if (to.counts) add(all, &RowArrays::counts, RowCounts{to.counts, domain.kind});
    if (domain.kind == DomainKind::hypothesis && to.positions)
      add(all, &RowArrays::arrays, RowArray{to.positions, RowValue::position});
    if (domain.kind == DomainKind::parent && to.previous)
      add(all, &RowArrays::arrays, RowArray{to.previous, RowValue::previous});
  }
  for (const RowIndex& index : indexes_) {
    if (!rows[index.id].index) continue;
    RowValue value = index.from == DomainKind::parent ? RowValue::sentence : RowValue::parent;
    if (index.kind == MapKind::newest) value = RowValue::newest;
    if (index.kind == MapKind::word) value = RowValue::word;
    if (index.kind == MapKind::neighbour) value = RowValue::neighbour;
    if (index.kind == MapKind::position) value = RowValue::entry;
    add(all, &RowArrays::arrays, RowArray{rows[index.id].index, value, index.offset, index.last});
  }
}

void RowTables::list_pairs(const DeviceRows& rows, std::vector<RowArrays>& all) const {
  for (const Pairs& pairs : pairs_) {
    PairArrays arrays{.counts = rows[pairs.id].counts,
                      .left = rows[pairs.left].index,
                      .right = rows[pairs.right].index,
                      .segments = rows[pairs.left].segments,
                      .window = pairs.window,
                      .of_parents = pairs.of_parents};
    if (pairs.tokens.valid()) {
      arrays.tokens_begin = rows[pairs.tokens].segments;
      arrays.tokens = rows[pairs.tokens].members;
    }
    add(all, &RowArrays::pairs, arrays);
  }
  for (const DistanceMap& map : distance_maps_) {
    if (!rows[map.id].index) continue;
    const auto* entries = reinterpret_cast<const std::int32_t*>(distances_.data()) + map.begin;
    add(all, &RowArrays::pairs,
        PairArrays{.window = pairs_of(map.pairs).window,
                   .buckets = rows[map.id].index,
                   .distances = {entries, map.limit}});
  }
  if (keeps_ancestors_) add(all, &RowArrays::pairs, PairArrays{.kept = true});
}

void RowTables::enqueue(cudaStream_t stream, const DeviceRows& rows,
                        const LiveHypotheses& live) const {
  const RowScratch scratch = this->scratch();
  std::vector<RowArrays> all(1);
  list_row_arrays(rows, all);
  list_pairs(rows, all);
  launch_find_parents(stream, live, scratch);
  for (const RowArrays& arrays : all) launch_fill_rows(stream, live, scratch, arrays);
}

}  // namespace fuselage::cuda
