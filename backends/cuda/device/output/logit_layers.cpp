#include "backends/cuda/device/output/logit_layers.h"

#include <algorithm>

#include "backends/cuda/device/kernel/bump_allocator.h"
#include "fuselage/base/error.h"

namespace fuselage::cuda {
namespace {

/// The stride of a row of logits, for aligned reads of 16 bytes.
std::int64_t stride_of(std::int64_t columns) { return (columns + 3) / 4 * 4; }

}  // namespace

BestQuery best_query(const PlannedInstruction& in, const Run& run, std::int64_t columns,
                     bool log_softmax) {
  return {.rows = rows_of(in, run),
          .columns = static_cast<std::int32_t>(columns),
          .k = cols_of(in),
          .log_softmax = log_softmax,
          .out = {.values = rows_out(in, run, 0),
                  .ids = rows_out<std::int32_t>(in, run, 1),
                  .log_sums = in.results.size() > 2 ? rows_out(in, run, 2) : RowsOut{}}};
}

/// The workspace of a launch.
struct LogitLayers::Memory {
  std::int32_t rows = 0;           ///< rows of a chunk
  std::int32_t* counts = nullptr;  ///< live rows of each chunk; null for a single chunk
  std::vector<float*> logits;      ///< by member, [rows, stride]
  Workspace shared;                ///< for the GEMMs, then for best_of_rows()
  std::size_t bytes = 0;
};

LogitLayers::LogitLayers(std::vector<Member> members, bool log_softmax, std::int64_t max_bytes)
    : members_(std::move(members)), log_softmax_(log_softmax), max_bytes_(max_bytes) {
  for (const Member& member : members_)
    check(member.operands.gemm().n() == columns(), "LogitLayers: members of different widths");
}

LogitLayers::Memory LogitLayers::memory_for(const PlannedInstruction& in, std::int64_t rows,
                                            Workspace workspace) const {
  const auto count = static_cast<std::int64_t>(members_.size());
  const std::int64_t row_bytes = count * stride_of(columns()) * std::int64_t{sizeof(float)};
  Memory memory;
  memory.rows = static_cast<std::int32_t>(
      std::clamp(max_bytes_ / row_bytes, std::int64_t{1}, std::max(rows, std::int64_t{1})));
  BumpAllocator allocator(workspace);
  if (rows > memory.rows) memory.counts = allocator.allocate<std::int32_t>(rows / memory.rows + 1);
  for (std::size_t m = 0; m < members_.size(); ++m)
    memory.logits.push_back(allocator.allocate<float>(memory.rows * stride_of(columns())));
  std::size_t bytes = best_of_rows_bytes(memory.rows, static_cast<std::int32_t>(columns()),
                                         cols_of(in), static_cast<std::int32_t>(count));
  for (const Member& member : members_)
    bytes = std::max(bytes, member.operands.buffer_workspace_bytes(memory.rows));
  memory.shared = {allocator.allocate<std::byte>(static_cast<std::int64_t>(bytes)), bytes};
  memory.bytes = allocator.used_bytes();
  return memory;
}

std::size_t LogitLayers::workspace_bytes(const PlannedInstruction& in,
                                         const RowBounds& bounds) const {
  return memory_for(in, bounds[in.domain].max_live, {}).bytes;
}

void LogitLayers::launch(const PlannedInstruction& in, const Run& run) const {
  const Rows rows = rows_of(in, run);
  if (rows.max_live == 0) return;
  const Memory memory = memory_for(in, rows.max_live, run.workspace);
  check(memory.bytes <= run.workspace.bytes, "LogitLayers: the workspace is too small");
  if (!memory.counts) return launch_chunk(in, run, memory, 0, rows);
  count_live_rows(run.stream, rows, memory.rows, memory.counts);
  for (std::int32_t begin = 0; begin < rows.max_live; begin += memory.rows)
    launch_chunk(
        in, run, memory, begin,
        {memory.counts + begin / memory.rows, std::min(memory.rows, rows.max_live - begin)});
}

/// Rows begin … begin + rows.max_live - 1.
void LogitLayers::launch_chunk(const PlannedInstruction& in, const Run& run, const Memory& memory,
                               std::int64_t begin, const Rows& rows) const {
  std::vector<Logits<float>> logits;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    const Member& member = members_[m];
    Gemm::Call call = member.operands.call(in, run);
    call.workspace = memory.shared;
    call.x = skip_rows(call.x, begin);
    call.rows = rows;
    call.out = {memory.logits[m], stride_of(columns()), nullptr};
    member.operands.gemm().launch(call);
    const float* bias =
        member.bias == kNone
            ? nullptr
            : data_at<const float>(in.operands[static_cast<std::size_t>(member.bias)], run);
    logits.push_back({.stored = {.data = memory.logits[m],
                                 .stride = stride_of(columns()),
                                 .columns = static_cast<std::int32_t>(columns())},
                      .bias = bias,
                      .weight = member.weight});
  }
  BestQuery query = best_query(in, run, columns(), log_softmax_);
  query.rows = rows;
  query.out.values = skip_rows(query.out.values, begin);
  query.out.ids = skip_rows(query.out.ids, begin);
  if (query.out.log_sums.data != nullptr) query.out.log_sums = skip_rows(query.out.log_sums, begin);
  best_of_rows<float>(run.stream, query, logits, memory.shared);
}

}  // namespace fuselage::cuda
