// The output layer on a GPU: product, bias, log-softmax, k best.
//
//   cuda_output_bench [rounds] [vocabulary] [batch]
//
// g.kbest ranks f32 logits in memory: one kernel against the three kernels of Hoang et al. (WNMT
// 2018), against separate kernels with cuDNN's softmax (if there is cuDNN), against optimal
// separate kernels, and against a mere read of the logits. g.out includes the product: one kernel
// without logits in memory, and the one for Hopper, against cuBLASLt and these kernels. All are
// graphs, replayed in turn; ratios are medians with quartiles. Results are compared first.

#include <fmt/format.h>

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/device/runtime/launch.h"
#include "bench/cuda/output_workload.h"
#include "bench/cuda/timing.h"
#include "bench/program.h"
#include "fuselage/base/error.h"

namespace fuselage::cuda {
namespace {

using Enqueue = std::function<void(cudaStream_t)>;

/// Throws unless the results of `work` equal `wanted` up to rounding.
void expect_results(OutputWorkload& workload, const Stream& stream, std::string_view name,
                    const Enqueue& work, const OutputResults& wanted, double tolerance) {
  work(stream.get());
  const OutputDifference off = difference(workload.results(), wanted);
  // Coarser rounding can swap nearly equal words.
  if (off.value > tolerance || off.ids > 20 * tolerance)
    throw InternalError(fmt::format("{}: values are off by {}, and {} of the ids differ", name,
                                    off.value, off.ids));
}

void print(std::string_view against, const DeviceComparison& times) {
  fmt::print("  {:<44} {:>9.1f} us  ratio {:.2f}  [{:.2f}, {:.2f}]\n", against,
             1e6 * times.baseline.median, times.ratio.median, times.ratio.first, times.ratio.third);
}

/// A baseline of a benchmark.
struct Rival {
  std::string_view name;
  Enqueue work;
  double tolerance = 1e-3;
};

/// Compares results and times, and returns the candidate's median.
double race(OutputWorkload& workload, const Stream& stream, const Enqueue& candidate,
            const std::vector<Rival>& rivals, int rounds) {
  candidate(stream.get());
  const OutputResults wanted = workload.results();
  const Replay replay(stream, candidate);
  double seconds = 0;
  for (const Rival& rival : rivals) {
    expect_results(workload, stream, rival.name, rival.work, wanted, rival.tolerance);
    const DeviceComparison times = compare(Replay(stream, rival.work), replay, rounds);
    print(rival.name, times);
    seconds = times.candidate.median;
  }
  return seconds;
}

void rank_logits(const Stream& stream, const OutputShape& shape, const LogSoftmax& softmax,
                 int rounds) {
  fmt::print("g.kbest: {} x {} f32, best {}\n", shape.rows, shape.columns, shape.k);
  OutputWorkload workload(shape, stream);
  workload.multiply(stream.get(), DType::f32);
  const Enqueue one_read = [&](cudaStream_t s) { workload.rank_in_one_read(s, DType::f32); };
  std::vector<Rival> rivals = {{"bias; softmax in passes; best in passes",
                                [&](cudaStream_t s) { workload.rank_in_three_kernels(s); }},
                               {"normalizer; log-softmax; best",
                                [&](cudaStream_t s) { workload.rank_in_separate_kernels(s); }}};
  if (softmax)
    rivals.push_back({"bias; cuDNN's softmax; best",
                      [&](cudaStream_t s) { workload.rank_by_softmax(s, softmax); }});
  const double seconds = race(workload, stream, one_read, rivals, rounds);
  const Replay reading(stream, [&](cudaStream_t s) { workload.read_logits(s); });
  const DeviceComparison roof = compare(reading, Replay(stream, one_read), rounds);
  const auto bytes = static_cast<double>(workload.logit_bytes());
  fmt::print("  {:<44} {:>9.1f} us  {:.2f} TB/s of a roof of {:.2f}: {:.0f} %\n\n", "in one read",
             1e6 * seconds, 1e-12 * bytes / seconds, 1e-12 * bytes / roof.baseline.median,
             100 * roof.ratio.median);
}

void multiply_and_rank(const Stream& stream, const OutputShape& shape, const LogSoftmax& softmax,
                       double peak, int rounds) {
  fmt::print("g.out: {} x {} x {} bf16, best {}\n", shape.rows, shape.columns, shape.depth,
             shape.k);
  OutputWorkload workload(shape, stream);
  const auto behind_product = [&](DType logits, const Enqueue& rank) -> Enqueue {
    return [&workload, logits, rank](cudaStream_t s) {
      workload.multiply(s, logits);
      rank(s);
    };
  };
  const auto one_read = [&](DType logits) -> Enqueue {
    return [&workload, logits](cudaStream_t s) { workload.rank_in_one_read(s, logits); };
  };
  // Logits of bf16 have a relative error of up to 2^-9.
  std::vector<Rival> rivals = {
      {"cuBLASLt; normalizer; log-softmax; best",
       behind_product(DType::f32, [&](cudaStream_t s) { workload.rank_in_separate_kernels(s); })},
      {"cuBLASLt; in one read", behind_product(DType::f32, one_read(DType::f32))},
      {"cuBLASLt to bf16; in one read", behind_product(DType::bf16, one_read(DType::bf16)), 0.1}};
  if (softmax)
    rivals.push_back(
        {"cuBLASLt; bias; cuDNN's softmax; best", behind_product(DType::f32, [&](cudaStream_t s) {
           workload.rank_by_softmax(s, softmax);
         })});
  const auto race_and_print = [&](std::string_view name, const Enqueue& candidate) {
    const double seconds = race(workload, stream, candidate, rivals, rounds);
    const double rate = workload.product_flop() / seconds;
    fmt::print("  {:<44} {:>9.1f} us  {:.0f} TFLOP/s of a roof of {:.0f}: {:.0f} %\n\n", name,
               1e6 * seconds, 1e-12 * rate, 1e-12 * peak, 100 * rate / peak);
  };
  race_and_print("without logits", [&](cudaStream_t s) { workload.multiply_and_rank(s); });
  if (workload.fits_hopper())
    race_and_print("without logits, by the kernel for Hopper",
                   [&](cudaStream_t s) { workload.multiply_and_rank_on_hopper(s); });
}

/// FLOP per second of a large product by cuBLASLt.
double product_peak(const Stream& stream, int rounds) {
  OutputWorkload workload({.rows = 8192, .depth = 8192, .columns = 8192, .k = 1}, stream);
  const Replay product(stream, [&](cudaStream_t s) { workload.multiply(s, DType::bf16); });
  return workload.product_flop() / compare(product, product, rounds).baseline.median;
}

void run(const std::vector<std::string>& arguments) {
  const auto argument = [&](std::size_t i, int otherwise) {
    return i < arguments.size() ? std::stoi(arguments[i]) : otherwise;
  };
  const int rounds = argument(0, 15);
  // Rows of logits are read in vectors of 16 bytes.
  const std::int32_t columns = argument(1, 30000) / 8 * 8;
  const std::int64_t batch = argument(2, 1280);
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
    throw Error("there is no GPU; this benchmark needs one");
  const Stream stream;
  const LogSoftmax softmax = cudnn_log_softmax();
  if (!softmax) fmt::print("cuDNN's softmax is left out: there is no cuDNN\n\n");
  for (const std::int32_t beam : {1, 3, 9})
    rank_logits(stream, {batch * beam, 256, columns, beam}, softmax, rounds);
  const double peak = product_peak(stream, rounds);
  for (const std::int32_t depth : {256, 512})
    for (const std::int32_t beam : {1, 3, 9})
      multiply_and_rank(stream, {batch * beam, depth, columns, beam}, softmax, peak, rounds);
}

}  // namespace
}  // namespace fuselage::cuda

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  return fuselage::run_program({"cuda_output_bench", "[rounds] [vocabulary] [batch]", 0,
                                "The output layer on a GPU: product, bias, log-softmax, k best."},
                               argc, argv, fuselage::cuda::run);
}
