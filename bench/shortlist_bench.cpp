// The output layer for the words of a shortlist, at the active instruction-set level and at the
// level below.
//
//   shortlist_bench [pairs] [words] [vocabulary]

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "backends/cpu/runtime/isa.h"
#include "backends/cpu/simd/table.h"
#include "bench/matrices.h"
#include "bench/measure.h"
#include "bench/program.h"
#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"

namespace fuselage {
namespace {

constexpr std::size_t kBest = 7;

/// The k best of some rows, repeated for about a millisecond.
class Layer {
 public:
  Layer(DType dtype, std::size_t rows, std::size_t d, std::size_t words, std::size_t vocabulary)
      : rows_(rows),
        columns_(random_vectors(dtype, vocabulary, d)),
        x_(random_vectors(row_type_of(dtype), rows, d)),
        matrix_{.data = columns_.bytes(),
                .stride = vector_bytes(dtype, static_cast<std::int64_t>(d)),
                .k = d,
                .dtype = dtype},
        repeats_(std::max(1, static_cast<int>(2e7 / static_cast<double>(rows * d * words)))) {
    for (std::size_t i = 0; i < words; ++i)
      numbers_.push_back(static_cast<std::int32_t>(i * vocabulary / words));
  }

  void run(const cpu::KernelTable& table, std::vector<float>& values) const {
    const std::size_t elements = x_.size_bytes() / rows_ / sizeof(float);
    std::vector<std::int32_t> ids(rows_ * kBest);
    const std::vector<cpu::ListedRows> lists = {{rows_, numbers_}};
    for (int i = 0; i < repeats_; ++i)
      table.shortlist_k_best({.data = x_.data<float>(), .stride = elements, .columns = elements},
                             lists, matrix_, nullptr, /*log_softmax=*/false, kBest, values.data(),
                             ids.data());
  }

  int repeats() const { return repeats_; }

 private:
  std::size_t rows_;
  Tensor columns_, x_;
  cpu::MatrixColumns matrix_;
  std::vector<std::int32_t> numbers_;
  int repeats_;
};

const cpu::KernelTable& table_of(const std::string& level) {
  cpu::force_isa(level);
  return cpu::kernels();
}

void run(const std::vector<std::string>& arguments) {
  const auto argument = [&](std::size_t i, std::size_t otherwise) {
    return i < arguments.size() ? std::stoul(arguments[i]) : otherwise;
  };
  const auto pairs = static_cast<int>(argument(0, 15));
  const std::size_t words = argument(1, 300), vocabulary = argument(2, 32000);
  const std::vector<std::string> levels = cpu::supported_isas();
  const auto level = std::find(levels.begin(), levels.end(), cpu::active_isa());
  if (level == levels.begin())
    throw Error(fmt::format("instruction set '{}' has no level below: choose another one", *level));
  const std::string &best = *level, &below = level[-1];
  fmt::print("{} of {} words; microseconds\n{:>6} {:>4} {:>5}  {:>9} {:>9}  ratio\n", words,
             vocabulary, "type", "d", "rows", below, best);
  for (const DType dtype : {DType::f32, DType::bf16, DType::qint16, DType::qint8, DType::qlog4})
    for (const std::size_t d : {256, 1024})
      for (const std::size_t rows : {1, 6, 12}) {
        const Layer layer(dtype, rows, d, words, vocabulary);
        std::vector<float> expected(rows * kBest), values(rows * kBest);
        const cpu::KernelTable &slow = table_of(below), &fast = table_of(best);
        const Comparison compared = compare(
            pairs, [&] { layer.run(slow, expected); }, [&] { layer.run(fast, values); });
        if (is_quantized(dtype) && values != expected)
          throw Error(fmt::format("{} and {} give different scores", below, best));
        fmt::print("{:>6} {:4} {:5}  {:9.2f} {:9.2f}  {:.2f} [{:.2f}, {:.2f}]\n", to_string(dtype),
                   d, rows, 1e6 * compared.baseline / layer.repeats(),
                   1e6 * compared.candidate / layer.repeats(), compared.ratio, compared.low,
                   compared.high);
      }
}

}  // namespace
}  // namespace fuselage

int main(int argc, char** argv) {
  return fuselage::run_program(
      {"shortlist_bench", "[pairs] [words] [vocabulary]", 0,
       "The output layer for the words of a shortlist, at two levels of instructions."},
      argc, argv, fuselage::run);
}
