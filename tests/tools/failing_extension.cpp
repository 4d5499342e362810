// An extension with an op whose name is taken.

#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/ops/registry.h"
#include "fuselage/ops/row_function.h"

extern "C" FUSELAGE_API void fuselage_extension() {
  using namespace fuselage;
  register_ops({define<op::Add>({.summary = "Another sum.",
                                 .operands = {{"a"}, {"b"}},
                                 .traits = Trait::row_wise | Trait::elementwise},
                                [](const op::Add&, auto in, auto out) {
                                  for (std::size_t i = 0; i < out.size(); ++i)
                                    out[i] = in[0][i] + in[1][i];
                                })});
}
