#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "backends/cpu/runtime/program.h"
#include "backends/executable.h"
#include "backends/row_frame.h"

namespace fuselage::cpu {

/// Memory and pointers with which one worker runs a program.
class ProgramRunner {
 public:
  /// `kernels` are those of the level that the program was made for. They, the program and the
  /// team, if any, must outlive the runner.
  ProgramRunner(const Program& program, const KernelTable& kernels, Team* team = nullptr);

  /// Places all buffers for the row counts that the frame can reach in this batch; arena_bytes() is
  /// what they take.
  void plan_batch(const RowFrame& frame);
  /// Makes room for what was planned. The only place that allocates.
  void begin_batch(const RowFrame& frame);

  /// Where the results of an earlier program are, by name.
  void set_import(std::string_view name, const std::byte* data);

  /// Runs the program once.
  void run(RowFrame& frame);

  /// Adds up the time of each node from now on, by its index; nullptr: no more.
  void set_profile(std::vector<NodeTime>* times);

  /// First element of an output, by its number; rows follow one another without gaps.
  const std::byte* output(std::size_t number) const;
  /// The same, `bytes` of it, which stays after the runner, and whose memory goes with its last
  /// owner. The program must not run again then.
  std::shared_ptr<std::byte[]> take_output(std::size_t number, std::size_t bytes) const;
  std::int64_t output_cols(std::size_t number) const { return plan_.outputs[number].cols; }

  std::size_t arena_bytes() const { return arena_bytes_; }
  /// The most that a batch up to now has needed.
  std::size_t capacity() const { return capacity_; }

 private:
  void refresh_index(std::size_t slot, const RowTable& rows);
  void run_range(std::uint32_t begin, std::uint32_t end, const Run& run) const;
  void run_timed(std::uint32_t begin, std::uint32_t end, const Run& run) const;

  const Program& program_;
  const ProgramPlan& plan_;
  const KernelTable& kernels_;
  Team* team_;
  std::shared_ptr<std::byte[]> arena_;
  std::vector<std::size_t> offsets_;  ///< of the buffers that are in the arena, else 0
  std::size_t arena_bytes_ = 0;
  std::size_t capacity_ = 0;
  std::vector<std::byte*> buffers_;
  std::vector<std::vector<std::int32_t>> composed_;
  std::vector<const std::int32_t*> indexes_;
  std::vector<NodeTime>* times_ = nullptr;
};

}  // namespace fuselage::cpu
