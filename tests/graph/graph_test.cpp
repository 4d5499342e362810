#include "fuselage/graph/graph.h"

#include <type_traits>

#include "fuselage/ops/arithmetic/matmul.h"
#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/ops/search/k_best.h"
#include "fuselage/ops/structure/leaf.h"
#include "fuselage/ops/structure/shape.h"
#include "tests/graph/support.h"

namespace fuselage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

static_assert(!std::is_convertible_v<NodeId, ValueId>);
static_assert(!std::is_convertible_v<DomainId, MapId>);
static_assert(!std::is_convertible_v<std::uint32_t, NodeId>);
static_assert(!std::equality_comparable_with<NodeId, ValueId>);

/// Two inputs and sums of them.
class GraphEdit : public ::testing::Test {
 protected:
  ValueId input(const char* name, Dims dims = {4}) {
    const NodeId id = add_node(graph_, op::Param{.name = name, .dims = std::move(dims)});
    return graph_.result(id);
  }
  NodeId sum(ValueId a, ValueId b) { return add_node(graph_, op::Add{}, {a, b}); }
  const std::vector<Use>& uses(ValueId id) { return graph_.value(id).uses; }

  Graph graph_{"edit"};
  ValueId x_ = input("x");
  ValueId y_ = input("y");
};

TEST(Id, DefaultIsInvalid) {
  EXPECT_FALSE(NodeId{}.valid());
  EXPECT_TRUE(NodeId{0}.valid());
  EXPECT_LT(NodeId{1}, NodeId{2});
}

TEST_F(GraphEdit, RemovedNodeAndValueAreStale) {
  const NodeId node = sum(x_, y_);
  const ValueId value = graph_.result(node);
  graph_.remove_node(node);
  EXPECT_FALSE(graph_.alive(node));
  EXPECT_EQ(graph_.node_count(), 2u);
  EXPECT_THAT(error_of<InternalError>([&] { graph_.node(node); }), HasSubstr("a removed node"));
  EXPECT_THAT(error_of<InternalError>([&] { graph_.value(value); }), HasSubstr("a removed value"));
  EXPECT_THROW(graph_.remove_node(node), InternalError);
  EXPECT_THROW(sum(x_, value), InternalError);
  EXPECT_THROW(graph_.replace_uses(x_, value), InternalError);
  EXPECT_THROW(graph_.replace_uses(value, x_), InternalError);
  EXPECT_THROW(graph_.set_operand({node, 0}, x_), InternalError);
  EXPECT_THROW(graph_.add_output("out", value), InternalError);
  EXPECT_THROW(graph_.set_value_name(value, "name"), InternalError);
  EXPECT_THROW(graph_.set_provenance(node, {}), InternalError);
  EXPECT_THAT(uses(x_), IsEmpty());
}

TEST_F(GraphEdit, SlotsOfRemovedNodesAreNotUsedAgain) {
  const NodeId removed = sum(x_, y_);
  graph_.remove_node(removed);
  const NodeId later = sum(x_, y_);
  EXPECT_NE(later, removed);
  EXPECT_FALSE(graph_.alive(removed));
  EXPECT_EQ(graph_.nodes().size(), 3u);
  EXPECT_EQ(graph_.nodes().back(), later);
  EXPECT_EQ(graph_.node_limit(), 4u);
}

TEST_F(GraphEdit, IdsOfAnotherGraphAreRefused) {
  EXPECT_THROW(graph_.node(NodeId{1000}), InternalError);
  EXPECT_THROW(graph_.value(ValueId{}), InternalError);
  EXPECT_THROW(graph_.domain(DomainId{77}), InternalError);
  EXPECT_THROW(graph_.map(MapId{}), InternalError);
  EXPECT_THROW(add_node(graph_, op::Import{.name = "x", .domain = DomainId{9}, .dims = {}}),
               InternalError);
}

