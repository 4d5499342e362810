#include "backends/cpu/attention_kernels.h"

#include "backends/cpu/operands.h"

namespace fuselage::cpu {
namespace {

/// All rows of an operand, read through the index of another operand or its own.
RowsIn through_index(const Instruction& in, const Run& run, std::size_t operand,
                     std::size_t indexed) {
  RowsIn rows = all_rows(in, run, operand);
  rows.rows = run.indexes[static_cast<std::size_t>(in.operands[indexed].index)];
  return rows;
}

/// Turns the scores, which are where the weights go, into weights, and mixes the values by them.
void soften_and_mix(const Instruction& in, const Run& run, const RowsIn& values) {
  const Segments segments = segments_of(in, run);
  const auto heads = static_cast<std::size_t>(in.results[0].cols);
  float* weights = result_at(in, run, 0);
  run.kernels.segment_softmax(weights, heads, segments, weights);
  const Place& mixture = in.results[1];
  run.kernels.mix_rows(weights, heads, values, static_cast<std::size_t>(mixture.cols), segments,
                       {data_at<float>(mixture, run, 0), static_cast<std::size_t>(mixture.stride)});
}

}  // namespace

void bind_left(Instruction& in, const Binding& binding) {
  in.map = binding.node.attr<MapPath>("left").front();
}

std::string refuse_additive_attention(const Graph& graph, const Node& node) {
  return is_stored(graph, graph.producer(node.operands[2])) ? "" : "its vector v is not stored";
}

void run_additive_attention(const Instruction& in, const Run& run) {
  run.kernels.factored_scores(all_rows(in, run, 0), through_index(in, run, 1, 1),
                              data_at<const float>(in.operands[2], run, 0),
                              static_cast<std::size_t>(in.operands[0].cols), segments_of(in, run),
                              result_at(in, run, 0));
  soften_and_mix(in, run, through_index(in, run, 3, 1));
}

void bind_dot_attention(Instruction& in, const Binding& binding) {
  bind_left(in, binding);
  in.integer = binding.node.attr<std::int64_t>("heads");
  in.real = binding.node.attr<double>("scale");
}

void run_dot_attention(const Instruction& in, const Run& run) {
  run.kernels.head_dot(through_index(in, run, 0, 0), through_index(in, run, 1, 1),
                       static_cast<std::size_t>(in.integer), static_cast<float>(in.real),
                       rows_of(in, run), static_cast<std::size_t>(in.operands[0].cols),
                       rows_out(in, run));
  soften_and_mix(in, run, through_index(in, run, 2, 1));
}

}  // namespace fuselage::cpu
