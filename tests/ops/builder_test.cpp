#include "fuselage/ops/builder.h"

#include <fmt/format.h>

#include "fuselage/graph/verifier.h"
#include "fuselage/ops/arithmetic/matmul.h"
#include "fuselage/ops/arithmetic/normalization.h"
#include "fuselage/ops/fused/attention.h"
#include "fuselage/ops/precision/quantize.h"
#include "fuselage/ops/structure/leaf.h"
#include "fuselage/ops/structure/positions.h"
#include "fuselage/ops/structure/rows.h"
#include "fuselage/ops/structure/shape.h"
#include "graph/traversal.h"
#include "tests/graph/support.h"

namespace fuselage {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A builder with one domain of each kind and some inputs.
class BuilderTest : public ::testing::Test {
 protected:
  Expr import(const char* name, DomainId domain, Dims dims) {
    return builder_.add(op::Import{.name = name, .domain = domain, .dims = std::move(dims)}, {},
                        CodeLocation::current());
  }
  const Node& node(Expr e) { return graph_.producer(e.id()); }
  std::string op_of(Expr e) { return std::string(node(e).op->name); }
  std::string type_of(Expr e) { return graph_.show(e.type()); }
  Expr operand(Expr e, std::size_t i) { return {&builder_, node(e).operands.at(i)}; }
  std::vector<std::string> names_of(const MapPath& path) {
    std::vector<std::string> names;
    for (const MapId id : path) names.push_back(graph_.map(id).name);
    return names;
  }

