// The output layer as one kernel against four kernels: product, bias, log-softmax, k best. Then the
// same for two models, whose log-probabilities are added; then, for bytes, against the steps of
// other systems.
//
//   output_bench [pairs] [vocabulary] [k] [f32, bf16, qint8, qint16 or qlog4]
//
// The type is the product's type; rows are quantized beforehand, since both sides need that.
// The cap is the gain of fusing if everything but the unfused product cost nothing; a fused kernel
// can exceed it, since it does not write the logits either. The floor is the time of the product's
// operations at the measured peak, or for one row the time of reading its matrix.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <string>

#include "backends/cpu/runtime/isa.h"
#include "backends/cpu/simd/table.h"
#include "bench/matrices.h"
#include "bench/measure.h"
#include "bench/peer_output.h"
#include "bench/program.h"
#include "bench/roofs.h"
#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"

namespace fuselage {
namespace {

struct Best {
  explicit Best(std::size_t size) : values(size), ids(size) {}
  std::vector<float> values;
  std::vector<std::int32_t> ids;
};

struct Shape {
  std::size_t rows, d, vocabulary, k;
  DType dtype;
};

class OutputLayer {
 public:
  explicit OutputLayer(const Shape& shape)
      : rows_(shape.rows),
        d_(shape.d),
        k_(shape.k),
        x_(random_vectors(row_type_of(shape.dtype), shape.rows, shape.d)),
        bias_(random_numbers(shape.vocabulary)),
        matrix_(random_matrix(shape.dtype, shape.d, shape.vocabulary, deviation(shape))),
        logits_(shape.rows * shape.vocabulary) {}

  void stream() { table_.gemm(x(), 1, matrix_, out()); }
  void product() { table_.gemm(x(), rows_, matrix_, out()); }
  void add_bias() {
    table_.binary(cpu::Binary::add, logits(),
                  {.data = bias_.data(), .stride = 0, .columns = bias_.size()}, rows_, bias_.size(),
                  out());
  }
  void log_softmax() { table_.log_softmax(logits(), rows_, bias_.size(), out()); }
  void k_best(Best& best) {
    table_.k_best(logits(), rows_, bias_.size(), k_, best.values.data(), best.ids.data());
  }
  void log_probs() {
    product();
    add_bias();
    log_softmax();
  }
  void add_log_probs(const OutputLayer& other) {
    table_.binary(cpu::Binary::add, logits(), other.logits(), rows_, bias_.size(), out());
  }
  void separate(Best& best) {
    log_probs();
    k_best(best);
  }
  void sorted(Best& best) {
    log_probs();
    k_best_by_sorting(logits_.data(), rows_, bias_.size(), k_, best.values.data(), best.ids.data());
  }
  void fused(Best& best) {
    table_.linear_k_best(x(), rows_, matrix_, bias_.data(), /*log_softmax=*/true, k_,
                         best.values.data(), best.ids.data(), nullptr);
  }

  cpu::WeightedLayer member() const {
    return {.a = x(), .matrix = &matrix_, .bias = bias_.data(), .weight = 1};
  }

  PeerOutput as_peers() const {
    const Shape shape{rows_, d_, bias_.size(), k_, matrix_.dtype()};
    return {x_, random_vectors(shape.dtype, shape.vocabulary, d_, deviation(shape)), bias_};
  }

  double flop() const { return 2.0 * static_cast<double>(rows_ * d_ * bias_.size()); }

 private:
  static float deviation(const Shape& shape) { return 3 / std::sqrt(static_cast<float>(shape.d)); }

  cpu::RowsIn x() const {
    const std::size_t elements = matrix_.row_elements();
    return {.data = x_.data<float>(), .stride = elements, .columns = elements};
  }
  cpu::RowsIn logits() const {
    return {.data = logits_.data(), .stride = bias_.size(), .columns = bias_.size()};
  }
  cpu::RowsOut out() { return {logits_.data(), bias_.size()}; }

