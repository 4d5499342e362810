// Loaded by --extension in a test: a kernel of the CPU with an error in the last column.

#include <cmath>

#include "fuselage/backends/cpu/kernels/kernel_registry.h"
#include "fuselage/backends/cpu/runtime/make_kernel.h"
#include "fuselage/backends/cpu/runtime/operands.h"
#include "fuselage/ops/fused/chains.h"
#include "fuselage/ops/precision/quantize.h"

namespace fuselage::cpu {
namespace {

/// add_layer_norm that leaves the last column of the normalized sum as it was.
class WrongNorm final : public Kernel {
 public:
  WrongNorm(const PlannedInstruction&, const Binding& binding)
      : epsilon_(static_cast<float>(binding.node.as<op::AddLayerNorm>().epsilon)) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    const RowsIn a = rows_in(in, run, 0), b = rows_in(in, run, 1);
    const float* gain = plain_in<const float>(in, run, 2);
    const float* bias = plain_in<const float>(in, run, 3);
    const RowsOut norm = rows_out(in, run, 0), sum = rows_out(in, run, 1);
    const std::size_t columns = cols_of(in);
    for (std::size_t r = 0; r < rows_of(in, run); ++r) {
      float* s = sum.data + r * sum.stride;
      float* y = norm.data + r * norm.stride;
      float mean = 0, variance = 0;
      for (std::size_t c = 0; c < columns; ++c) {
        s[c] = row_of(a, r, columns)[c] + row_of(b, r, columns)[c];
        mean += s[c] / static_cast<float>(columns);
      }
      for (std::size_t c = 0; c < columns; ++c)
        variance += (s[c] - mean) * (s[c] - mean) / static_cast<float>(columns);
      for (std::size_t c = 0; c < columns; ++c)
        y[c] = c + 1 == columns
                   ? s[c]
                   : (s[c] - mean) / std::sqrt(variance + epsilon_) * gain[c] + bias[c];
    }
  }

 private:
  float epsilon_;
};

std::string needs_floats(const Graph&, const Node& node) {
  const bool runs = node.operands.size() == 4 && node.as<op::QuantizedResults>().quantized.empty();
  return runs ? "" : "it has a bias, and results in f32";
}

}  // namespace
}  // namespace fuselage::cpu

extern "C" FUSELAGE_API void fuselage_extension() {
  using namespace fuselage;
  using namespace fuselage::cpu;
  register_kernels({KernelEntry{{.op = op::AddLayerNorm::kName,
                                 .name = "wrong_add_layer_norm",
                                 .reads = {Reads::view, Reads::view, Reads::whole, Reads::whole},
                                 .refuse = needs_floats},
                                make_kernel<WrongNorm>}});
}