TEST_F(GraphEdit, UsesStandInTheOrderInWhichTheyWereMade) {
  const NodeId a = sum(x_, y_);
  const NodeId b = sum(y_, x_);
  const NodeId c = sum(x_, x_);
  EXPECT_THAT(uses(x_), ElementsAre(Use{a, 0}, Use{b, 1}, Use{c, 0}, Use{c, 1}));
  graph_.set_operand({a, 0}, y_);
  EXPECT_THAT(uses(x_), ElementsAre(Use{b, 1}, Use{c, 0}, Use{c, 1}));
  EXPECT_THAT(uses(y_), ElementsAre(Use{a, 1}, Use{b, 0}, Use{a, 0}));
  EXPECT_EQ(graph_.node(a).operands, (std::vector<ValueId>{y_, y_}));
  graph_.remove_node(c);
  EXPECT_THAT(uses(x_), ElementsAre(Use{b, 1}));
}

TEST_F(GraphEdit, ReplaceUsesMovesUsesAndOutputs) {
  const NodeId a = sum(x_, x_);
  const ValueId z = input("z");
  const NodeId b = sum(z, y_);
  graph_.add_output("one", x_);
  graph_.add_output("two", y_);
  graph_.replace_uses(x_, z);
  EXPECT_THAT(uses(x_), IsEmpty());
  EXPECT_THAT(uses(z), ElementsAre(Use{b, 0}, Use{a, 0}, Use{a, 1}));
  EXPECT_EQ(graph_.node(a).operands, (std::vector<ValueId>{z, z}));
  EXPECT_EQ(graph_.find_output("one"), z);
  EXPECT_EQ(graph_.find_output("two"), y_);
  EXPECT_FALSE(graph_.is_output(x_));
  graph_.remove_node(graph_.value(x_).producer);
}

TEST_F(GraphEdit, ReplaceUsesByItselfChangesNothing) {
  const NodeId a = sum(x_, y_);
  graph_.replace_uses(x_, x_);
  EXPECT_THAT(uses(x_), ElementsAre(Use{a, 0}));
}

TEST_F(GraphEdit, ReplacementOfAnotherTypeIsRefused) {
  const NodeId a = sum(x_, y_);
  const ValueId wide = input("wide", {8});
  EXPECT_THAT(error_of<InternalError>([&] { graph_.replace_uses(x_, wide); }),
              HasSubstr("another type"));
  EXPECT_EQ(graph_.node(a).operands[0], x_);
}

TEST_F(GraphEdit, WhatIsUsedIsNotRemoved) {
  const NodeId a = sum(x_, y_);
  EXPECT_THROW(graph_.remove_node(graph_.value(x_).producer), InternalError);
  graph_.add_output("out", graph_.result(a));
  EXPECT_THROW(graph_.remove_node(a), InternalError);
  EXPECT_TRUE(graph_.alive(a));
  EXPECT_THAT(uses(x_), ElementsAre(Use{a, 0}));
  graph_.clear_outputs();
  graph_.remove_node(a);
  EXPECT_THAT(uses(x_), IsEmpty());
}

TEST_F(GraphEdit, OutputNamesAreUniqueAndCanBeWritten) {
  graph_.add_output("out", x_);
  EXPECT_THAT(error_of([&] { graph_.add_output("out", y_); }),
              HasSubstr("output 'out' is given twice"));
  EXPECT_THAT(error_of([&] { graph_.add_output("an output", y_); }), HasSubstr("'an output'"));
  EXPECT_EQ(graph_.outputs().size(), 1u);
  EXPECT_FALSE(graph_.find_output("other").valid());
}

TEST_F(GraphEdit, OperandCountIsChecked) {
  const auto add = [this](const char* name, std::vector<ValueId> operands, AttrList attrs = {}) {
    return error_of([&] { graph_.add_node(find_op(name), operands, attrs); });
  };
  EXPECT_EQ(add("add", {x_}), "add: it takes 2 operands, not 1");
  EXPECT_EQ(add("sigmoid", {x_, x_}), "sigmoid: it takes 1 operands, not 2");
  EXPECT_EQ(add("layer_norm", {x_}, {{"epsilon", 1e-6}}),
            "layer_norm: it takes 2 or 3 operands, not 1");
  EXPECT_EQ(add("layer_norm", {x_, x_, x_, x_}, {{"epsilon", 1e-6}}),
            "layer_norm: it takes 2 or 3 operands, not 4");
  EXPECT_EQ(add("concat", {}), "concat: it takes at least 1 operands, not 0");
  EXPECT_EQ(add("param", {x_}, {{"name", "w"}, {"dims", Dims{1}}}),
            "param: it takes 0 operands, not 1");
}

