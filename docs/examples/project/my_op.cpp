#include "my_op.h"

#include <cmath>

#include "fuselage/ops/registry.h"

void my::register_squash() {
  using namespace fuselage;
  register_ops(
      {define<Squash>({.summary = "scale × x / (1 + |x|), element by element.",
                       .operands = {{"x"}},
                       .traits = Trait::row_wise | Trait::elementwise},
                      []<typename T>(const Squash& op, RowOperands<T> in, std::span<T> out) {
                        for (std::size_t i = 0; i < out.size(); ++i)
                          out[i] = static_cast<T>(op.scale) * in[0][i] / (1 + std::abs(in[0][i]));
                      })});
}

extern "C" FUSELAGE_API void fuselage_extension() { my::register_squash(); }
