// The gain of approximate activations over exact ones, in the first-level cache and over a whole
// kernel call, and the gain that tables of bytes would have.
//
//   activation_bench [pairs] [columns]

#include <fmt/format.h>

#include <cmath>
#include <random>
#include <vector>

#include "backends/cpu/runtime/isa.h"
#include "backends/cpu/simd/table.h"
#include "bench/byte_table.h"
#include "bench/measure.h"
#include "bench/program.h"

namespace fuselage {
namespace {

using cpu::Unary;

/// Elements of a run, processed row by row.
constexpr std::size_t kElements = std::size_t{1} << 20;

struct Function {
  const char* name;
  Unary exact, fast, table;
};
constexpr Function kFunctions[] = {
    {"sigmoid", Unary::sigmoid, Unary::sigmoid_fast, Unary::sigmoid_table},
    {"tanh", Unary::tanh, Unary::tanh_fast, Unary::tanh_table}};

class Bench {
 public:
  Bench(int pairs, std::size_t columns) : pairs_(pairs), x_(columns), y_(columns), bytes_(columns) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0, 2);
    for (float& x : x_) x = normal(random);
    for (std::size_t i = 0; i < columns; ++i)
      bytes_[i] =
          static_cast<std::int8_t>(std::lround(std::fmax(-127, std::fmin(127, 16 * x_[i]))));
    codes_.resize(columns);
  }

  void compare_functions() {
    for (const Function& function : kFunctions) {
      const auto exact = row(function.exact);
      report(fmt::format("{} fast", function.name), compare(pairs_, exact, row(function.fast)));
      report(fmt::format("{} table", function.name), compare(pairs_, exact, row(function.table)));
      if (!has_byte_tables() || function.exact != Unary::sigmoid) continue;
      report("sigmoid of floats by a byte table", compare(pairs_, exact, repeated([this] {
                                                            float_sigmoid_by_bytes(
                                                                x_.data(), x_.size(), y_.data());
                                                          })));
      report("sigmoid of bytes as bytes", compare(pairs_, exact, repeated([this] {
                                                    byte_sigmoid(bytes_.data(), bytes_.size(),
                                                                 codes_.data());
                                                  })));
    }
  }

 private:
  std::function<void()> repeated(std::function<void()> once) const {
    const std::size_t repeats = kElements / x_.size();
    return [repeats, once = std::move(once)] {
      for (std::size_t i = 0; i < repeats; ++i) once();
    };
  }

  std::function<void()> row(Unary op) {
    const cpu::UnaryRow run = cpu::kernels().unary_row(op, false);
    return repeated([this, run] { run(x_.data(), x_.size(), y_.data()); });
  }

  static void report(const std::string& name, const Comparison& compared) {
    const auto nanoseconds = [](double seconds) { return 1e9 * seconds / kElements; };
    fmt::print("{:34} {:.3f} ns, exact {:.3f} ns, ratio {:.2f} [{:.2f}, {:.2f}]\n", name,
               nanoseconds(compared.candidate), nanoseconds(compared.baseline), compared.ratio,
               compared.low, compared.high);
  }

  int pairs_;
  std::vector<float> x_, y_;
  std::vector<std::int8_t> bytes_;
  std::vector<std::uint8_t> codes_;
};

void run(const std::vector<std::string>& arguments) {
  const int pairs = arguments.empty() ? 15 : std::stoi(arguments[0]);
  const std::size_t columns = arguments.size() < 2 ? 1024 : std::stoul(arguments[1]);
  fmt::print("isa {}, {} columns, time an element\n", cpu::active_isa(), columns);
  Bench(pairs, columns).compare_functions();
}

}  // namespace
}  // namespace fuselage

int main(int argc, char** argv) {
  return fuselage::run_program(
      {"activation_bench", "[pairs] [columns]", 0, "Approximate activations against exact ones."},
      argc, argv, fuselage::run);
}
