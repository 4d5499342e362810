#include <cmath>

#include "fuselage/backends/cpu/runtime/make_kernel.h"
#include "fuselage/backends/cpu/runtime/operands.h"
#include "fuselage/backends/plan/refusals.h"
#include "fuselage/ops/arithmetic/normalization.h"

namespace fuselage::cpu {

/// rms_norm of f32 vectors, a number after the other.
class PlainRmsNorm final : public Kernel {
 public:
  PlainRmsNorm(const PlannedInstruction&, const Binding& binding)
      : epsilon_(static_cast<float>(binding.node.as<op::Epsilon>().epsilon)) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    const RowsIn x = rows_in(in, run, 0);
    const float* gain = plain_in<const float>(in, run, 1);
    const RowsOut out = rows_out(in, run);
    const std::size_t cols = cols_of(in);
    for (std::size_t r = 0; r < rows_of(in, run); ++r) {
      const float* row = row_of(x, r, cols);
      float squares = 0;
      for (std::size_t c = 0; c < cols; ++c) squares += row[c] * row[c];
      const float mean = squares / static_cast<float>(cols);
      const float inverse = 1 / std::sqrt(mean + epsilon_);
      for (std::size_t c = 0; c < cols; ++c)
        out.data[r * out.stride + c] = gain[c] * row[c] * inverse;
    }
  }

 private:
  float epsilon_;
};

constexpr KernelEntry kPlainRmsNorm = {{.op = op::RmsNorm::kName,
                                        .name = "plain_rms_norm",
                                        .reads = {Reads::view, Reads::whole},
                                        .refuse = needs_vector_input},
                                       make_kernel<PlainRmsNorm>};

}  // namespace fuselage::cpu
