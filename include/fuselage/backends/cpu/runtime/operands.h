#pragma once

#include <cstddef>
#include <cstdint>

#include "fuselage/backends/cpu/runtime/kernel.h"
#include "fuselage/backends/cpu/simd/rows.h"
#include "fuselage/backends/cpu/simd/simd_functions.h"
#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {
namespace cpu {

// Access of kernels to operands and results of an instruction.

/// The vector functions for the instruction-set level of the executable.
const SimdFunctions& simd_functions(const Run& run);

inline std::int64_t first_row(const Run& run, DomainId domain) {
  return run.rows.first_new(domain);
}

inline std::int64_t row_count(const Run& run, DomainId domain) {
  return run.rows.rows(domain) - first_row(run, domain);
}

inline std::int64_t row_count(const PlannedInstruction& in, const Run& run) {
  return row_count(run, in.domain);
}

inline std::size_t rows_of(const PlannedInstruction& in, const Run& run) {
  return static_cast<std::size_t>(row_count(in, run));
}

/// The row domain of the buffer that a view refers to.
inline DomainId domain_of(const BufferView& view, const Run& run) {
  return run.plan_buffers[view.buffer].domain;
}

/// The first element of a view in row `row` of its buffer.
template <typename T>
T* data_at(const BufferView& view, const Run& run, std::int64_t row) {
  const Buffer& buffer = run.plan_buffers[view.buffer];
  if (buffer.newest_only) row -= first_row(run, buffer.domain);
  return reinterpret_cast<T*>(run.buffers[view.buffer]) + view.offset + row * view.stride;
}

/// An operand, for the rows that the instruction computes.
inline RowsIn rows_in(const PlannedInstruction& in, const Run& run, std::size_t operand) {
  const BufferView& view = in.operands[operand];
  const std::int64_t row = first_row(run, in.domain);
  RowsIn rows{.stride = static_cast<std::size_t>(view.stride),
              .columns = static_cast<std::size_t>(view.cols)};
  if (view.index == kNone) {
    rows.data = data_at<const float>(view, run, view.stride == 0 ? 0 : row);
    return rows;
  }
  rows.data = data_at<const float>(view, run, 0);
  rows.rows = run.indexes[static_cast<std::size_t>(view.index)] + row;
  if (view.fallback_buffer != kNone)
    rows.fallback = reinterpret_cast<const float*>(
                        run.buffers[static_cast<std::size_t>(view.fallback_buffer)]) +
                    view.offset;
  return rows;
}

template <typename T = float>
T* plain_in(const PlannedInstruction& in, const Run& run, std::size_t operand) {
  const BufferView& view = in.operands[operand];
  return data_at<T>(view, run, view.stride == 0 ? 0 : first_row(run, in.domain));
}

/// All rows of an operand from which an instruction gathers or selects rows of another domain.
inline RowsIn all_rows(const PlannedInstruction& in, const Run& run, std::size_t operand) {
  const BufferView& view = in.operands[operand];
  return {.data = data_at<const float>(view, run, 0),
          .stride = static_cast<std::size_t>(view.stride),
          .columns = static_cast<std::size_t>(view.cols)};
}

template <typename T = float>
T* result_at(const PlannedInstruction& in, const Run& run, std::size_t result = 0) {
  const BufferView& view = in.results[result];
  return data_at<T>(view, run, view.stride == 0 ? 0 : first_row(run, in.domain));
}

inline RowsOut rows_out(const PlannedInstruction& in, const Run& run, std::size_t result = 0) {
  return {result_at(in, run, result), static_cast<std::size_t>(in.results[result].stride)};
}

/// Number of vectors in a row: leading dimensions count as further rows.
inline std::size_t vectors_in(const Type& type) {
  return static_cast<std::size_t>(row_size(type) / type.dims.back());
}

inline std::size_t cols_of(const PlannedInstruction& in) {
  return static_cast<std::size_t>(in.results[0].cols);
}

/// The row that a path leads to from a row; -1: unmapped.
inline std::int64_t follow(const MapPath& path, const Run& run, std::int64_t row) {
  for (std::size_t i = 0; i < path.size() && row >= 0; ++i)
    row = run.rows.index(path[i])[static_cast<std::size_t>(row)];
  return row;
}

/// The segments of a map: the rows of its domain grouped by target row.
inline Segments segments_of(MapId map, const Run& run) {
  const auto begin = run.rows.segments(map);
  return {begin.data(), begin.size() - 1};
}

}  // namespace cpu
}  // namespace fuselage
