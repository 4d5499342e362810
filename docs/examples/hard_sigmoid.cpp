#include <algorithm>

#include "fuselage/ops/registry.h"
#include "fuselage/ops/row_function.h"

namespace fuselage::op {

/// clamp(slope x + 1/2, 0, 1), element by element.
struct HardSigmoid {
  static constexpr std::string_view kName = "hard_sigmoid";
  double slope = 0.25;
  static constexpr auto attributes() { return std::tuple(defaulted("slope", &HardSigmoid::slope)); }
};

}  // namespace fuselage::op

extern "C" FUSELAGE_API void fuselage_extension() {
  using namespace fuselage;
  register_ops({define<op::HardSigmoid>(
      {.summary = "clamp(slope x + 1/2, 0, 1), element by element.",
       .operands = {{"x"}},
       .traits = Trait::row_wise | Trait::elementwise},
      []<typename T>(const op::HardSigmoid& node, RowOperands<T> in, std::span<T> out) {
        for (std::size_t i = 0; i < out.size(); ++i)
          out[i] = std::clamp<T>(static_cast<T>(node.slope) * in[0][i] + T{0.5}, 0, 1);
      })});
}
