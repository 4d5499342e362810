#include "backends/cuda/device/rows/index_slots.h"

#include <algorithm>

#include "backends/cuda/device/runtime/launch.h"

namespace fuselage::cuda {
namespace {

constexpr Purpose kIndexes{"the row indexes of a batch", "use a smaller mini-batch"};

constexpr std::int64_t kAlignment = 32;  ///< elements of a memory transaction of 128 bytes

std::int64_t aligned(std::int64_t elements) {
  return (elements + kAlignment - 1) / kAlignment * kAlignment;
}

/// A copy of an array in device memory.
template <typename T>
DeviceMemory uploaded(const std::vector<T>& array, const Stream& stream) {
  DeviceMemory memory(array.size() * sizeof(T), kIndexes);
  expect_success(cudaMemcpyAsync(memory.data(), array.data(), memory.size_bytes(),
                                 cudaMemcpyHostToDevice, stream.get()),
                 "copy of paths of maps");
  stream.synchronize();
  return memory;
}

}  // namespace

DomainId IndexSlots::rows_of(const IndexSlot& slot) const {
  const Domain& from = plan_.graph.domain(slot.from);
  return from.kind == DomainKind::scan ? from.of : slot.from;
}

std::vector<std::size_t> IndexSlots::composed_slots() const {
  std::vector<std::size_t> slots;
  for (std::size_t i = 0; i < plan_.indexes.size(); ++i)
    if (plan_.indexes[i].path.size() > 1) slots.push_back(i);
  return slots;
}

void IndexSlots::place(const Layout& layout, const Stream& stream) {
  const DeviceRows rows = rows_.rows(layout.rows);
  indexes_.clear();
  for (const IndexSlot& slot : plan_.indexes) indexes_.push_back(rows[slot.path.front()].index);
  const std::vector<std::size_t> slots = composed_slots();
  path_count_ = static_cast<std::int32_t>(slots.size());
  if (slots.empty()) return;
  std::vector<std::int64_t> begin;
  std::int64_t size = 0;
  for (const std::size_t i : slots) {
    begin.push_back(size);
    size += aligned(layout.rows[rows_of(plan_.indexes[i]).index]);
  }
  composed_ = DeviceMemory(static_cast<std::size_t>(size) * sizeof(std::int32_t), kIndexes);
  for (std::size_t i = 0; i < slots.size(); ++i)
    indexes_[slots[i]] = reinterpret_cast<const std::int32_t*>(composed_.data()) + begin[i];
  upload_paths(slots, rows, stream);
}

void IndexSlots::upload_paths(const std::vector<std::size_t>& slots, const DeviceRows& rows,
                              const Stream& stream) {
  std::vector<const std::int32_t*> maps;
  for (const std::size_t i : slots)
    for (const MapId map : plan_.indexes[i].path) maps.push_back(rows[map].index);
  maps_ = uploaded(maps, stream);
  const auto* at = reinterpret_cast<const std::int32_t* const*>(maps_.data());
  std::vector<ComposedIndex> paths;
  for (const std::size_t i : slots) {
    const IndexSlot& slot = plan_.indexes[i];
    paths.push_back({.maps = at,
                     .map_count = static_cast<std::int32_t>(slot.path.size()),
                     .rows = &rows[rows_of(slot)].counts->rows,
                     .out = const_cast<std::int32_t*>(indexes_[i])});
    at += slot.path.size();
  }
  paths_ = uploaded(paths, stream);
}

void IndexSlots::compose(const DeviceRows& rows, const Stream& stream) const {
  std::int32_t max_rows = 0;
  for (const std::size_t i : composed_slots())
    max_rows = std::max(max_rows, rows[rows_of(plan_.indexes[i])].max_live);
  compose_indexes(stream.get(), reinterpret_cast<const ComposedIndex*>(paths_.data()), path_count_,
                  max_rows);
}

const std::vector<const std::int32_t*>& IndexSlots::in_iteration(DomainId scan, std::int64_t t) {
  iteration_ = indexes_;
  for (std::size_t i = 0; i < indexes_.size(); ++i)
    if (plan_.indexes[i].from == scan) iteration_[i] += rows_.iteration_begin(scan, t);
  return iteration_;
}

}  // namespace fuselage::cuda
