#include "backends/cuda/device/rows/device_row_memory.h"

#include <algorithm>
#include <array>

#include "fuselage/base/error.h"

namespace fuselage::cuda {
namespace {

constexpr std::int64_t kCountsSize = sizeof(DeviceCounts) / sizeof(std::int32_t);

constexpr std::int64_t kSizesPerOctave = 4;  ///< bounds on the rows of an iteration

std::array<std::int32_t, kCountsSize> counts_of(std::int64_t rows, std::int64_t first) {
  return {static_cast<std::int32_t>(rows), static_cast<std::int32_t>(first),
          static_cast<std::int32_t>(rows - first)};
}

bool is_scan(const Domain& domain) { return domain.kind == DomainKind::scan; }

bool has_positions(const Domain& domain) {
  return domain.kind == DomainKind::source || domain.kind == DomainKind::shortlist ||
         domain.kind == DomainKind::hypothesis;
}

/// Whether rows of the map's domain are grouped by the map.
bool has_segments(const Graph& graph, const RowMap& map) {
  const DomainKind from = graph.domain(map.from).kind;
  return map.kind == MapKind::left ||
         (map.kind == MapKind::structural &&
          (from == DomainKind::source || from == DomainKind::shortlist));
}

}  // namespace

StagedInts& DeviceRowMemory::block(BindingTime time) {
  return time == BindingTime::step ? *step_ : *source_;
}

void DeviceRowMemory::place(const Layout& layout) {
  source_.emplace();
  step_.emplace();
  domains_.assign(graph_.domain_count(), {});
  maps_.assign(graph_.map_count(), {});
  for (std::uint32_t i = 0; i < graph_.domain_count(); ++i) place_domain(DomainId{i}, layout);
  for (std::uint32_t i = 0; i < graph_.map_count(); ++i) place_map(MapId{i}, layout);
  inputs_.clear();
  for (const Input& input : graph_.inputs())
    inputs_.push_back(source_->add(layout.rows[input.type.domain.index] * row_size(input.type)));
  source_->allocate();
  step_->allocate();
  point_at_arrays(layout);
}

void DeviceRowMemory::place_domain(DomainId id, const Layout& layout) {
  const Domain& domain = graph_.domain(id);
  StagedInts& arrays = block(domain.binding);
  DomainArrays& at = domains_[id.index];
  at.counts = arrays.add(is_scan(domain) ? kCountsSize * layout.sentence : kCountsSize);
  if (has_positions(domain)) at.positions = arrays.add(layout.rows[id.index]);
  if (domain.kind == DomainKind::parent) at.previous = arrays.add(layout.rows[id.index]);
  if (is_scan(domain)) at.previous = arrays.add(layout.rows[domain.of.index]);
}

void DeviceRowMemory::place_map(MapId id, const Layout& layout) {
  const RowMap& map = graph_.map(id);
  const Domain& from = graph_.domain(map.from);
  StagedInts& arrays = block(from.binding);
  MapArrays& at = maps_[id.index];
  at.index = arrays.add(layout.rows[is_scan(from) ? from.of.index : map.from.index]);
  if (has_segments(graph_, map))
    at.segments = arrays.add(std::int64_t{layout.rows[map.to.index]} + 1);
}

void DeviceRowMemory::point_at_arrays(const Layout& layout) {
  rows_.domains.assign(graph_.domain_count(), {});
  rows_.maps.assign(graph_.map_count(), {});
  for (std::uint32_t i = 0; i < graph_.domain_count(); ++i) {
    StagedInts& arrays = block(graph_.domain(DomainId{i}).binding);
    const auto pointer = [&](const Array& array) {
      return array.size > 0 ? arrays.device(array) : nullptr;
    };
    const DomainArrays& at = domains_[i];
    rows_.domains[i] = {.counts = reinterpret_cast<DeviceCounts*>(arrays.device(at.counts)),
                        .positions = pointer(at.positions),
                        .previous = pointer(at.previous),
                        .max_live = layout.rows[i],
                        .max_rows = layout.rows[i]};
  }
  for (std::uint32_t i = 0; i < graph_.map_count(); ++i) {
    StagedInts& arrays = block(graph_.domain(graph_.map(MapId{i}).from).binding);
    rows_.maps[i].index = arrays.device(maps_[i].index);
    if (maps_[i].segments.size > 0) rows_.maps[i].segments = arrays.device(maps_[i].segments);
  }
  rows_.inputs.clear();
  for (const Array& input : inputs_)
    rows_.inputs.push_back(reinterpret_cast<const float*>(source_->device(input)));
}

DeviceRows DeviceRowMemory::rows(std::span<const std::int32_t> live_bounds) const {
  DeviceRows rows = rows_;
  for (std::size_t i = 0; i < rows.domains.size(); ++i) rows.domains[i].max_live = live_bounds[i];
  for (std::size_t i = 0; i < scan_begin_.size(); ++i)
    rows.domains[i].iteration_begin = scan_begin_[i];
  return rows;
}

// --- From the host's rows ---

void DeviceRowMemory::fill_domain(DomainId id, const RowTable& table) {
  StagedInts& arrays = block(graph_.domain(id).binding);
  const DomainArrays& at = domains_[id.index];
  arrays.fill(at.counts, counts_of(table.rows(id), table.first_new(id)));
  if (at.positions.size > 0) arrays.fill(at.positions, table.positions(id));
  if (at.previous.size > 0) arrays.fill(at.previous, table.previous(id));
}

void DeviceRowMemory::fill_map(MapId id, const RowTable& table) {
  StagedInts& arrays = block(graph_.domain(graph_.map(id).from).binding);
  arrays.fill(maps_[id.index].index, table.index(id));
  if (maps_[id.index].segments.size > 0) arrays.fill(maps_[id.index].segments, table.segments(id));
}

void DeviceRowMemory::fill_scan(DomainId id, RowFrame& frame) {
  const MapId map = graph_.map_of(id, MapKind::structural);
  const RowTable& table = frame.table();
  const auto part = [](Array array, std::int64_t begin) {
    array.begin += static_cast<std::size_t>(begin);
    array.size -= static_cast<std::size_t>(begin);
    return array;
  };
  std::vector<std::int32_t>& scan_begin = scan_begin_[id.index];
  scan_begin.assign(1, 0);
  for (std::int64_t t = 0; t < frame.iterations(id); ++t) {
    frame.begin_iteration(id, t);
    const std::int32_t begin = scan_begin.back();
    source_->fill(part(domains_[id.index].counts, kCountsSize * t), counts_of(table.rows(id), 0));
    source_->fill(part(domains_[id.index].previous, begin), table.previous(id));
    source_->fill(part(maps_[map.index].index, begin), table.index(map));
    scan_begin.push_back(begin + static_cast<std::int32_t>(table.rows(id)));
  }
}

void DeviceRowMemory::upload_source(RowFrame& frame, const Stream& stream) {
  source_->begin();
  scan_begin_.resize(graph_.domain_count());
  for (std::uint32_t i = 0; i < graph_.domain_count(); ++i) {
    const Domain& domain = graph_.domain(DomainId{i});
    if (is_scan(domain))
      fill_scan(DomainId{i}, frame);
    else if (domain.binding != BindingTime::step)
      fill_domain(DomainId{i}, frame.table());
  }
  for (std::uint32_t i = 0; i < graph_.map_count(); ++i) {
    const Domain& from = graph_.domain(graph_.map(MapId{i}).from);
    if (!is_scan(from) && from.binding != BindingTime::step) fill_map(MapId{i}, frame.table());
  }
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    source_->fill(inputs_[i], frame.table().input(i));
  source_->copy(stream);
}

void DeviceRowMemory::upload_store(const RowTable& table, const Stream& stream) {
  const auto is_of_store = [&](DomainId id) {
    const Domain& domain = graph_.domain(id);
    return domain.binding != BindingTime::step && !is_scan(domain) &&
           domain.kind != DomainKind::pairs;
  };
  source_->begin();
  scan_begin_.assign(graph_.domain_count(), {});
  for (std::uint32_t i = 0; i < graph_.domain_count(); ++i)
    if (is_of_store(DomainId{i}))
      source_->fill(domains_[i].counts, counts_of(table.rows(DomainId{i}), 0));
  for (std::uint32_t i = 0; i < graph_.map_count(); ++i)
    if (is_of_store(graph_.map(MapId{i}).from)) fill_map(MapId{i}, table);
  source_->copy(stream);
}

void DeviceRowMemory::upload_step(const RowTable& table, const Stream& stream) {
  step_->begin();
  for (std::uint32_t i = 0; i < graph_.domain_count(); ++i)
    if (graph_.domain(DomainId{i}).binding == BindingTime::step) fill_domain(DomainId{i}, table);
  for (std::uint32_t i = 0; i < graph_.map_count(); ++i)
    if (graph_.domain(graph_.map(MapId{i}).from).binding == BindingTime::step)
      fill_map(MapId{i}, table);
  step_->copy(stream);
}

// --- Iterations ---

std::int32_t DeviceRowMemory::iteration_bound(DomainId scan, std::int64_t t) const {
  const std::int64_t rows = iteration_begin(scan, t + 1) - iteration_begin(scan, t);
  return static_cast<std::int32_t>(round_size(rows, kSizesPerOctave));
}

void DeviceRowMemory::set_iteration(DeviceRows& rows, DomainId scan, std::int64_t t) const {
  const DeviceRows::DomainRows& all = rows_[scan];
  DeviceRows::DomainRows& now = rows.domains[scan.index];
  const MapId map = graph_.map_of(scan, MapKind::structural);
  now.counts = all.counts + t;
  now.previous = all.previous + iteration_begin(scan, t);
  now.max_live = std::min(all.max_live, iteration_bound(scan, t));
  rows.maps[map.index].index = rows_[map].index + iteration_begin(scan, t);
}

}  // namespace fuselage::cuda
