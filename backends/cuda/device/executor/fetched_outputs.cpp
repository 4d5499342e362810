#include "backends/cuda/device/executor/fetched_outputs.h"

#include <bit>

#include "backends/cuda/device/runtime/launch.h"

namespace fuselage::cuda {

FetchedOutputs::FetchedOutputs(const Graph& graph, const ProgramRunner& runner,
                               const Stream& stream)
    : graph_(graph), runner_(runner), stream_(stream), outputs_(graph.outputs().size()) {}

void FetchedOutputs::invalidate() {
  for (Output& output : outputs_) output.is_copied = false;
}

std::size_t FetchedOutputs::size_bytes(std::size_t number, const RowTable& table) const {
  const DomainId domain = graph_.value(graph_.outputs()[number].value).type.domain;
  return static_cast<std::size_t>(table.rows(domain) * runner_.output_cols(number)) * sizeof(float);
}

void FetchedOutputs::copy(std::size_t number, const RowTable& table) {
  Output& output = outputs_[number];
  const std::size_t bytes = size_bytes(number, table);
  if (bytes > output.memory.size_bytes()) output.memory = PinnedMemory(std::bit_ceil(bytes));
  output.is_copied = true;
  if (bytes == 0) return;
  expect_success(cudaMemcpyAsync(output.memory.data(), runner_.output(number), bytes,
                                 cudaMemcpyDeviceToHost, stream_.get()),
                 "copy of an output");
}

const std::byte* FetchedOutputs::get(std::size_t number, const RowTable& table) {
  Output& output = outputs_[number];
  output.wanted = true;
  if (!output.is_copied) {
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      if (outputs_[i].wanted && !outputs_[i].is_copied) copy(i, table);
    stream_.synchronize();
  }
  return output.memory.data();
}

}  // namespace fuselage::cuda