  Builder builder_{"test"};
  Graph& graph_ = builder_.graph();
  DomainId vocab_ = graph_.add_vocabulary("vocab", 5);
  DomainId sentence_ = graph_.add_sentences("sentence");
  DomainId source_ = graph_.add_source("source", sentence_);
  DomainId scan_ = graph_.add_scan("scan", source_, false);
  DomainId parent_ = graph_.add_parents("parent", sentence_);
  DomainId hyp_ = graph_.add_hypotheses("hyp", parent_);
  DomainId prefix_ = graph_.add_prefix("prefix", hyp_);
  DomainId cross_ = graph_.add_pairs("cross", hyp_, source_);
  Expr h_ = import("h", hyp_, {4});
  Expr x_ = import("x", source_, {4});
  Expr w_ = builder_.param("W", {4, 6});
  Expr b_ = builder_.param("b", {4});
};

/// "builder_test.cpp:LINE" of the line that calls it.
std::string here(CodeLocation at = CodeLocation::current()) {
  return fmt::format("builder_test.cpp:{}", at.line());
}

TEST_F(BuilderTest, OperatorsAddNodes) {
  EXPECT_EQ(op_of(h_ + b_), "add");
  EXPECT_EQ(op_of(h_ - b_), "sub");
  EXPECT_EQ(op_of(h_ * b_), "mul");
  EXPECT_EQ(op_of(h_ / b_), "div");
  const Expr difference = b_ - h_;
  EXPECT_EQ(op_of(-h_), "neg");
  EXPECT_EQ(operand(difference, 0).id(), b_.id());
  EXPECT_EQ(operand(difference, 1).id(), h_.id());
  EXPECT_EQ(type_of(difference), "hyp f32[4]");
}

TEST_F(BuilderTest, NumbersBecomeConstantsOnBothSides) {
  const auto number = [this](Expr e, std::size_t i) {
    const Expr constant = operand(e, i);
    EXPECT_EQ(op_of(constant), "constant");
    EXPECT_EQ(type_of(constant), "f32[]");
    return node(constant).as<op::Constant>().values.at(0);
  };
  const Expr left_number = 1 - h_;
  EXPECT_EQ(number(left_number, 0), 1);
  EXPECT_EQ(operand(left_number, 1).id(), h_.id());
  const Expr right_number = h_ * 0.5;
  EXPECT_EQ(operand(right_number, 0).id(), h_.id());
  EXPECT_EQ(number(right_number, 1), 0.5);
  EXPECT_EQ(number(2.5 / h_, 0), 2.5);
  EXPECT_EQ(type_of(left_number), "hyp f32[4]");
}

TEST_F(BuilderTest, AGruCellReadsLikeItsEquations) {
  const DomainId loop = parent_;
  const Expr state = builder_.state(builder_.constant(0, {4}), loop);
  const Expr previous = broadcast(state, hyp_);
  const Expr u = builder_.param("U", {4, 4});
  const Expr gate = sigmoid(dot(previous, u) + b_);
  const Expr candidate = tanh(dot(h_, u) * gate);
  const Expr next = (1 - gate) * candidate + gate * previous;
  builder_.next(state, next);
  builder_.output("next", next);
  verify(graph_);
  EXPECT_EQ(type_of(next), "hyp f32[4]");
  const Graph written = parse_graph(print_graph(graph_), "written", all_ops());
  const Graph taken = builder_.take();
  EXPECT_EQ(taken.name(), "test");
  EXPECT_TRUE(same_graph(taken, written));
}

TEST_F(BuilderTest, FunctionsGiveTheirOpsAndAttributes) {
  EXPECT_EQ(type_of(dot(h_, w_)), "hyp f32[6]");
  const Expr table = builder_.param("E", {4}, vocab_);
  const Expr logits = dot_transposed(h_, table);
  EXPECT_EQ(type_of(table), "vocab f32[4]");
  EXPECT_EQ(type_of(logits), "hyp f32[5]");
  EXPECT_TRUE(node(logits).as<op::Transposed>().transposed);
  EXPECT_EQ(logits.width(), 5);
  EXPECT_EQ(builder_.constant(3).width(), 1);

  EXPECT_EQ(op_of(sigmoid(h_)), "sigmoid");
  EXPECT_EQ(op_of(tanh(h_)), "tanh");
  EXPECT_EQ(op_of(relu(h_)), "relu");
  EXPECT_EQ(op_of(swish(h_)), "swish");
  EXPECT_EQ(op_of(gelu(h_)), "gelu");
  EXPECT_EQ(op_of(exp(h_)), "exp");
  EXPECT_EQ(op_of(log(h_)), "log");
  EXPECT_EQ(op_of(sqrt(h_)), "sqrt");
  EXPECT_EQ(op_of(abs(h_)), "abs");
  EXPECT_EQ(op_of(sin(h_)), "sin");
  EXPECT_EQ(op_of(cos(h_)), "cos");
  EXPECT_EQ(op_of(max(h_, 0)), "max");
  EXPECT_EQ(op_of(min(1, h_)), "min");
  EXPECT_EQ(op_of(equal(h_, b_)), "equal");
  EXPECT_EQ(op_of(not_equal(h_, b_)), "not_equal");
  EXPECT_EQ(op_of(less(h_, 0.5)), "less");
  EXPECT_EQ(op_of(less_equal(h_, b_)), "less_equal");
  EXPECT_EQ(op_of(greater(0.5, h_)), "greater");
  EXPECT_EQ(op_of(greater_equal(h_, b_)), "greater_equal");
  const Expr choice = where(greater(h_, 0), h_, -1);
  EXPECT_EQ(op_of(choice), "where");
  EXPECT_EQ(type_of(choice), "hyp f32[4]");
  EXPECT_EQ(op_of(operand(choice, 2)), "constant");
  EXPECT_EQ(op_of(reduce_sum(h_)), "reduce_sum");
  EXPECT_EQ(op_of(reduce_max(h_)), "reduce_max");
  EXPECT_EQ(op_of(reduce_mean(h_)), "reduce_mean");
  EXPECT_EQ(type_of(reduce_sum(h_)), "hyp f32[1]");
  EXPECT_EQ(type_of(reshape(h_, {2, 2})), "hyp f32[2, 2]");
  EXPECT_EQ(type_of(reduce_max(reshape(h_, {2, 2}))), "hyp f32[2]");
  EXPECT_EQ(type_of(expand(reshape(h_, {4, 1}), {4, 3})), "hyp f32[4, 3]");
  EXPECT_EQ(type_of(permute(expand(h_, {3, 4}), {1, 0})), "hyp f32[4, 3]");
  EXPECT_EQ(type_of(outer(h_, b_)), "hyp f32[4, 4]");
  const Expr heads = reshape(h_, {2, 2});
  EXPECT_EQ(type_of(outer(heads, reshape(b_, {2, 2}))), "hyp f32[2, 2, 2]");
  EXPECT_EQ(type_of(batch_matmul(heads, reshape(w_, {2, 12}))), "hyp f32[2, 12]");
  EXPECT_TRUE(node(batch_matmul(heads, heads, true)).as<op::Transposed>().transposed);
  EXPECT_EQ(op_of(softmax(h_)), "softmax");
  EXPECT_EQ(op_of(log_softmax(h_)), "log_softmax");

  const Expr norm = layer_norm(h_, b_, Expr(), 1e-9);
  EXPECT_EQ(op_of(norm), "layer_norm");
  EXPECT_EQ(node(norm).operands.size(), 2u);
  EXPECT_EQ(node(norm).as<op::Epsilon>().epsilon, 1e-9);
  EXPECT_EQ(node(layer_norm(h_, b_, b_, 1e-9)).operands.size(), 3u);
  EXPECT_EQ(op_of(rms_norm(h_, b_, 1e-9)), "rms_norm");

  EXPECT_EQ(type_of(concat({h_, h_, h_})), "hyp f32[12]");
  const Expr part = slice(h_, 1, 3);
  EXPECT_EQ(node(part).as<op::Range>().begin, 1);
  EXPECT_EQ(type_of(part), "hyp f32[2]");
  EXPECT_EQ(type_of(builder_.position(source_)), "source i32[]");
  EXPECT_EQ(type_of(sinusoid(builder_.position(hyp_), 8)), "hyp f32[8]");
  const Expr turned = rotary(h_, slice(h_, 0, 1), slice(h_, 1, 2), 2);
  EXPECT_EQ(type_of(turned), "hyp f32[4]");
  EXPECT_EQ(node(turned).as<op::Rotary>().heads, 2);
  EXPECT_EQ(type_of(cast(builder_.position(hyp_), DType::f32)), "hyp f32[]");
  EXPECT_EQ(type_of(history(h_, prefix_)), "prefix f32[4]");
  EXPECT_EQ(type_of(collect(broadcast(x_, scan_))), "source f32[4]");
  const Expr mean = mean_rows(x_);
  EXPECT_EQ(type_of(mean), "sentence f32[4]");
  EXPECT_EQ(names_of(node(mean).as<op::Segments>().to),
            std::vector<std::string>{"source.sentence"});
  const Expr fill = builder_.constant(0.5, {2, 3});
  EXPECT_EQ(type_of(fill), "f32[2, 3]");
}

TEST_F(BuilderTest, RowsThatArePickedMayHaveADefault) {
  const MapId last = graph_.add_token_map("source.last", source_, -1);
  const Expr ends = select_rows(x_, {last});
  EXPECT_EQ(type_of(ends), "sentence f32[4]");
  EXPECT_EQ(node(ends).operands.size(), 1u);
  const MapId second = graph_.add_token_map("source.second", source_, 1);
  const Expr seconds = select_rows(x_, {second}, b_);
  EXPECT_EQ(type_of(seconds), "sentence f32[4]");
  EXPECT_EQ(operand(seconds, 1).id(), b_.id());
  EXPECT_THROW(select_rows(x_, {second}, w_), Error);
  verify(graph_);
}

TEST_F(BuilderTest, SpreadFollowsTheRowsThatRowsBelongTo) {
  using Names = std::vector<std::string>;
  const Expr sent = import("sent", sentence_, {4});
  EXPECT_EQ(names_of(node(broadcast(sent, hyp_)).as<op::Via>().via),
            (Names{"hyp.parent", "parent.sentence"}));
  EXPECT_EQ(names_of(node(broadcast(sent, source_)).as<op::Via>().via), (Names{"source.sentence"}));
  EXPECT_EQ(names_of(node(broadcast(x_, scan_)).as<op::Via>().via), (Names{"scan.source"}));
  EXPECT_EQ(names_of(node(broadcast(h_, cross_)).as<op::Via>().via), (Names{"cross.left"}));
  EXPECT_EQ(names_of(node(broadcast(x_, cross_)).as<op::Via>().via), (Names{"cross.right"}));
  EXPECT_EQ(names_of(node(broadcast(sent, cross_)).as<op::Via>().via),
            (Names{"cross.left", "hyp.parent", "parent.sentence"}));
  // Nothing to do.
  EXPECT_EQ(broadcast(h_, hyp_).id(), h_.id());
  EXPECT_EQ(broadcast(b_, hyp_).id(), b_.id());
}

TEST_F(BuilderTest, AttentionIsLeftRightSoftmaxAndMix) {
  using Names = std::vector<std::string>;
  const Expr query = left(h_, cross_);
  const Expr keys = right(x_, cross_);
  EXPECT_EQ(names_of(node(query).as<op::Via>().via), Names{"cross.left"});
  EXPECT_EQ(names_of(node(keys).as<op::Via>().via), Names{"cross.right"});
  const Expr scores = head_dot(query, keys, 2, 0.25);
  EXPECT_EQ(node(scores).as<op::Heads>().scale, 0.25);
  EXPECT_EQ(type_of(scores), "cross f32[2]");
  const Expr weights = softmax_over_right(scores);
  EXPECT_EQ(op_of(weights), "segment_softmax");
  EXPECT_EQ(names_of(node(weights).as<op::Segments>().to), Names{"cross.left"});
  const Expr context = mix(weights, x_);
  EXPECT_EQ(names_of(node(context).as<op::Segments>().to), Names{"cross.left"});
  EXPECT_EQ(names_of(node(context).as<op::Via>().via), Names{"cross.right"});
  EXPECT_EQ(type_of(context), "hyp f32[4]");
}

TEST_F(BuilderTest, GroupsOfRowsAreReduced) {
  const Expr scores = head_dot(left(h_, cross_), right(x_, cross_), 2, 1);
  EXPECT_EQ(type_of(sum_rows(scores)), "hyp f32[2]");
  EXPECT_EQ(type_of(max_rows(x_)), "sentence f32[4]");
  EXPECT_EQ(op_of(log_sum_exp_rows(scores)), "segment_log_sum_exp");
}

TEST_F(BuilderTest, SeveralGroupsAreAttendedTogether) {
  const DomainId causal = graph_.add_pairs("causal", hyp_, prefix_);
  const Expr past = history(h_, prefix_);
  const auto scores = [&](Expr keys, DomainId pairs) {
    return head_dot(left(h_, pairs), right(keys, pairs), 2, 1);
  };
  const Expr mixed = joint_attention({{scores(x_, cross_), x_}, {scores(past, causal), past}});
  EXPECT_EQ(type_of(mixed), "hyp f32[4]");
  EXPECT_THROW(joint_attention({}), InternalError);
  verify(graph_);
}

TEST_F(BuilderTest, QuantizedMatricesAreStoredAsTheirColumns) {
  const Expr columns = builder_.param("C", {6, 4}, graph_.none(), DType::qint8);
  const Expr y = dot(h_, columns);
  EXPECT_EQ(type_of(y), "hyp f32[6]");
  EXPECT_TRUE(node(y).as<op::Transposed>().transposed);
  EXPECT_EQ(operand(y, 1).id(), columns.id());
  EXPECT_FALSE(node(dot(h_, w_)).as<op::Transposed>().transposed);
}

TEST_F(BuilderTest, IntegerProductsQuantizeRowsByTheirScale) {
  const Expr columns = builder_.param("C", {6, 4}, graph_.none(), DType::qint16);
  const Expr rows = builder_.param("R", {4}, vocab_, DType::qint8);
  const Expr table = builder_.add(op::Dequantize{}, {rows}, CodeLocation::current());
  const Expr scale = builder_.param("scale", {1});
  builder_.multiply_in_integers(columns, {.columns = columns, .scale = scale});
  builder_.multiply_in_integers(table, {.columns = rows, .scale = scale});
  for (const auto& [y, weight] :
       {std::pair{dot(h_, columns), columns}, {dot_transposed(h_, table), rows}}) {
    EXPECT_EQ(op_of(y), "matmul");
    EXPECT_TRUE(node(y).as<op::Transposed>().transposed);
    EXPECT_EQ(operand(y, 1).id(), weight.id());
    const Expr quantized = operand(y, 0);
    EXPECT_EQ(op_of(quantized), "quantize");
    EXPECT_EQ(quantized.type().dtype, weight.type().dtype);
    EXPECT_EQ(operand(quantized, 0).id(), h_.id());
    EXPECT_EQ(operand(quantized, 1).id(), scale.id());
  }
  EXPECT_EQ(operand(dot(h_, w_), 0).id(), h_.id());
}

TEST_F(BuilderTest, NamesComeFromParametersScopesAndNamed) {
  const auto name = [this](Expr e) { return graph_.value(e.id()).name; };
  EXPECT_EQ(name(w_), "W");
  EXPECT_EQ(name(h_ + b_), "");
  {
    const Builder::Scope encoder(builder_, "encoder");
    EXPECT_EQ(name(h_ + b_), "encoder.add");
    {
      const Builder::Scope layer(builder_, "1");
      EXPECT_EQ(name(sigmoid(h_)), "encoder.1.sigmoid");
      EXPECT_EQ(name(builder_.param("V", {1})), "V");
    }
    EXPECT_EQ(name(sigmoid(h_)), "encoder.sigmoid");
    EXPECT_EQ(name(sigmoid(h_).named("gate")), "gate");
  }
  EXPECT_EQ(name(sigmoid(h_)), "");
}

TEST_F(BuilderTest, NodesKnowTheLineOfTheModel) {
  const auto where = [this](Expr e) {
    return fmt::format("{}:{}", node(e).location.file, node(e).location.line);
  };
  EXPECT_EQ(where(h_ + b_), here());
  EXPECT_EQ(where(sigmoid(h_)), here());
  EXPECT_EQ(where(dot(h_, w_)), here());
  EXPECT_EQ(where(concat({h_, h_})), here());
  EXPECT_EQ(where(builder_.param("P", {1})), here());
  EXPECT_EQ(where(builder_.constant(1)), here());
  EXPECT_EQ(where(broadcast(x_, scan_)), here());
  EXPECT_EQ(where(operand(1 - h_, 0)), here());
  EXPECT_EQ(where(builder_.state(b_, parent_)), here());
}

TEST_F(BuilderTest, ErrorsShowBothTypesAndTheLineOfTheModel) {
  const Expr sent = import("sent", sentence_, {4});
  const Expr cross = import("scores", cross_, {1});
  // The line is that of mark(), which stands with the equation.
  std::string line;
  const auto mark = [&line](CodeLocation at = CodeLocation::current()) { line = here(at); };
  const auto expect = [&line](auto equation, fmt::string_view message) {
    const std::string actual = error_of(equation);
    EXPECT_EQ(actual, fmt::format(fmt::runtime(message), line));
  };
  expect([&] { mark(), h_ + w_; }, "add ({}): dimensions differ: hyp f32[4] and f32[4, 6]");
  expect([&] { mark(), dot(dot(h_, w_), w_); },
         "matmul ({}): inner dimensions differ: hyp f32[6] by f32[4, 6]");
  expect([&] { mark(), outer(h_, x_); },
         "batch_matmul ({}): operands 0 and 1 range over different rows: hyp f32[4, 1] and source "
         "f32[1, 4]; give one the other's rows with select_rows");
  expect([&] { mark(), outer(builder_.constant(1), h_); },
         "{}: an outer product is of vectors, not f32[]");
  expect([&] { mark(), h_* x_; },
         "mul ({}): operands 0 and 1 range over different rows: hyp f32[4] and source f32[4]; give "
         "one the other's rows with select_rows");
  expect(
      [&] {
        mark(), concat({h_, x_});
      },
      "concat ({}): operands 0 and 1 cannot stand side by side: hyp f32[4] and source f32[4]");
  expect([&] { mark(), layer_norm(h_, w_, Expr(), 1); },
         "layer_norm ({}): operand 1 must be f32[4] without rows, not f32[4, 6]");
  expect([&] { mark(), builder_.state(x_, parent_); },
         "state ({}): its initial value must have no rows or one per sentence, not source f32[4]");
  expect([&] { mark(), builder_.next(builder_.state(b_, parent_), w_); },
         "next ({}): the next value f32[4, 6] does not fit the state parent f32[4]");
  expect([&] { mark(), broadcast(x_, hyp_); },
         "{}: rows of 'hyp' do not belong to rows of source f32[4]");
  expect([&] { mark(), left(x_, cross_); },
         "{}: source f32[4] has no rows of the left member of 'cross', 'hyp'");
  expect([&] { mark(), right(h_, cross_); },
         "{}: hyp f32[4] has no rows of the right member of 'cross', 'source'");
  expect([&] { mark(), left(h_, source_); }, "{}: 'source' is a source domain and has no members");
  expect([&] { mark(), softmax_over_right(h_); },
         "{}: this needs rows of a pairs domain, not hyp f32[4]");
  expect([&] { mark(), mix(b_, x_); }, "{}: this needs rows of a pairs domain, not f32[4]");
  expect([&] { mark(), mix(cross, h_); },
         "mix_rows ({}): its path leads to rows of 'source', but the mixed value is hyp f32[4]");
  expect([&] { mark(), mean_rows(sent); },
         "{}: this needs rows of a source domain, not sentence f32[4]");
  expect([&] { mark(), sum_rows(sent); },
         "{}: this needs rows of a source or pairs domain, not sentence f32[4]");
  expect([&] { mark(), tanh(0.5); },
         "{}: this needs a value of a graph, not a number or an empty Expr");
  expect([&] { mark(), dot(Expr(), w_); },
         "{}: this needs a value of a graph, not a number or an empty Expr");
  expect([&] { mark(), Expr() + 1; },
         "{}: this needs a value of a graph, not a number or an empty Expr");
}

TEST_F(BuilderTest, OperandsOfAnotherBuilderAreRefused) {
  Builder other("other");
  const Expr foreign = other.param("W", {4});
  EXPECT_THAT(error_of<InternalError>([&] { h_ + foreign; }),
              AllOf(HasSubstr("an operand of another builder"), HasSubstr("builder_test.cpp")));
  EXPECT_THROW(dot(h_, Expr()), InternalError);
  EXPECT_THROW(concat({}), InternalError);
  EXPECT_THROW(Expr().type(), InternalError);
  EXPECT_THROW(Expr().named("x"), InternalError);
}

}  // namespace
}  // namespace fuselage
