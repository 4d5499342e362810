#include "backends/cpu/kernels/row_kernels.h"

#include "backends/cpu/kernels/quantize_kernels.h"
#include "backends/cpu/runtime/operands.h"

namespace fuselage::cpu {

void run_softmax(const Instruction& in, const Run& run) {
  run.kernels.softmax(rows_in(in, run, 0), rows_of(in, run), cols_of(in), rows_out(in, run));
}

void run_log_softmax(const Instruction& in, const Run& run) {
  run.kernels.log_softmax(rows_in(in, run, 0), rows_of(in, run), cols_of(in), rows_out(in, run));
}

void run_log_sum_exp(const Instruction& in, const Run& run) {
  run.kernels.log_sum_exp(rows_in(in, run, 0), rows_of(in, run),
                          static_cast<std::size_t>(in.operands[0].cols), rows_out(in, run));
}

void bind_epsilon(Instruction& in, const Binding& binding) {
  in.real = binding.node.attr<double>("epsilon");
}

void run_layer_norm(const Instruction& in, const Run& run) {
  const float* bias = in.operands.size() > 2 ? plain_in<const float>(in, run, 2) : nullptr;
  run.kernels.layer_norm(rows_in(in, run, 0), plain_in<const float>(in, run, 1), bias,
                         static_cast<float>(in.real), rows_of(in, run), cols_of(in),
                         rows_out(in, run));
}

void run_rms_norm(const Instruction& in, const Run& run) {
  run.kernels.rms_norm(rows_in(in, run, 0), plain_in<const float>(in, run, 1),
                       static_cast<float>(in.real), rows_of(in, run), cols_of(in),
                       rows_out(in, run));
}

void bind_add_layer_norm(Instruction& in, const Binding& binding) {
  bind_epsilon(in, binding);
  bind_quantized_results(in, binding);
}

/// Row by row, so that a row's sum is read again while it is in the cache.
void run_add_layer_norm(const Instruction& in, const Run& run) {
  const RowsIn a = rows_in(in, run, 0);
  const RowsIn b = rows_in(in, run, 1);
  const auto* gain = plain_in<const float>(in, run, 2);
  const float* bias = in.operands.size() > 3 ? plain_in<const float>(in, run, 3) : nullptr;
  const std::size_t cols = cols_of(in);
  const BinaryRow add = run.kernels.binary_row(Binary::add, a.columns != cols, b.columns != cols);
  const RowsOut norm = rows_out(in, run, 0);
  const RowsOut sum = rows_out(in, run, 1);
  for (std::size_t r = 0; r < rows_of(in, run); ++r) {
    float* row = sum.data + r * sum.stride;
    add(row_of(a, r, a.columns), row_of(b, r, b.columns), cols, row);
    run.kernels.layer_norm({row, 0, nullptr, nullptr, cols}, gain, bias,
                           static_cast<float>(in.real), 1, cols,
                           {norm.data + r * norm.stride, norm.stride});
    quantize_results(in, run, r, r + 1);
  }
}

void run_k_best(const Instruction& in, const Run& run) {
  run.kernels.k_best(rows_in(in, run, 0), rows_of(in, run),
                     static_cast<std::size_t>(in.operands[0].cols), cols_of(in),
                     result_at(in, run, 0), result_at<std::int32_t>(in, run, 1));
}

}  // namespace fuselage::cpu
