#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/cuda/device/gemm/gemm_operands.h"
#include "backends/cuda/device/kernel/kernel.h"
#include "backends/cuda/device/kernel/operands.h"
#include "backends/cuda/device/output/k_best.h"

namespace fuselage::cuda {

/// What a node asks for whose results are values and ids, for all its rows.
BestQuery best_query(const PlannedInstruction& in, const Run& run, std::int64_t columns,
                     bool log_softmax);

/// Output layers by way of logits in memory: a product for each model, then one read of them all.
/// Rows go in chunks, so that logits take no more than so many bytes, or what one row takes.
class LogitLayers : public Kernel {
 public:
  static constexpr std::int64_t kMaxBytes = std::int64_t{256} << 20;

  struct Member {
    BoundProduct product;
    std::int32_t bias = kNone;  ///< operand of the node
    float weight = 1;
  };

  LogitLayers(std::vector<Member> members, bool log_softmax, std::int64_t most_bytes = kMaxBytes);

  void launch(const PlannedInstruction& in, const Run& run) const override;
  std::size_t workspace_bytes(const PlannedInstruction& in, const RowBounds& bounds) const override;

 private:
  struct Memory;

  std::int64_t columns() const { return members_[0].product.rows().n(); }
  Memory memory_for(const PlannedInstruction& in, std::int64_t rows, Workspace workspace) const;
  void launch_chunk(const PlannedInstruction& in, const Run& run, const Memory& memory,
                    std::int64_t begin, const Rows& rows) const;

  std::vector<Member> members_;
  bool log_softmax_;
  std::int64_t most_bytes_;
};

}  // namespace fuselage::cuda