  const cpu::KernelTable& table_ = cpu::kernels();
  std::size_t rows_, d_, k_;
  Tensor x_;
  std::vector<float> bias_;
  cpu::PackedMatrix matrix_;
  std::vector<float> logits_;
};

void expect_same(const Best& separate, const Best& fused) {
  for (std::size_t i = 0; i < separate.ids.size(); ++i)
    if (separate.ids[i] != fused.ids[i] ||
        !(std::abs(separate.values[i] - fused.values[i]) <= 1e-5f * std::abs(separate.values[i])))
      throw Error(
          fmt::format("place {}: separate kernels give {} with {}, the fused one {} with {}", i,
                      separate.ids[i], separate.values[i], fused.ids[i], fused.values[i]));
}

std::string as_text(const Comparison& compared) {
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", compared.ratio, compared.low, compared.high);
}

/// Median seconds of each step; the steps run one after another.
std::vector<double> median_seconds(int runs, const std::vector<std::function<void()>>& steps) {
  std::vector<std::vector<double>> seconds(steps.size());
  for (int i = 0; i < runs; ++i)
    for (std::size_t step = 0; step < steps.size(); ++step) {
      const double begin = thread_seconds();
      steps[step]();
      seconds[step].push_back(thread_seconds() - begin);
    }
  std::vector<double> medians;
  for (std::vector<double>& of_step : seconds) medians.push_back(median(std::move(of_step)));
  return medians;
}

/// Two models of one vocabulary.
class Ensemble {
 public:
  explicit Ensemble(const Shape& shape)
      : rows_(shape.rows), k_(shape.k), first_(shape), second_(wider(shape)) {}

  void products() {
    first_.product();
    second_.product();
  }
  void separate(Best& best) {
    first_.log_probs();
    second_.log_probs();
    first_.add_log_probs(second_);
    first_.k_best(best);
  }
  void fused(Best& best) {
    const std::array members{first_.member(), second_.member()};
    cpu::kernels().ensemble_k_best(members, rows_, k_, best.values.data(), best.ids.data());
  }

 private:
  static Shape wider(Shape shape) {
    shape.d += 16;
    return shape;
  }

