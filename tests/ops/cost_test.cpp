// The work and the traffic that ops state.

#include "tests/ops/evaluation.h"

namespace fuselage {
namespace {

TEST(Cost, CountsWorkAndTraffic) {
  const auto cost = [](std::string_view equation) {
    const Graph graph = over_inputs(equation);
    const Node& node = graph.node(node_named(graph, "y"));
    return node.op->cost ? node.op->cost(InferContext(graph, node)) : Cost{};
  };
  const auto expect = [&cost](std::string_view equation, Cost expected) {
    SCOPED_TRACE(equation);
    const Cost actual = cost(equation);
    EXPECT_EQ(actual.flop, expected.flop);
    EXPECT_EQ(actual.bytes, expected.bytes);
    EXPECT_EQ(actual.weight_bytes, expected.weight_bytes);
  };
  expect("%y = matmul(%h, %m)", {.flop = 12, .bytes = 4 * (2 + 3), .weight_bytes = 4 * 6});
  expect("%y = matmul(%h, %e) {transposed = true}",
         {.flop = 20, .bytes = 4 * (2 + 5), .weight_bytes = 4 * 10});
  expect("%y = matmul(%h22, %m)", {.flop = 24, .bytes = 2 * 4 * (2 + 3), .weight_bytes = 4 * 6});
  // What has no rows is not read once a row.
  expect("%y = add(%h4, %v4)", {.flop = 4, .bytes = 4 * 8});
  expect("%y = add(%h4, %h4)", {.flop = 4, .bytes = 4 * 12});
  expect("%y = neg(%h22)", {.flop = 4, .bytes = 4 * 8});
  expect("%y = select_rows(%e) {via = [hyp.word]}", {.bytes = 4 * 4});
  expect("%y = concat(%h, %h4)", {.bytes = 4 * 12});
  expect("%y = reduce_sum(%h22)", {.flop = 4, .bytes = 4 * 6});
  expect("%y = reshape(%h22) {dims = [4]}", {.bytes = 8 * 4});
  expect("%y = expand(%h1) {dims = [2, 2]}", {.bytes = 4 * 5});
  expect("%y = batch_matmul(%h22, %m)",
         {.flop = 2 * 12, .bytes = 4 * (4 + 6), .weight_bytes = 4 * 6});
  expect("%y = head_dot(%c4, %d4) {heads = 2}", {.flop = 8, .bytes = 4 * 8});
  // A fused op does all the work, and moves only what comes in and goes out.
  expect("%y = linear(%h, %m, %h1) {expression = \"tanh(add(x0, x1))\"}",
         {.flop = 12 + 3 + 3, .bytes = 4 * (2 + 1 + 3), .weight_bytes = 4 * 6});
  expect(
      "%w = param() {name = \"w\", dims = [2, 9]}\n%u = param() {name = \"u\", dims = [3, 9]}\n"
      "%b = param() {name = \"b\", dims = [9]}\n"
      "%y = recurrent_layer(%x, %w, %u, %b, %b) {cell = \"gru\", over = fwd}",
      {.flop = (2 * 5 + 4) * 9, .bytes = 4 * (2 + 3), .weight_bytes = 4 * (2 + 3 + 2) * 9});
  expect("%y = constant() {values = [1], dims = [100]}", {});
  for (const char* equation :
       {"%y = softmax(%h4)", "%y = log_softmax(%h4)", "%y = layer_norm(%h4, %v4) {epsilon = 1}",
        "%y = rms_norm(%h4, %v4) {epsilon = 1}"}) {
    EXPECT_GT(cost(equation).flop, cost("%y = neg(%h4)").flop) << equation;
    EXPECT_EQ(cost(equation).bytes, 4 * 8) << equation;
  }
}

}  // namespace
}  // namespace fuselage
