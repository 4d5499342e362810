#pragma once

#include <cstdint>

#include "backends/cuda/device/kernel/kernel.h"
#include "backends/cuda/device/rows/index_path.h"
#include "fuselage/base/error.h"

namespace fuselage::cuda {

// The operands and results of an instruction as kernel parameters.

/// The rows of a domain that are computed in this step: the new rows of prefix domains, all rows of
/// others.
inline Rows live_rows(DomainId domain, const Run& run) {
  const DeviceRows::DomainRows& rows = run.rows[domain];
  return {&rows.counts->live, rows.max_live};
}

/// The rows that the instruction computes.
inline Rows rows_of(const PlannedInstruction& in, const Run& run) {
  return live_rows(in.domain, run);
}

/// The first new row of a buffer that keeps the rows of earlier steps; nullptr for other views,
/// where rows count from 0.
inline const std::int32_t* first_row(const PlannedInstruction& in, const BufferView& view,
                                     const Run& run) {
  const Buffer& buffer = run.plan_buffers[view.buffer];
  if (view.stride == 0 || buffer.newest_only || buffer.domain != in.domain) return nullptr;
  return &run.rows[in.domain].counts->first;
}

/// The first element of a view.
template <typename T>
T* data_at(const BufferView& view, const Run& run) {
  return reinterpret_cast<T*>(run.buffers[view.buffer]) + view.offset;
}

/// The rows of a view for the rows that the instruction computes. Elements have 4 bytes.
template <typename T = float>
RowsOf<T> rows_at(const PlannedInstruction& in, const Run& run, const BufferView& view) {
  RowsOf<T> rows{.data = data_at<const T>(view, run),
                 .stride = view.stride,
                 .columns = static_cast<std::int32_t>(view.cols)};
  if (view.index == kNone) {
    rows.first = first_row(in, view, run);
    return rows;
  }
  rows.index = run.indexes[static_cast<std::size_t>(view.index)];
  if (view.fallback_buffer != kNone)
    rows.fallback =
        reinterpret_cast<const T*>(run.buffers[static_cast<std::size_t>(view.fallback_buffer)]) +
        view.offset;
  return rows;
}

/// The same of an operand.
template <typename T = float>
RowsOf<T> rows_in(const PlannedInstruction& in, const Run& run, std::size_t operand) {
  return rows_at<T>(in, run, in.operands[operand]);
}

/// All rows of an operand, for a kernel that follows maps itself.
template <typename T = float>
RowsOf<T> all_rows(const PlannedInstruction& in, const Run& run, std::size_t operand) {
  const BufferView& view = in.operands[operand];
  return {.data = data_at<const T>(view, run),
          .stride = view.stride,
          .columns = static_cast<std::int32_t>(view.cols)};
}

template <typename T = float>
ResultOf<T> rows_out(const PlannedInstruction& in, const Run& run, std::size_t result = 0) {
  const BufferView& view = in.results[result];
  return {data_at<T>(view, run), view.stride, first_row(in, view, run)};
}

inline std::int32_t cols_of(const PlannedInstruction& in) {
  return static_cast<std::int32_t>(in.results[0].cols);
}

/// The segments of a map along which rows are grouped.
inline Segments segments_of(MapId map, const Run& run) { return {run.rows[map].segments}; }

/// A path of maps with the indexes of this run.
inline IndexPath index_path(const MapPath& path, const Run& run) {
  check(path.size() <= kMaxMaps, "a path of more maps than kMaxMaps");
  IndexPath indexes;
  for (const MapId map : path) indexes.maps[indexes.count++] = run.rows[map].index;
  return indexes;
}

}  // namespace fuselage::cuda
