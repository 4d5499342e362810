// Products of few rows: integers and bf16 against our own floats, logarithmic numbers against our
// own bytes, and our floats against other libraries.
//
//   gemm_bench [pairs] [k n]
//
// "eff." is the minimum time of a product over its measured time. The minimum is the time of its
// multiply-adds at the measured peak, or of reading its matrix at the rate of a plain loop that
// reads the same bytes repeatedly. For one row, product and loop are also timed alternately.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "backends/cpu/runtime/isa.h"
#include "backends/cpu/simd/table.h"
#include "bench/matrices.h"
#include "bench/measure.h"
#include "bench/peer_kernels.h"
#include "bench/program.h"
#include "bench/roofs.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

struct Shape {
  std::size_t k, n;
};

/// Products of some rows by a matrix, repeated for a millisecond or longer, since the first one may
/// find its matrix evicted from the cache.
class Product {
 public:
  Product(const cpu::PackedMatrix& matrix, std::size_t rows)
      : matrix_(matrix),
        rows_(rows),
        x_(random_vectors(row_type_of(matrix.dtype()), rows, matrix.k())),
        y_(rows * matrix.n()) {
    const double work = static_cast<double>(rows) * static_cast<double>(matrix.k() * matrix.n());
    repeats_ = std::max(10, static_cast<int>(2e8 / work));
  }

  void operator()() {
    for (int i = 0; i < repeats_; ++i)
      table_.gemm(
          {.data = x(), .stride = matrix_.row_elements(), .columns = matrix_.row_elements()}, rows_,
          matrix_, {y_.data(), matrix_.n()});
  }

  int repeats() const { return repeats_; }
  const float* x() const { return x_.data<float>(); }
  const std::vector<float>& y() const { return y_; }

  /// Minimum seconds of a product.
  double floor(double peak, double bandwidth) const {
    const auto size = static_cast<double>(matrix_.k() * matrix_.n());
    return std::max(static_cast<double>(rows_) * size / peak,
                    static_cast<double>(matrix_.size_bytes()) / bandwidth);
  }

 private:
  const cpu::KernelTable& table_ = cpu::kernels();
  const cpu::PackedMatrix& matrix_;
  std::size_t rows_;
  Tensor x_;
  std::vector<float> y_;
  int repeats_;
};

/// A type's matrix of a shape, and its roofs.
struct Matrix {
  Matrix(DType dtype, Shape shape, double the_peak)
      : packed(random_matrix(dtype, shape.k, shape.n)),
        peak(the_peak),
        bandwidth(read_bandwidth(packed.bytes(), packed.size_bytes())) {}

  cpu::PackedMatrix packed;
  double peak, bandwidth;
};

double efficiency(const Matrix& matrix, const Product& product, double seconds) {
  return 100 * product.floor(matrix.peak, matrix.bandwidth) * product.repeats() / seconds;
}

/// Prints the ratio of the time of reading a matrix to the time of multiplying a row by it.
void compare_with_reading(int pairs, const char* name, const Matrix& matrix) {
  Product product(matrix.packed, 1);
  const auto read = [&] {
    for (int i = 0; i < product.repeats(); ++i)
      read_once(matrix.packed.bytes(), matrix.packed.size_bytes());
  };
  const Comparison compared = compare(pairs, read, product);
  fmt::print("  {} {:.2f} [{:.2f}, {:.2f}]", name, compared.ratio, compared.low, compared.high);
}

void compare_types(int pairs, const Peaks& peaks, Shape shape) {
  const Matrix f32(DType::f32, shape, peaks.f32), i16(DType::qint16, shape, peaks.i16),
      i8(DType::qint8, shape, peaks.i8);
  fmt::print("\n{} x {}: {:.0f}, {:.0f}, {:.0f} GB/s\n", shape.k, shape.n, f32.bandwidth / 1e9,
             i16.bandwidth / 1e9, i8.bandwidth / 1e9);
  fmt::print("{:>5}  {:>8} {:>5}  {:>8} {:>5}  {:<22} {:>8} {:>5}  {}\n", "rows", "f32 us", "eff.",
             "i16 us", "eff.", "k.i16.skinny", "i8 us", "eff.", "k.i8.skinny");
  for (const std::size_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 64, 512}) {
    Product with_f32(f32.packed, rows), with_i16(i16.packed, rows), with_i8(i8.packed, rows);
    const Comparison shorts = compare(pairs, with_f32, with_i16);
    const Comparison bytes = compare(pairs, with_f32, with_i8);
    const auto microseconds = [](double seconds, const Product& product) {
      return 1e6 * seconds / product.repeats();
    };
    fmt::print(
        "{:5}  {:8.2f} {:3.0f} %  {:8.2f} {:3.0f} %  {:.2f} [{:.2f}, {:.2f}]      {:8.2f} {:3.0f} %"
        "  {:.2f} [{:.2f}, {:.2f}]\n",
        rows, microseconds(bytes.baseline, with_f32), efficiency(f32, with_f32, bytes.baseline),
        microseconds(shorts.candidate, with_i16), efficiency(i16, with_i16, shorts.candidate),
        shorts.ratio, shorts.low, shorts.high, microseconds(bytes.candidate, with_i8),
        efficiency(i8, with_i8, bytes.candidate), bytes.ratio, bytes.low, bytes.high);
  }
  if (f32.bandwidth == 0) return;
  fmt::print("    1  reading over multiplying:");
  compare_with_reading(pairs, "f32", f32);
  compare_with_reading(pairs, "i16", i16);
  compare_with_reading(pairs, "i8", i8);
  fmt::print("\n");
}

