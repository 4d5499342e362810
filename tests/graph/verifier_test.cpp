#include "fuselage/graph/verifier.h"

#include <fmt/format.h>

#include "tests/graph/support.h"

namespace fuselage {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view kLoop = R"(
%zero = constant() {values = [0], dims = [4]}
%x = import() {name = "x", domain = source, dims = [4]}
%h = state(%zero) {domain = fwd}
%in = select_rows(%x) {via = [fwd.source]}
%new = add(%h, %in)
)";

std::string verify_error(std::string_view body) {
  const Graph graph = graph_of(body);
  return error_of([&] { verify(graph); });
}

TEST(Verifier, TakesALoop) {
  EXPECT_EQ(verify_error(std::string(kLoop) + "next(%h, %new)\n%all = collect(%new)\n"),
            "no error");
}

TEST(Verifier, ResultThatDoesNotFollowFromItsOperands) {
  Graph graph = graph_of(R"(
%a = param() {name = "a", dims = [4]}
%b = param() {name = "b", dims = [8]}
%y = sigmoid(%a)
)");
  graph.set_operand({node_named(graph, "y"), 0}, value_named(graph, "b"));
  EXPECT_EQ(error_of([&] { verify(graph); }),
            fmt::format("sigmoid 'y' (test.ir:{}): its result is f32[4], but its operands give "
                        "f32[8]",
                        kFirstLine + 3));
}

TEST(Verifier, OperandsThatNoLongerFit) {
  Graph graph = graph_of(R"(
%a = param() {name = "a", dims = [4]}
%b = import() {name = "b", domain = source, dims = [8]}
%c = import() {name = "c", domain = source, dims = [4]}
%y = add(%c, %a)
)");
  graph.set_operand({node_named(graph, "y"), 1}, value_named(graph, "b"));
  EXPECT_THAT(error_of([&] { verify(graph); }),
              AllOf(HasSubstr("source f32[4] and source f32[8]"),
                    HasSubstr(fmt::format("add 'y' (test.ir:{})", kFirstLine + 4))));
}

TEST(Verifier, OperandEdgesThatFormACycle) {
  Graph graph = graph_of("%a = param() {name = \"a\", dims = [4]}\n%b = neg(%a)\n%c = neg(%b)\n");
  graph.set_operand({node_named(graph, "b"), 0}, value_named(graph, "c"));
  EXPECT_THAT(error_of<InternalError>([&] { verify(graph); }), HasSubstr("form a cycle"));
}

TEST(Verifier, StateWithoutNext) {
  EXPECT_EQ(verify_error(kLoop),
            fmt::format("state 'h' (test.ir:{}): this state has no next value; add next(state, "
                        "value)",
                        kFirstLine + 3));
}

TEST(Verifier, StateWithTwoNexts) {
  EXPECT_EQ(verify_error(std::string(kLoop) + "next(%h, %new)\nnext(%h, %in)\n"),
            fmt::format("next (test.ir:{}): state 'h' (test.ir:{}) has a next value "
                        "already",
                        kFirstLine + 7, kFirstLine + 3));
}

TEST(Verifier, NextOfWhatIsNoState) {
  EXPECT_EQ(verify_error(std::string(kLoop) + "next(%h, %new)\nnext(%in, %new)\n"),
            fmt::format("next (test.ir:{}): its first operand must be a state, not the fwd f32[4] "
                        "of select_rows 'in' (test.ir:{})",
                        kFirstLine + 7, kFirstLine + 4));
}

TEST(Verifier, LoopThatReadsItsOwnCollectedResult) {
  const std::string body = std::string(kLoop) +
                           "next(%h, %new)\n%all = collect(%new)\n"
                           "%back = select_rows(%all) {via = [fwd.source]}\n";
  EXPECT_EQ(verify_error(body),
            fmt::format("select_rows 'back' (test.ir:{}): it is part of the loop 'fwd' and depends "
                        "on a result of that loop",
                        kFirstLine + 8));
}

TEST(Verifier, TwoLoopsThatReadEachOther) {
  const std::string body = std::string(kLoop) + R"(next(%h, %new)
%all = collect(%new)
%there = select_rows(%all) {via = [bwd.source]}
%collected = collect(%there)
)";
  EXPECT_EQ(verify_error(body), "no error");
  EXPECT_THAT(verify_error(body + "%back = select_rows(%collected) {via = [fwd.source]}\n"),
              HasSubstr("depends on a result of that loop"));
}

}  // namespace
}  // namespace fuselage
