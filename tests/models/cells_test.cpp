#include "models/architectures/cells.h"

#include <gmock/gmock.h>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// One step of a cell on an input of `width` numbers; 0: without input.
void step(const CellOptions& options, std::int64_t width, const TensorMap& weights = {}) {
  Builder builder("test");
  Parameters parameters(builder, weights, "m.npz");
  const Expr state = builder.constant(0, {options.size});
  recurrent_cell(parameters, "cell", width == 0 ? Expr{} : builder.constant(0, {width}),
                 {.output = state, .memory = state}, options);
}

TEST(Cells, SayWhichInputTheyNeed) {
  for (const std::string type : {"mlstm", "mgru", "sru", "ssru"})
    EXPECT_THAT([&] { step({.type = type, .size = 4}, 0); },
                ThrowsMessage<Error>(HasSubstr("cell: a cell " + type + " needs an input")));
  for (const std::string type : {"sru", "ssru"})
    EXPECT_THAT([&] { step({.type = type, .size = 4}, 8); },
                ThrowsMessage<Error>(HasSubstr("of the size of its state, 4, but it is 8")));
}

TEST(Cells, AreKnownByName) {
  EXPECT_THAT([] { step({.type = "elman", .size = 4}, 4); },
              ThrowsMessage<Error>(HasSubstr("there is no cell 'elman'; a cell can be gru, ")));
}

TEST(Cells, CarryOnlyWhatTheyRead) {
  for (const auto& [type, output, memory] :
       {std::tuple("gru", true, false), {"lstm", true, true}, {"ssru", false, true}}) {
    Builder b("test");
    const DomainId sentence = b.graph().add_sentences("sentence");
    const DomainId source = b.graph().add_source("source", sentence);
    const DomainId scan = b.graph().add_scan("scan", source, false);
    const CarriedState state(b, type, b.constant(0, {4}), scan, "layer");
    EXPECT_EQ(state.in(scan).output.valid(), output);
    EXPECT_EQ(state.in(scan).memory.valid(), memory);
  }
}

}  // namespace
}  // namespace fuselage