TEST_F(GraphEdit, AttributesAreChecked) {
  const auto k_best = [this](AttrList attrs) {
    return error_of([&] { graph_.add_node(op_def<op::KBest>(), {x_}, attrs); });
  };
  EXPECT_EQ(k_best({}), "k_best: attribute 'k' is missing");
  EXPECT_EQ(k_best({{"k", 2.0}}), "k_best: attribute 'k' must be of kind integer, not real");
  EXPECT_EQ(k_best({{"k", true}}), "k_best: attribute 'k' must be of kind integer, not boolean");
  EXPECT_EQ(k_best({{"k", std::int64_t{2}}, {"beam", std::int64_t{1}}}),
            "k_best: it has no attribute 'beam'");
  EXPECT_EQ(k_best({{"k", std::int64_t{2}}, {"k", std::int64_t{3}}}),
            "k_best: attribute 'k' is given twice");
  EXPECT_EQ(k_best({{"k", std::int64_t{2}}}), "no error");
  EXPECT_THROW(graph_.add_node_with_attrs(op_def<op::KBest>(), {x_}, {}), InternalError);
}

TEST_F(GraphEdit, DefaultsFillWhatIsNotGiven) {
  const Node& param = graph_.producer(x_);
  EXPECT_EQ(param.as<ExternalName>().name, "x");
  EXPECT_EQ(param.as<op::Param>().domain, graph_.none());
  EXPECT_EQ(param.as<op::Param>().dtype, DType::f32);
  EXPECT_THROW((void)param.as<op::Transposed>(), InternalError);
}

TEST_F(GraphEdit, AFailedNodeLeavesNothingBehind) {
  const ValueId wide = input("wide", {8});
  EXPECT_THROW(sum(x_, wide), Error);
  EXPECT_EQ(graph_.node_count(), 3u);
  EXPECT_EQ(graph_.node_limit(), 3u);
  EXPECT_EQ(graph_.value_limit(), 3u);
  EXPECT_THAT(uses(x_), IsEmpty());
}

TEST_F(GraphEdit, SizesThatCouldOverflowAreRefused) {
  const DomainId vocab = graph_.add_vocabulary("vocab", 1 << 30);
  EXPECT_THAT(error_of([&] { input("big", {1 << 20, 1 << 20}); }), HasSubstr("out of range"));
  EXPECT_THAT(error_of([&] { input("none", {4, 0}); }), HasSubstr("out of range"));
  EXPECT_THAT(error_of([&] { input("negative", {-4}); }), HasSubstr("out of range"));
  EXPECT_THAT(error_of([&] {
                add_node(graph_, op::Param{.name = "table", .domain = vocab, .dims = {128}});
              }),
              HasSubstr("vocab f32[128] is out of range"));
  // No single attribute is large here, only what follows from them.
  ValueId wide = input("wide", {std::int64_t{1} << 30});
  EXPECT_THAT(error_of([&] {
                for (int i = 0; i < 40; ++i)
                  wide = graph_.result(add_node(graph_, op::Concat{}, {wide, wide}));
              }),
              HasSubstr("out of range"));
}

TEST_F(GraphEdit, NodesAndTypesReadWellInMessages) {
  const DomainId sentence = graph_.add_sentences("sentence");
  EXPECT_EQ(graph_.show({DType::f32, graph_.none(), {2, 3}}), "f32[2, 3]");
  EXPECT_EQ(graph_.show({DType::i8, sentence, {}}), "sentence i8[]");
  const NodeId node = add_node(graph_, op::Add{}, {x_, y_}, {"gru.cpp", 31});
  EXPECT_EQ(graph_.describe(node), "add (gru.cpp:31)");
  graph_.set_value_name(graph_.result(node), "encoder.sum");
  EXPECT_EQ(graph_.describe(node), "add 'encoder.sum' (gru.cpp:31)");
  EXPECT_EQ(row_size({DType::f32, graph_.none(), {2, 3}}), 6);
  EXPECT_EQ(row_size({DType::f32, graph_.none(), {}}), 1);
}

std::vector<Type> infer_nothing(const InferContext&) { return {}; }

