#include <string>

#include "fuselage/ops/builder.h"

using namespace fuselage;

// An encoder of frames, such as speech features: convolutions over three neighbours, each with a
// residual connection. A frame beyond the end of a sequence is zero.
Graph frame_encoder(std::int64_t features, std::int64_t size, int layers) {
  Builder b("frame_encoder");
  Graph& g = b.graph();
  const DomainId frame = g.add_source("frame", g.add_sentences("recording"));
  const MapId before = g.add_neighbour_map("frame.before", frame, -1);
  const MapId after = g.add_neighbour_map("frame.after", frame, 1);

  Expr x = dot(b.input("frames", frame, {features}), b.param("project", {features, size}));
  for (int layer = 1; layer <= layers; ++layer) {
    const auto part = [&](const char* name, Expr rows) {
      return dot(rows, b.param("conv" + std::to_string(layer) + "_" + name, {size, size}));
    };
    const Expr sum = part("before", select_rows(x, {before})) + part("here", x) +
                     part("after", select_rows(x, {after}));
    x = x + gelu(sum + b.param("conv" + std::to_string(layer) + "_bias", {size}));
  }
  b.output("states", x);
  return b.take();
}
