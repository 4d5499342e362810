#include "backends/cpu/kernels/attention_kernels.h"

#include "backends/cpu/kernels/quantize_kernels.h"
#include "backends/cpu/runtime/operands.h"

namespace fuselage::cpu {
namespace {

/// All rows of an operand, read through the index of another operand or its own.
RowsIn through_index(const Instruction& in, const Run& run, std::size_t operand,
                     std::size_t indexed) {
  RowsIn rows = all_rows(in, run, operand);
  rows.rows = run.indexes[static_cast<std::size_t>(in.operands[indexed].index)];
  return rows;
}

/// Left rows first … last - 1 of some segments; their pairs keep their numbers.
Segments share_of(const Segments& segments, std::size_t first, std::size_t last) {
  return {segments.begin + first, last - first};
}

/// Calls f(first, last) for shares of the left rows. What takes the time is an exponential or the
/// like for each column of a pair, or a few of them.
template <typename F>
void in_segments(const Run& run, const Segments& segments, std::size_t cols, const F& f) {
  constexpr std::size_t kWorkOfAColumn = 8;
  const auto pairs = static_cast<std::size_t>(segments.begin[segments.count] - segments.begin[0]);
  in_parts(run, segments.count, kWorkOfAColumn * pairs * cols, f);
}

/// Turns the scores of a share, which are where the weights go, into weights, mixes the values by
/// them and quantizes the mixture if that is asked for.
void soften_and_mix(const Instruction& in, const Run& run, const RowsIn& values, std::size_t first,
                    std::size_t last) {
  const Segments share = share_of(segments_of(in, run), first, last);
  const auto heads = static_cast<std::size_t>(in.results[0].cols);
  float* weights = result_at(in, run, 0);
  run.kernels.segment_softmax(weights, heads, share, weights);
  const BufferView& mixture = in.results[1];
  run.kernels.mix_rows(weights, heads, values, static_cast<std::size_t>(mixture.cols), share,
                       {data_at<float>(mixture, run, static_cast<std::int64_t>(first)),
                        static_cast<std::size_t>(mixture.stride)});
  quantize_results(in, run, first, last);
}

}  // namespace

void bind_left(Instruction& in, const Binding& binding) {
  in.map = binding.node.attr<MapPath>("left").front();
  bind_quantized_results(in, binding);
}

void run_additive_attention(const Instruction& in, const Run& run) {
  const Segments segments = segments_of(in, run);
  const auto cols = static_cast<std::size_t>(in.operands[0].cols);
  in_segments(run, segments, cols, [&](std::size_t first, std::size_t last) {
    run.kernels.factored_scores(rows_from(all_rows(in, run, 0), first),
                                through_index(in, run, 1, 1),
                                data_at<const float>(in.operands[2], run, 0), cols,
                                share_of(segments, first, last), result_at(in, run, 0));
    soften_and_mix(in, run, through_index(in, run, 3, 1), first, last);
  });
}

void bind_dot_attention(Instruction& in, const Binding& binding) {
  bind_left(in, binding);
  in.integer = binding.node.attr<std::int64_t>("heads");
  in.real = binding.node.attr<double>("scale");
}

void run_dot_attention(const Instruction& in, const Run& run) {
  const Segments segments = segments_of(in, run);
  const auto cols = static_cast<std::size_t>(in.operands[0].cols);
  in_segments(run, segments, cols, [&](std::size_t first, std::size_t last) {
    const auto begin = static_cast<std::size_t>(segments.begin[first]);
    const auto end = static_cast<std::size_t>(segments.begin[last]);
    const RowsOut scores = rows_out(in, run);
    run.kernels.head_dot(rows_from(through_index(in, run, 0, 0), begin),
                         rows_from(through_index(in, run, 1, 1), begin),
                         static_cast<std::size_t>(in.integer), static_cast<float>(in.real),
                         end - begin, cols, {scores.data + begin * scores.stride, scores.stride});
    soften_and_mix(in, run, through_index(in, run, 2, 1), first, last);
  });
}

void bind_head_dot(Instruction& in, const Binding& binding) {
  in.integer = binding.node.attr<std::int64_t>("heads");
  in.real = binding.node.attr<double>("scale");
}

void run_head_dot(const Instruction& in, const Run& run) {
  run.kernels.head_dot(rows_in(in, run, 0), rows_in(in, run, 1),
                       static_cast<std::size_t>(in.integer), static_cast<float>(in.real),
                       rows_of(in, run), static_cast<std::size_t>(in.operands[0].cols),
                       rows_out(in, run));
}

void bind_to(Instruction& in, const Binding& binding) {
  in.map = binding.node.attr<MapPath>("to").front();
}

void run_segment_softmax(const Instruction& in, const Run& run) {
  run.kernels.segment_softmax(plain_in<const float>(in, run, 0), cols_of(in), segments_of(in, run),
                              result_at(in, run));
}

void run_mix(const Instruction& in, const Run& run) {
  RowsIn x = all_rows(in, run, 1);
  x.rows = run.indexes[static_cast<std::size_t>(in.operands[1].index)];
  run.kernels.mix_rows(data_at<const float>(in.operands[0], run, 0),
                       static_cast<std::size_t>(in.operands[0].cols), x, cols_of(in),
                       segments_of(in, run), rows_out(in, run));
}

void run_mean(const Instruction& in, const Run& run) {
  run.kernels.mean_rows(all_rows(in, run, 0), cols_of(in), segments_of(in, run), rows_out(in, run));
}

}  // namespace fuselage::cpu