/// The message with which a registry refuses these definitions; nothing of them is added.
std::string refusal(std::vector<OpDef> ops) {
  for (OpDef& op : ops)
    if (op.summary.empty()) op.summary = "An op of a test.";
  OpRegistry registry;
  try {
    registry.add(ops);
  } catch (const Error& error) {
    EXPECT_TRUE(registry.all().empty());
    return error.what();
  }
  return "";
}

TEST(OpRegistry, RefusesANameThatIsTaken) {
  const auto op = [](std::string_view name, std::vector<std::string_view> former = {}) {
    return OpDef{.name = name,
                 .summary = "An op of a test.",
                 .infer = infer_nothing,
                 .former_names = std::move(former)};
  };
  EXPECT_EQ(refusal({op("one"), op("two")}), "");
  EXPECT_THAT(refusal({op("same"), op("same")}), HasSubstr("two ops are called 'same'"));
  EXPECT_THAT(refusal({op("one", {"old"}), op("old")}), HasSubstr("two ops are called 'old'"));
  EXPECT_THAT(refusal({op("one"), op("two", {"one"})}), HasSubstr("two ops are called 'one'"));
  EXPECT_THAT(refusal({op("Two words")}), HasSubstr("cannot be called 'Two words'"));
  EXPECT_THAT(refusal({op("")}), HasSubstr("cannot be called ''"));
}

TEST(OpRegistry, RefusesADefinitionThatContradictsItself) {
  const OpDef good{.name = "good", .operands = {{"x"}}, .infer = infer_nothing};
  const auto refusal_of = [&good](auto change) {
    OpDef op = good;
    change(op);
    return refusal({op});
  };
  EXPECT_EQ(refusal_of([](OpDef&) {}), "");
  EXPECT_THAT(refusal_of([](OpDef& op) { op.infer = nullptr; }), HasSubstr("op 'good': it has no"));
  EXPECT_THAT(refusal_of([](OpDef& op) { op.evaluate_f32 = [](EvalContext<float>&) {}; }),
              HasSubstr("not in both"));
  EXPECT_THAT(refusal_of([](OpDef& op) { op.traits = Trait::elementwise; }), HasSubstr("row_wise"));
  EXPECT_THAT(refusal_of([](OpDef& op) { op.traits = Trait::commutative; }),
              HasSubstr("two operands, not 1"));
  EXPECT_THAT(refusal_of([](OpDef& op) {
                op.operands = {{"x", OperandSpec::Arity::optional}, {"y"}};
              }),
              HasSubstr("'x' is optional or repeated"));
  EXPECT_THAT(refusal_of([](OpDef& op) { op.operands = {{.name = "x", .through = "via"}}; }),
              HasSubstr("'x' is read through 'via'"));
  EXPECT_THAT(refusal_of([](OpDef& op) {
                op.attributes = {{"a", AttrKind::real}, {"a", AttrKind::real}};
              }),
              HasSubstr("two attributes 'a'"));
  EXPECT_THAT(refusal_of([](OpDef& op) {
                op.attributes = {{"a", AttrKind::real, Attr(std::int64_t{1})}};
              }),
              HasSubstr("'a' is not of kind real"));
}

TEST(OpRegistry, FindsOpsByName) {
  EXPECT_EQ(all_ops().find("no_such_op"), nullptr);
  EXPECT_THROW(find_op("no_such_op"), InternalError);
  ASSERT_NE(all_ops().find("add"), nullptr);
  EXPECT_EQ(all_ops().find("add")->name, "add");
}

TEST(OpRegistry, DefaultsAreOfTheDeclaredKind) {
  for (const OpDef* def : all_ops().all()) {
    EXPECT_FALSE(def->summary.empty()) << def->name;
    ASSERT_NE(def->infer, nullptr) << def->name;
    EXPECT_EQ(def->evaluate_f32 == nullptr, def->evaluate_f64 == nullptr) << def->name;
    for (const AttrSpec& spec : def->attributes) {
      const std::size_t kind = static_cast<std::size_t>(spec.kind);
      EXPECT_EQ(spec.default_value.value_or(Attr{}).index(), spec.default_value ? kind : 0)
          << def->name << " " << spec.name;
    }
    for (std::size_t i = 0; i + 1 < def->operands.size(); ++i)
      EXPECT_EQ(def->operands[i].arity, OperandSpec::Arity::one) << def->name;
  }
}

}  // namespace
}  // namespace fuselage