/// Prints the ratio of the times of a product with one type and with a smaller one.
void compare_smaller(int pairs, const Matrix& large, const Matrix& small, std::size_t rows) {
  Product with_large(large.packed, rows), with_small(small.packed, rows);
  const Comparison compared = compare(pairs, with_large, with_small);
  fmt::print("  {:9.2f} {:3.0f} %  {:9.2f} {:3.0f} %  {:.2f} [{:.2f}, {:.2f}]",
             1e6 * compared.baseline / with_large.repeats(),
             efficiency(large, with_large, compared.baseline),
             1e6 * compared.candidate / with_small.repeats(),
             efficiency(small, with_small, compared.candidate), compared.ratio, compared.low,
             compared.high);
}

void compare_packed(int pairs, const Peaks& peaks, Shape shape) {
  const Matrix f32(DType::f32, shape, peaks.f32), bf16(DType::bf16, shape, peaks.f32),
      i8(DType::qint8, shape, peaks.i8), log4(DType::qlog4, shape, peaks.i8);
  fmt::print("\n{} x {}: {:.0f}, {:.0f}, {:.0f}, {:.0f} GB/s\n", shape.k, shape.n,
             f32.bandwidth / 1e9, bf16.bandwidth / 1e9, i8.bandwidth / 1e9, log4.bandwidth / 1e9);
  fmt::print("{:>5}  {:>9} {:>5}  {:>9} {:>5}  {:<17}  {:>9} {:>5}  {:>9} {:>5}  {}\n", "rows",
             "f32 us", "eff.", "bf16 us", "eff.", "k.bf16", "i8 us", "eff.", "log4 us", "eff.",
             "k.log4");
  for (const std::size_t rows : {1, 2, 4, 6, 8, 16}) {
    fmt::print("{:5}", rows);
    compare_smaller(pairs, f32, bf16, rows);
    compare_smaller(pairs, i8, log4, rows);
    fmt::print("\n");
  }
}

void expect_near(const std::vector<float>& ours, const std::vector<float>& theirs,
                 const std::string& name) {
  for (std::size_t i = 0; i < ours.size(); ++i)
    if (!(std::abs(ours[i] - theirs[i]) <= 1e-3f + 1e-4f * std::abs(theirs[i])))
      throw Error(fmt::format("product {}: {} here, {} by {}", i, ours[i], theirs[i], name));
}

/// Prints the ratio of each peer's time to ours, and our efficiency.
void compare_peers(int pairs, const Peaks& peaks, Shape shape) {
  const std::vector<float> w = random_numbers(shape.k * shape.n);
  const auto packed = cpu::PackedMatrix::pack(w.data(), shape.k, shape.n, shape.n, false);
  const double bandwidth = read_bandwidth(packed.bytes(), packed.size_bytes());
  for (const std::size_t rows : {1, 4, 5, 6, 7, 8, 16, 64}) {
    fmt::print("{:5} {:6} {:5} ", shape.k, shape.n, rows);
    Product ours(packed, rows);
    std::vector<double> seconds;
    for (const PeerLibrary& peer : peer_libraries()) {
      const PeerProduct theirs = peer.make(w.data(), shape.k, shape.n);
      std::vector<float> y(rows * shape.n);
      const Comparison compared = compare(
          pairs,
          [&] {
            for (int i = 0; i < ours.repeats(); ++i) theirs(ours.x(), rows, y.data());
          },
          std::ref(ours));
      expect_near(ours.y(), y, peer.name);
      seconds.push_back(compared.candidate);
      fmt::print("  {:5.2f} [{:.2f}, {:.2f}]", compared.ratio, compared.low, compared.high);
    }
    const double floor = ours.floor(peaks.f32, bandwidth) * ours.repeats();
    fmt::print("  {:3.0f} %\n", 100 * floor / median(std::move(seconds)));
  }
}

void run(const std::vector<std::string>& arguments) {
  const int pairs = arguments.empty() ? 15 : std::stoi(arguments[0]);
  std::vector<Shape> shapes = {{512, 512}, {768, 768}, {1024, 1024}, {1024, 3072}, {256, 32000}};
  // As bytes these fit in the second-level cache, in the third-level cache, and in none.
  std::vector<Shape> levels = {{512, 1024}, {2048, 4096}, {8192, 16384}};
  // As floats these fit in the second-level cache.
  std::vector<Shape> peers = {{256, 256}, {256, 512}, {512, 256}, {384, 512}};
  if (arguments.size() > 2)
    shapes = levels = peers = {{std::stoul(arguments[1]), std::stoul(arguments[2])}};
  else
    peers.insert(peers.end(), shapes.begin(), shapes.end());
  const Peaks peaks = measured_peaks();
  fmt::print("isa {}, peak {:.0f}, {:.0f}, {:.0f} G multiply-adds/s in f32, i16, i8\n",
             cpu::active_isa(), peaks.f32 / 1e9, peaks.i16 / 1e9, peaks.i8 / 1e9);
  for (const Shape& shape : shapes) compare_types(pairs, peaks, shape);
  for (const Shape& shape : levels) compare_packed(pairs, peaks, shape);

  fmt::print("\nf32: time of a peer over ours\n{:>5} {:>6} {:>5} ", "k", "n", "rows");
  for (const PeerLibrary& peer : peer_libraries()) fmt::print("  {:<18}", peer.name);
  fmt::print("  eff.\n");
  for (const Shape& shape : peers) compare_peers(pairs, peaks, shape);
}

}  // namespace
}  // namespace fuselage

int main(int argc, char** argv) {
  return fuselage::run_program({"gemm_bench", "[pairs] [k n]", 0,
                                "Products of few rows: integers and bf16 against floats, and "
                                "floats against other libraries."},
                               argc, argv, fuselage::run);
}