  std::size_t rows_, k_;
  OutputLayer first_, second_;
};

void compare_ensembles(int pairs, std::size_t vocabulary, std::size_t k, DType dtype) {
  fmt::print("\ntwo models\n{:>5} {:>4}  {:>8}  {:>8} {:>7}  {:>6}  {}\n", "rows", "d", "products",
             "separate", "fused", "cap", "ratio");
  for (const std::size_t d : {256, 512})
    for (const std::size_t rows : {6, 64, 192}) {
      Ensemble ensemble({rows, d, vocabulary, k, dtype});
      Best separate(rows * k), fused(rows * k);
      ensemble.separate(separate);
      ensemble.fused(fused);
      expect_same(separate, fused);
      const Comparison compared = compare(
          pairs, [&] { ensemble.separate(separate); }, [&] { ensemble.fused(fused); });
      const double products = median_seconds(pairs, {[&] { ensemble.products(); }})[0];
      fmt::print("{:5} {:4}  {:8.3f}  {:8.3f} {:7.3f}  {:6.3f}  {}\n", rows, d, 1e3 * products,
                 1e3 * compared.baseline, 1e3 * compared.candidate, compared.baseline / products,
                 as_text(compared));
    }
}

/// Times the steps of other systems, and our own kernels with their k best by sorting.
void compare_peers(int pairs, std::size_t vocabulary, std::size_t k) {
  if (!PeerOutput::is_available()) return;
  fmt::print(
      "\noneDNN's product in 32 bits, floats and bias, log-softmax, partial sort; then our own, "
      "sorted\n{:>5} {:>4}  {:>7} {:>7} {:>7} {:>7}  {:>7} {:>7}  {:<22} {:>7}  {}\n",
      "rows", "d", "product", "floats", "softmax", "sort", "whole", "fused", "ratio", "sorted",
      "ratio");
  for (const std::size_t d : {256, 512})
    for (const std::size_t rows : {6, 64, 192}) {
      OutputLayer layer({rows, d, vocabulary, k, DType::qint8});
      PeerOutput peer = layer.as_peers();
      Best separate(rows * k), fused(rows * k);
      const auto run_peer = [&] {
        peer.product();
        peer.dequantize();
        peer.log_softmax();
        peer.k_best(k, separate.values.data(), separate.ids.data());
      };
      const auto run_fused = [&] { layer.fused(fused); };
      run_peer();
      run_fused();
      expect_same(separate, fused);
      const Comparison whole = compare(pairs, run_peer, run_fused);
      const std::vector<double> parts = median_seconds(
          pairs, {[&] { peer.product(); }, [&] { peer.dequantize(); }, [&] { peer.log_softmax(); },
                  [&] { peer.k_best(k, separate.values.data(), separate.ids.data()); }});
      layer.sorted(separate);
      expect_same(separate, fused);
      const Comparison sorted = compare(
          pairs, [&] { layer.sorted(separate); }, run_fused);
      fmt::print(
          "{:5} {:4}  {:7.3f} {:7.3f} {:7.3f} {:7.3f}  {:7.3f} {:7.3f}  {:<22} {:7.3f}  {}\n", rows,
          d, 1e3 * parts[0], 1e3 * parts[1], 1e3 * parts[2], 1e3 * parts[3], 1e3 * whole.baseline,
          1e3 * whole.candidate, as_text(whole), 1e3 * sorted.baseline, as_text(sorted));
    }
}

void run(const std::vector<std::string>& arguments) {
  const auto argument = [&](std::size_t i, int otherwise) {
    return i < arguments.size() ? std::stoi(arguments[i]) : otherwise;
  };
  const int pairs = argument(0, 60);
  const auto vocabulary = static_cast<std::size_t>(argument(1, 32000));
  const auto k = static_cast<std::size_t>(argument(2, 7));
  const std::string type = arguments.size() > 3 ? arguments[3] : "f32";
  const std::optional<DType> dtype = dtype_from_string(type);
  const bool is_real = dtype == DType::f32 || dtype == DType::bf16;
  if (!dtype || (!is_real && !is_quantized(*dtype)))
    throw Error(fmt::format("products are of f32, bf16, qint8, qint16 or qlog4, not {}", type));
  // Integers have a measured peak only from AVX2 on.
  const Peaks peaks = measured_peaks();
  const double integers = 2 * (*dtype == DType::qint16 ? peaks.i16 : peaks.i8);
  const double peak = is_real || integers == 0 ? measured_peak() : integers;
  fmt::print("isa {}, {} peak {:.0f} GOP/s, vocabulary {}, k {}; milliseconds\n", cpu::active_isa(),
             type, peak / 1e9, vocabulary, k);
  fmt::print("{:>5} {:>4}  {:>7} {:>6} {:>7} {:>6}  {:>8} {:>7} {:>6} {:>5}  {:>6}  {}\n", "rows",
             "d", "product", "bias", "softmax", "k best", "separate", "fused", "floor", "eff.",
             "cap", "ratio");
  for (const std::size_t d : {256, 512})
    for (const std::size_t rows : {6, 64, 192}) {
      OutputLayer layer({rows, d, vocabulary, k, *dtype});
      Best separate(rows * k), fused(rows * k);
      layer.separate(separate);
      layer.fused(fused);
      expect_same(separate, fused);
      const Comparison compared = compare(
          pairs, [&] { layer.separate(separate); }, [&] { layer.fused(fused); });
      const std::vector<double> parts = median_seconds(
          pairs, {[&] { layer.stream(); }, [&] { layer.product(); }, [&] { layer.add_bias(); },
                  [&] { layer.log_softmax(); }, [&] { layer.k_best(separate); }});
      const double stream = parts[0], product = parts[1], bias = parts[2], softmax = parts[3],
                   best = parts[4];
      const double floor = std::max(layer.flop() / peak, stream);
      fmt::print(
          "{:5} {:4}  {:7.3f} {:6.3f} {:7.3f} {:6.3f}  {:8.3f} {:7.3f} {:6.3f} {:3.0f} %  {:6.3f}  "
          "{}\n",
          rows, d, 1e3 * product, 1e3 * bias, 1e3 * softmax, 1e3 * best, 1e3 * compared.baseline,
          1e3 * compared.candidate, 1e3 * floor, 100 * floor / compared.candidate,
          (product + bias + softmax + best) / product, as_text(compared));
    }
  compare_ensembles(pairs, vocabulary, k, *dtype);
  if (*dtype == DType::qint8) compare_peers(pairs, vocabulary, k);
}

}  // namespace
}  // namespace fuselage

int main(int argc, char** argv) {
  return fuselage::run_program(
      {"output_bench", "[pairs] [vocabulary] [k] [f32, bf16, qint8, qint16 or qlog4]", 0,
       "The output layer as one kernel against four."},
      argc, argv, fuselage::run);
}
