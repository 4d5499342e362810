#include "backends/cuda/device/output/logit_layers.h"

#include <algorithm>

#include "backends/cuda/device/kernel/bump_allocator.h"
#include "backends/cuda/device/rows/row_chunks.h"
#include "base/error.h"

namespace fuselage::cuda {
namespace {

/// From row to row of logits, so that each can be read in pieces of 16 bytes.
std::int64_t stride_of(std::int64_t columns) { return (columns + 3) / 4 * 4; }

}  // namespace

BestQuery best_query(const PlannedInstruction& in, const Run& run, std::int64_t columns,
                     bool log_softmax) {
  return {.rows = rows_of(in, run),
          .columns = static_cast<std::int32_t>(columns),
          .k = cols_of(in),
          .log_softmax = log_softmax,
          .out = {rows_out(in, run, 0), rows_out<std::int32_t>(in, run, 1)}};
}

/// Pieces of the workspace.
struct LogitLayers::Memory {
  std::int32_t rows = 0;           ///< of a chunk
  std::int32_t* counts = nullptr;  ///< live rows of each chunk, if there are several
  std::vector<float*> logits;      ///< of each member, [rows, stride]
  Workspace product, best;         ///< used one after the other, and so in one place
  std::size_t bytes = 0;
};

LogitLayers::LogitLayers(std::vector<Member> members, bool log_softmax, std::int64_t most_bytes)
    : members_(std::move(members)), log_softmax_(log_softmax), most_bytes_(most_bytes) {
  for (const Member& member : members_)
    check(member.product.rows().n() == columns(), "LogitLayers: members of several widths");
}

LogitLayers::Memory LogitLayers::memory_for(const PlannedInstruction& in, std::int64_t rows,
                                            Workspace workspace) const {
  const auto count = static_cast<std::int64_t>(members_.size());
  const std::int64_t row_bytes = count * stride_of(columns()) * std::int64_t{sizeof(float)};
  Memory memory;
  memory.rows = static_cast<std::int32_t>(
      std::clamp(most_bytes_ / row_bytes, std::int64_t{1}, std::max(rows, std::int64_t{1})));
  Pieces pieces(workspace);
  if (rows > memory.rows) memory.counts = pieces.take<std::int32_t>(rows / memory.rows + 1);
  for (std::size_t m = 0; m < members_.size(); ++m)
    memory.logits.push_back(pieces.take<float>(memory.rows * stride_of(columns())));
  std::size_t rest = best_of_rows_bytes(memory.rows, static_cast<std::int32_t>(columns()),
                                        cols_of(in), static_cast<std::int32_t>(count));
  for (const Member& member : members_)
    rest = std::max(rest, member.product.bytes_apart(memory.rows));
  auto* shared = pieces.take<std::byte>(static_cast<std::int64_t>(rest));
  memory.product = memory.best = {shared, rest};
  memory.bytes = pieces.bytes();
  return memory;
}

std::size_t LogitLayers::workspace_bytes(const PlannedInstruction& in,
                                         const RowBounds& bounds) const {
  return memory_for(in, bounds[in.domain].most_live, {}).bytes;
}

void LogitLayers::launch(const PlannedInstruction& in, const Run& run) const {
  const Rows rows = rows_of(in, run);
  if (rows.most == 0) return;
  const Memory memory = memory_for(in, rows.most, run.workspace);
  check(memory.bytes <= run.workspace.bytes, "LogitLayers: the workspace is too small");
  if (!memory.counts) return launch_chunk(in, run, memory, 0, rows);
  count_chunks(run.stream, rows, memory.rows, memory.counts);
  for (std::int32_t begin = 0; begin < rows.most; begin += memory.rows)
    launch_chunk(in, run, memory, begin,
                 {memory.counts + begin / memory.rows, std::min(memory.rows, rows.most - begin)});
}

/// Rows begin … begin + rows.most - 1.
void LogitLayers::launch_chunk(const PlannedInstruction& in, const Run& run, const Memory& memory,
                               std::int64_t begin, const Rows& rows) const {
  std::vector<Logits<float>> logits;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    const Member& member = members_[m];
    RowProduct::Call call = member.product.call(in, run);
    call.workspace = memory.product;
    call.x = rows_behind(call.x, begin);
    call.rows = rows;
    call.out = {memory.logits[m], stride_of(columns()), nullptr};
    member.product.rows().launch(call);
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
  query.out = {rows_behind(query.out.values, begin), rows_behind(query.out.ids, begin)};
  best_of_rows<float>(run.stream, query, logits, memory.best);
}

}  // namespace fuselage::cuda
