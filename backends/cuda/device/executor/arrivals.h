#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "backends/cuda/device/executor/device_program.h"
#include "backends/cuda/device/executor/placed_imports.h"
#include "backends/cuda/device/executor/program_runner.h"
#include "backends/cuda/device/gemm/blas.h"
#include "backends/cuda/device/recurrent/cudnn.h"
#include "backends/cuda/device/rows/device_row_memory.h"
#include "backends/cuda/device/runtime/staged_ints.h"
#include "backends/cuda/device/runtime/stream.h"
#include "backends/cuda/layout.h"
#include "fuselage/backends/row_frame.h"

namespace fuselage::cuda {

/// The source program for sentences that arrive while others are searched. It has a stream, values,
/// rows and scratch memory of its own, so that it runs beside steps. Events order its runs and the
/// copies of its results to a store.
class Arrivals {
 public:
  /// `program` must outlive this.
  Arrivals(const DeviceProgram& program, const BlasOptions& options);
  /// Waits for the stream before memory is freed.
  ~Arrivals();

  /// Enqueues the source program on a batch. Throws as Worker::begin() does; after OutOfMemory
  /// the memory of values is free.
  void run(const Batch& batch);
  /// The rows of that batch.
  const RowFrame& frame() const { return frame_; }

  /// Enqueues in the stream of steps, after `store` has admitted frame(): the batch's maps and
  /// results to their rows of the store.
  void place(const RowFrame& store, const DeviceRows& store_rows, const PlacedImports& imports,
             const Stream& steps);

  std::size_t arena_bytes() const { return source_.arena_bytes(); }

 private:
  void grow_to(const Layout& batch);
  void run_in_memory(const Layout& batch);
  /// The rows of a domain in the store, in device memory; null: they are not of the store.
  const std::int32_t* placed(DomainId domain) const;
  Rows rows_of(DomainId domain) const;

  const Graph& graph_;
  RowFrame frame_;
  Stream stream_;
  Blas blas_;
  Cudnn cudnn_;
  DeviceRowMemory rows_;
  ProgramRunner source_;
  Layout layout_;
  DeviceRows batch_;  ///< rows of the current batch
  Event encoded_;     ///< the batch's results are there
  Event copied_;      ///< and in the store
  std::optional<StagedInts> placed_rows_;
  std::vector<StagedInts::Array> placed_;  ///< by domain; others are empty
};

}  // namespace fuselage::cuda
