#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "backends/cpu/runtime/program.h"
#include "base/files/mapped_memory.h"
#include "fuselage/backends/executable.h"
#include "fuselage/backends/row_frame.h"

namespace fuselage::cpu {

/// Memory for values. Throws std::bad_alloc if there is none.
Pages allocate_arena(std::size_t bytes);

/// Runs a program for one worker: owns its arena and pointers.
class ProgramRunner {
 public:
  /// `kernels` are of the level that the program was made for. Program, kernels and team (may be
  /// null) must outlive the runner.
  ProgramRunner(const Program& program, const KernelTable& kernels, Team* team = nullptr);

  /// Places all buffers for the maximum row counts of the frame in this batch; sets arena_bytes().
  void plan_batch(const RowFrame& frame);
  /// Allocates the planned arena.
  void begin_batch(const RowFrame& frame);
  /// Has kernels empty their states for a batch.
  void begin_kernels(const RowFrame& frame);
  /// Has kernels add sentences, all of a batch or some of a store, to their states. Later member
  /// functions allocate nothing.
  void add_sentences(const RowFrame& frame, std::span<const std::int32_t> sentences);

  /// Sets the address of the result `name` of an earlier program.
  void set_import(std::string_view name, const std::byte* data);

  /// Runs the program once.
  void run(RowFrame& frame);

  /// Whether all kernels can add sentences while others are under way.
  bool takes_more_sentences() const;

  /// After each instruction of later runs, gives back the pages of files that its weights are in:
  /// for a program that runs once.
  void give_back_weights() { gives_back_ = true; }

  /// Accumulates the time of each later node run, by node index; nullptr: stops.
  void set_profile(std::vector<NodeTime>* times);

  /// The first element of output `number`; rows are contiguous.
  const std::byte* output(std::size_t number) const;
  /// The same as shared memory of `bytes` bytes that outlives the runner. The program must not run
  /// again afterwards.
  std::shared_ptr<std::byte[]> take_output(std::size_t number, std::size_t bytes) const;
  std::int64_t output_cols(std::size_t number) const { return plan_.outputs[number].cols; }

  std::size_t arena_bytes() const { return arena_bytes_; }
  /// The maximum arena size of all batches so far, in bytes.
  std::size_t capacity() const { return capacity_; }

 private:
  void refresh_index(std::size_t slot, const RowTable& rows);
  Run run_of(const RowFrame& frame) const;
  template <typename Action>
  void for_states(const RowFrame& frame, const Action& action);
  void run_range(std::uint32_t begin, std::uint32_t end, const Run& run) const;
  void run_kernel(std::uint32_t instruction, const Run& run) const;
  void keep_new_rows(std::uint32_t instruction) const;
  /// Throws the exception in flight, which names a registered kernel.
  [[noreturn]] void rethrow_for_kernel(std::size_t instruction) const;
  void give_back_weights_of(const PlannedInstruction& in) const;
  void run_timed(std::uint32_t begin, std::uint32_t end, const Run& run) const;

  const Program& program_;
  const ProgramPlan& plan_;
  const KernelTable& kernels_;
  Team* team_;
  std::shared_ptr<std::byte[]> arena_;
  std::vector<std::size_t> offsets_;  ///< of arena buffers; 0 for others
  std::size_t arena_bytes_ = 0;
  std::size_t capacity_ = 0;
  std::vector<std::byte*> buffers_;
  std::vector<std::vector<std::int32_t>> composed_;
  std::vector<const std::int32_t*> indexes_;
  std::vector<std::unique_ptr<BatchState>> states_;  ///< of kernels, by instruction; or null
  std::span<const std::int32_t> newest_;  ///< rows of a store for new prefix rows; or empty
  std::vector<NodeTime>* times_ = nullptr;
  bool gives_back_ = false;
};

}  // namespace fuselage::cpu
