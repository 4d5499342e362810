#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/cuda/device/gemm/gemm_operands.h"
#include "backends/cuda/device/kernel/kernel.h"
#include "backends/cuda/device/kernel/operands.h"
#include "backends/cuda/device/output/k_best.h"

namespace fuselage::cuda {

/// The query of a node with values and ids as results, for all its rows.
BestQuery best_query(const PlannedInstruction& in, const Run& run, std::int64_t columns,
                     bool log_softmax);

/// Output layers with logits in memory: a GEMM for each model, then best_of_rows(). Rows are
/// computed in chunks, so that logits take at most max_bytes, or the memory of one row.
class LogitLayers : public Kernel {
 public:
  static constexpr std::int64_t kMaxBytes = std::int64_t{256} << 20;

  struct Member {
    GemmOperands operands;
    std::int32_t bias = kNone;  ///< number of the operand
    float weight = 1;
  };

  LogitLayers(std::vector<Member> members, bool log_softmax, std::int64_t max_bytes = kMaxBytes);

  void launch(const PlannedInstruction& in, const Run& run) const override;
  std::size_t workspace_bytes(const PlannedInstruction& in, const RowBounds& bounds) const override;

 private:
  struct Memory;

  std::int64_t columns() const { return members_[0].operands.gemm().n(); }
  Memory memory_for(const PlannedInstruction& in, std::int64_t rows, Workspace workspace) const;
  void launch_chunk(const PlannedInstruction& in, const Run& run, const Memory& memory,
                    std::int64_t begin, const Rows& rows) const;

  std::vector<Member> members_;
  bool log_softmax_;
  std::int64_t max_bytes_;
};

}  // namespace fuselage::cuda
