#include "fuselage/graph/text.h"

#include <fmt/format.h>

#include "fuselage/graph/verifier.h"
#include "fuselage/ops/structure/leaf.h"
#include "fuselage/ops/structure/rows.h"
#include "graph/traversal.h"
#include "tests/graph/op_examples.h"
#include "tests/graph/support.h"

namespace fuselage::text_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Graph again(const Graph& graph) { return parse_graph(print_graph(graph), "again.ir", all_ops()); }

void expect_round_trip(const Graph& graph) {
  const std::string printed = print_graph(graph);
  SCOPED_TRACE(printed);
  const Graph parsed = parse_graph(printed, "again.ir", all_ops());
  EXPECT_TRUE(same_graph(graph, parsed));
  EXPECT_EQ(structural_hash(graph), structural_hash(parsed));
  EXPECT_EQ(print_graph(parsed), printed);
  EXPECT_EQ(parsed.name(), graph.name());
}

TEST(GraphText, EveryOpRoundTrips) {
  for (const OpDef* def : all_ops().all()) {
    SCOPED_TRACE(def->name);
    const auto example = op_examples().find(std::string(def->name));
    if (example == op_examples().end()) {
      ADD_FAILURE() << "add a graph with this op to op_examples.h";
      continue;
    }
    const Graph graph = graph_of(example->second);
    bool contained = false;
    for (const NodeId id : graph.nodes()) contained |= graph.node(id).op == def;
    EXPECT_TRUE(contained) << "the example does not use the op";
    verify(graph);
    expect_round_trip(graph);
  }
  EXPECT_EQ(op_examples().size(), all_ops().all().size());
}

TEST(GraphText, DeclarationsRoundTrip) {
  const Graph graph = graph_of(R"(domain places = vocabulary 8
map source.next : source -> source neighbour 1
map hyp.before : hyp -> prefix neighbour -3
map source.first : sentence -> source token 0
map source.last : sentence -> source token -1
map source.place : source -> places position
map hyp.place : hyp -> places position -2
map self.bucket : self -> vocab distance clipped
map self.t5 : self -> places distance logarithmic 64
domain causal = pairs of source, source within -inf 0
domain recent = pairs of hyp, prefix within -7 inf
map causal.bucket : causal -> vocab distance clipped causal
map recent.t5 : recent -> places distance logarithmic 64 causal
map sentence.language : sentence -> vocab
input frames : source f32[80]
input speaker : sentence f32[4, 2]
)");
  expect_round_trip(graph);
  EXPECT_EQ(graph.domain(graph.find_domain("recent")).window.first, -7);
  EXPECT_EQ(graph.map(graph.find_map("causal.bucket")).buckets.causal, true);
  EXPECT_EQ(graph.inputs().size(), 2u);
}

TEST(GraphText, PrintsOneStatementALine) {
  Graph graph = graph_of(R"(
%x = import() {name = "x", domain = hyp, dims = [4]}
%w = param() {name = "W", dims = [4, 9]}
%7 = matmul(%x, %w)
%best, %words = k_best(%7) {k = 2}
return words = %words, best = %best
)");
  graph.set_name("tiny");
  EXPECT_EQ(print_graph(graph),
            R"(fuselage.graph 1
graph "tiny"
)" + std::string(kDomains.substr(kDomains.find('\n') + 1)) +
                R"(%x = import() {name = "x", domain = hyp, dims = [4]} : hyp f32[4]
%w = param() {name = "W", dims = [4, 9]} : f32[4, 9]
%0 = matmul(%x, %w) : hyp f32[9]
%best, %words = k_best(%0) {k = 2} : hyp f32[2], hyp i32[2]
return words = %words, best = %best
)");
}

TEST(GraphText, AttributesKeepTheirExactValues) {
  const Graph graph = again(graph_of(op_examples().at("constant")));
  const auto values = graph.node(node_named(graph, "c")).as<op::Constant>().values;
  ASSERT_EQ(values.size(), 6u);
  EXPECT_EQ(values[0], 0.1);
  EXPECT_EQ(values[1], -2.5e-07);
  EXPECT_EQ(values[2], std::numeric_limits<double>::infinity());
  EXPECT_EQ(values[3], -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(values[4]));
  EXPECT_TRUE(std::signbit(values[5]));
  const Graph strings = again(graph_of(op_examples().at("param")));
  EXPECT_EQ(strings.node(node_named(strings, "w")).as<ExternalName>().name, "a \"quoted\" \\ name");
}

TEST(GraphText, StringsMayHoldAnyByte) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  Graph graph(bytes);
  add_node(graph, op::Param{.name = bytes, .dims = {1}});
  const Graph parsed = again(graph);
  EXPECT_EQ(parsed.name(), bytes);
  EXPECT_EQ(parsed.node(NodeId{0}).as<ExternalName>().name, bytes);
  expect_round_trip(graph);
}

TEST(GraphText, MapsKeepTheirIds) {
  // The word map is declared before other domains add maps of their own.
  Graph graph;
  const DomainId vocab = graph.add_vocabulary("vocab", 5);
  const DomainId sentence = graph.add_sentences("sentence");
  const DomainId source = graph.add_source("source", sentence);
  const MapId word = graph.add_word_map("source.word", source, vocab, false);
  const DomainId parent = graph.add_parents("parent", sentence);
  const DomainId hyp = graph.add_hypotheses("hyp", parent);
  graph.add_word_map("hyp.word", hyp, vocab, true);
  const DomainId prefix = graph.add_prefix("prefix", hyp);
  graph.add_pairs("self", hyp, prefix);
  const NodeId x = add_node(graph, op::Import{.name = "x", .domain = parent, .dims = {2}});
  const NodeId y = add_node(graph, op::SelectRows{.via = MapPath{graph.find_map("hyp.parent")}},
                            {graph.result(x)});
  graph.add_output("y", graph.result(y));
  const Graph parsed = again(graph);
  ASSERT_EQ(parsed.map_count(), graph.map_count());
  for (std::uint32_t i = 0; i < graph.map_count(); ++i)
    EXPECT_EQ(parsed.map(MapId{i}).name, graph.map(MapId{i}).name);
  EXPECT_EQ(parsed.find_map("source.word"), word);
  expect_round_trip(graph);
}

TEST(GraphText, ProvenanceRoundTrips) {
  Graph graph = graph_of("%a = constant() {values = [1]}\n%b = neg(%a)\n%c = neg(%b)\n");
  const Provenance both{{"decoder.state", "a, \"b\""}, {"fuse-gru", "fold"}};
  const Provenance rules{{}, {"simplify"}};
  graph.set_provenance(node_named(graph, "a"), both);
  graph.set_provenance(node_named(graph, "b"), rules);
  EXPECT_THAT(print_graph(graph),
              HasSubstr(R"( from "decoder.state", "a, \"b\"" by "fuse-gru", "fold")"));
  const Graph parsed = again(graph);
  EXPECT_EQ(parsed.node(node_named(parsed, "a")).provenance, both);
  EXPECT_EQ(parsed.node(node_named(parsed, "b")).provenance, rules);
  EXPECT_EQ(parsed.node(node_named(parsed, "c")).provenance, Provenance{});
  EXPECT_THAT(print_graph(graph, {.provenance = false}), Not(HasSubstr("fuse-gru")));
}

TEST(GraphText, NamesThatCannotStandAreReplaced) {
  Graph graph;
  const auto add = [&graph](const char* name) {
    const NodeId id = add_node(graph, op::Constant{.values = {1}});
    graph.set_value_name(graph.result(id), name);
  };
  for (const char* name : {"h", "h", "h.2", "h", "", "7", "0", "a b", "ü", "x.1_y"}) add(name);
  const Graph parsed = again(graph);
  std::vector<std::string> names;
  for (const NodeId id : parsed.nodes()) names.push_back(parsed.value(parsed.result(id)).name);
  EXPECT_THAT(names,
              ::testing::ElementsAre("h", "h.2", "h.2.2", "h.3", "", "", "", "", "", "x.1_y"));
  EXPECT_THAT(print_graph(graph), HasSubstr("%4 = constant"));
  EXPECT_THAT(print_graph(graph), Not(HasSubstr("%5 = constant")));
  expect_round_trip(graph);
}

TEST(GraphText, PrintsInAnOrderThatCanBeParsed) {
  Graph graph = graph_of(R"(
%a = param() {name = "a", dims = [4]}
%b = neg(%a)
%late = param() {name = "late", dims = [4]}
return b = %b
)");
  graph.set_operand({node_named(graph, "b"), 0}, value_named(graph, "late"));
  expect_round_trip(graph);
  EXPECT_THAT(print_graph(graph), HasSubstr("%b = neg(%late)"));
}

TEST(GraphText, LayoutIsFree) {
  const Graph plain = graph_of("%x = param() {name = \"x # y\", dims = [2, 3]}\nreturn o = %x\n");
  const Graph spaced =
      parse_graph("\r\n# comment\n  fuselage.graph   1 # version\r\n" +
                      std::string(kDomains.substr(kDomains.find('\n') + 1)) +
                      "\t%x=param( ){dims=[ 2,3 ],name=\"x # y\"}:f32[2,3]# end\r\n\n\nreturn o=%x",
                  "spaced", all_ops());
  EXPECT_TRUE(same_graph(plain, spaced));
  EXPECT_EQ(spaced.node(NodeId{0}).as<ExternalName>().name, "x # y");
}

TEST(GraphText, NodesKnowTheirLine) {
  const Graph graph = graph_of("\n\n%x = constant() {values = [1]}\n");
  EXPECT_EQ(graph.node(NodeId{0}).location.file, "test.ir");
  EXPECT_EQ(graph.node(NodeId{0}).location.line, kFirstLine + 2);
}

TEST(GraphText, ValidNames) {
  for (const char* name : {"a", "A.b_9", "0", "..", "_"}) EXPECT_TRUE(valid_name(name)) << name;
  for (const char* name : {"", " ", "a-b", "a b", "é", "%a", "a\n"})
    EXPECT_FALSE(valid_name(name)) << name;
}

struct BadText {
  const char* text;     ///< one line behind kDomains and two values
  const char* message;  ///< what stands behind "test.ir:LINE: "
};

constexpr BadText kBadTexts[] = {
    {"%y = matmull(%x, %x)", "there is no operator 'matmull'; did you mean 'matmul'?"},
    {"%y = layer_n(%x, %x)", "there is no operator 'layer_n'; did you mean 'layer_norm'?"},
    {"%y = matmul(%x, %w) {transpose = true}",
     "matmul has no attribute 'transpose'; did you mean 'transposed'?"},
    {"%y = neg(%z)", "value '%z' is not defined above"},
    {"%y = neg(x)", "expected '%' before 'x)'"},
    {"%y = neg(%x", "expected ')' before the end of the line"},
    {"%y = neg %x", "expected '(' before '%x'"},
    {"%y neg(%x)", "expected '=' before 'neg(%x)'"},
    {"%y, = k_best(%x) {k = 1}", "expected '%' before '= k_best(%x) {k = 1}'"},
    {"% = neg(%x)", "expected a value name before '= neg(%x)'"},
    {"%y = neg(%x) extra", "expected 'by' before 'extra'"},
    {"%x = neg(%x)", "value '%x' is defined twice"},
    {"%y = k_best(%x) {k = 1}", "k_best has 2 results, but 1 are named"},
    {"neg(%x)", "neg has 1 results, but 0 are named"},
    {"%y = neg(%x) {k = 1}", "neg has no attribute 'k'"},
    {"%y = concat(%x) {k = 1}", "concat has no attribute 'k'"},
    {"%y, %z = k_best(%x)", "k_best: attribute 'k' is missing"},
    {"%y, %z = k_best(%x) {k = 1, k = 2}", "k_best: attribute 'k' is given twice"},
    {"%y, %z = k_best(%x) {k = two}", "expected a number before 'two}'"},
    {"%y, %z = k_best(%x) {k = 1.5}", "expected '}' before '.5}'"},
    {"%y, %z = k_best(%x) {k 1}", "expected '=' before '1}'"},
    {"%y, %z = k_best(%x) {k = 1", "expected '}' before the end of the line"},
    {"%y = matmul(%x, %w) {transposed = yes}", "expected 'false' before 'yes}'"},
    {"%y = matmul(%x, %w) {transposed = truely}", "expected 'false' before 'truely}'"},
    {"%y = slice(%x) {begin = 0, end = 9}", "): elements 0 to 9 are not a part of hyp f32[4]"},
    {"%y = add(%x)", "add: it takes 2 operands, not 1"},
    {"%y = neg(%x) : hyp f32[5]", "'%y' is written as hyp f32[5], but neg gives hyp f32[4]"},
    {"%y = neg(%x) : f32[4]", "'%y' is written as f32[4], but neg gives hyp f32[4]"},
    {"%y = neg(%x) : hyp f16[4]", "'%y' is written as hyp f16[4], but neg gives hyp f32[4]"},
    {"%y = neg(%x) : hyp[4]", "expected an element type before '[4]'"},
    {"%y = neg(%x) : hyp f33[4]", "there is no element type 'f33'"},
    {"%y = neg(%x) : hypo f32[4]", "domain 'hypo' is not declared"},
    {"%y, %z = k_best(%x) {k = 1} : hyp f32[1]", "expected ',' before the end of the line"},
    {"%y = neg(%x) from \"a\" \"b\"", "expected 'by' before '\"b\"'"},
    {"%y = param() {name = y, dims = [1]}", "expected '\"' before 'y, dims = [1]}'"},
    {"%y = param() {name = \"y, dims = [1]}", "a string has no closing quote"},
    {"%y = param() {name = \"y\\", "a string has no closing quote"},
    {"%y = param() {name = \"\\x4\", dims = [1]}", "\\x in a string needs two hex digits"},
    {"%y = param() {name = \"\\xg0\", dims = [1]}", "\\x in a string needs two hex digits"},
    {"%y = param() {name = \"y\", dims = [1}", "expected ']' before '}'"},
    {"%y = param() {name = \"y\", dims = [1,]}", "expected a number before ']}'"},
    {"%y = param() {name = \"y\", dims = 1}", "expected '[' before '1}'"},
    {"%y = param() {name = \"y\", domain = voc, dims = [1]}", "domain 'voc' is not declared"},
    {"%y = param() {name = \"y\", dtype = float, dims = [1]}", "there is no element type 'float'"},
    {"%y = select_rows(%x) {via = [hyp.child]}", "map 'hyp.child' is not declared"},
    {"domain a", "expected '=' before the end of the line"},
    {"domain a = sentences", "there is no kind of domain 'sentences'; did you mean 'sentence'?"},
    {"domain a = none", "there is no kind of domain 'none'"},
    {"domain a = vocabulary", "expected a number before the end of the line"},
    {"domain a = vocabulary 0", "vocabulary 'a' must have 1 to 2147483647 entries, not 0"},
    {"domain a = vocabulary -3", "vocabulary 'a' must have 1 to 2147483647 entries, not -3"},
    {"domain a = source sentence", "expected 'of' before 'sentence'"},
    {"domain a = source of nowhere", "domain 'nowhere' is not declared"},
    {"domain a = scan of hyp",
     "domain 'a' must be of a source domain, but 'hyp' is a hypothesis domain"},
    {"domain a = pairs of hyp", "expected ',' before the end of the line"},
    {"domain a = pairs of hyp, vocab",
     "domain 'a': 'hyp' and 'vocab' do not belong to the same sentences"},
    {"domain a = sentence reversed", "unexpected 'reversed'"},
    {"domain hyp = sentence", "domain 'hyp' is declared twice"},
    {"domain f32 = sentence", "domain 'f32' has the name of an element type"},
    {"map a : hyp vocab", "expected '->' before 'vocab'"},
    {"map a : hyp -> source",
     "domain 'a' must be of a vocabulary domain, but 'source' is a source"},
    {"map hyp.word : hyp -> vocab", "map 'hyp.word' is declared twice"},
    {"map a : hyp -> vocab total", "unexpected 'total'"},
    {"map a : source -> source neighbour", "expected a number before the end of the line"},
    {"map a : source -> source neighbour 0", "has no neighbour at the distance 0"},
    {"map a : source -> prefix neighbour -1",
     "neighbours in 'prefix' belong to rows of 'hyp', not of 'source'"},
    {"map a : sentence -> source token", "expected a number before the end of the line"},
    {"map a : sentence -> source token last", "expected a number before 'last'"},
    {"map a : sentence -> vocab token -1", "'vocab' is a vocabulary domain"},
    {"map a : source -> source token -1",
     "tokens of 'source' belong to rows of 'sentence', not of 'source'"},
    {"map a : source -> vocab position x", "expected a number before 'x'"},
    {"map a : self -> vocab distance", "expected 'clipped' before the end of the line"},
    {"map a : self -> vocab distance logarithmic", "expected a number before the end of the line"},
    {"map a : self -> vocab distance clipped both", "unexpected 'both'"},
    {"domain a = pairs of source, source within 0", "expected a number before the end of the line"},
    {"domain a = pairs of hyp, source within -1 0", "a window needs pairs of the tokens"},
    {"input a source", "expected ':' before 'source'"},
    {"input a : source i32[2]", "input 'a' must be f32, not source i32[2]"},
    {"input a : f32[2]", "numbers are supplied for source tokens or sentences"},
    {"return", "expected an output name before the end of the line"},
    {"return a", "expected '=' before the end of the line"},
    {"return a = x", "expected '%' before 'x'"},
    {"return a = %x, a = %w", "output 'a' is given twice"},
    {"return a = %nothing", "value '%nothing' is not defined above"},
    {"graph tiny", "expected '\"' before 'tiny'"},
    {"fuselage.graph 1", "there is no operator 'fuselage.graph'"},
    {"?", "expected an operator before '?'"},
    {"neg\x1b[31m(%x)", "expected '(' before '\\x1b[31m(%x)'"},
};

TEST(GraphText, BadTextIsRefusedWithLineAndCause) {
  constexpr std::string_view kValues =
      "%x = import() {name = \"x\", domain = hyp, dims = [4]}\n"
      "%w = param() {name = \"w\", dims = [4, 4]}\n";
  for (const BadText& bad : kBadTexts) {
    SCOPED_TRACE(bad.text);
    const std::string message = parse_error(std::string(kValues) + bad.text + "\n");
    EXPECT_THAT(message, HasSubstr(fmt::format("test.ir:{}", kFirstLine + 2)));
    EXPECT_THAT(message, HasSubstr(bad.message));
    EXPECT_THAT(message, Not(HasSubstr("\n")));
  }
}

TEST(GraphText, LineIsNamedOnceWhateverTheFileIsCalled) {
  const std::string text = "fuselage.graph 1\ndomain d = sentence\ndomain d = sentence\n";
  for (const std::string where : {"", "d", "model.ir"})
    EXPECT_EQ(error_of([&] { parse_graph(text, where, all_ops()); }),
              where + ":3: domain 'd' is declared twice");
  EXPECT_EQ(error_of([&] {
              parse_graph("fuselage.graph 1\n%x = neg()\n%y = slice(%x) {}\n", "a", all_ops());
            }),
            "a:2: neg: it takes 1 operands, not 0");
}

TEST(GraphText, HeaderIsRequired) {
  const auto error = [](std::string_view text) {
    return error_of([&] { parse_graph(text, "m.ir", all_ops()); });
  };
  EXPECT_THAT(error(""), HasSubstr("m.ir: the file is empty"));
  EXPECT_THAT(error("# nothing\n\n"), HasSubstr("m.ir: the file is empty"));
  EXPECT_EQ(error("domain a = sentence\n"), "m.ir:1: a text graph begins with 'fuselage.graph 1'");
  EXPECT_EQ(error("\nfuselage.graph 2\n"), "m.ir:2: a text graph begins with 'fuselage.graph 1'");
  EXPECT_EQ(error("fuselage.graph 1 0\n"), "m.ir:1: unexpected '0'");
  EXPECT_EQ(error("fuselage.graph 1"), "no error");
}

TEST(GraphText, HugeNumbersAreErrors) {
  for (const char* dims :
       {"99999999999999999999", "9223372036854775807", "4294967296, 4294967296", "0", "-1"})
    EXPECT_NE(parse_error(fmt::format("%x = param() {{name = \"x\", dims = [{}]}}\n", dims)),
              "no error")
        << dims;
  EXPECT_THAT(parse_error("%x = constant() {values = [1e999]}\n"),
              HasSubstr("expected a number before '1e999]}'"));
  EXPECT_THAT(parse_error("domain a = vocabulary 99999999999999999999\n"),
              HasSubstr("expected a number before"));
  EXPECT_THAT(parse_error("%p = position() {domain = hyp}\n"
                          "%x = sinusoid(%p) {dim = 9223372036854775806}\n"),
              HasSubstr("out of range"));
  // A product of numbers each of which is in range.
  EXPECT_THAT(parse_error("domain big = vocabulary 2147483647\n"
                          "%x = import() {name = \"x\", domain = hyp, dims = [1048576, 8]}\n"
                          "%w = param() {name = \"w\", domain = big, dims = [8]}\n"
                          "%y = matmul(%x, %w) {transposed = true}\n"),
              HasSubstr("out of range"));
}

TEST(GraphText, HostileTextIsAnErrorAndTheMessageStaysShort) {
  const std::string long_name(3'000'000, 'a');
  const std::string texts[] = {
      long_name,
      "%" + long_name,
      "%x = " + long_name + "()",
      "%x = neg(%" + long_name + ")",
      "%x = param() {" + long_name + " = 1}",
      "%x = import() {domain = " + long_name + "}",
      "domain a = " + long_name,
      "%x = constant() {values = " + std::string(200'000, '[') + "}",
      "%x = neg" + std::string(200'000, '('),
      "graph \"" + long_name,
      std::string("\0\0\0", 3),
      std::string(1000, '\xff'),
      "%x = constant() {values = [1]} : " + long_name,
  };
  for (const std::string& text : texts) {
    const std::string message = parse_error(text);
    SCOPED_TRACE(message.substr(0, 300));
    EXPECT_THAT(message.substr(0, 300), HasSubstr(fmt::format("test.ir:{}: ", kFirstLine)));
    EXPECT_LT(message.size(), 300u);
  }
}

TEST(GraphText, LongAndDeepGraphsNeedNoStack) {
  constexpr int kLength = 30'000;
  std::string text = "%v0 = constant() {values = [1";
  for (int i = 1; i < kLength; ++i) text += ", 1";
  text += fmt::format("], dims = [{}]}}\n", kLength);
  for (int i = 1; i < kLength; ++i) text += fmt::format("%v{} = neg(%v{})\n", i, i - 1);
  text += fmt::format("return last = %v{}\n", kLength - 1);
  const Graph graph = graph_of(text);
  EXPECT_EQ(graph.node_count(), static_cast<std::size_t>(kLength));
  EXPECT_TRUE(same_graph(graph, again(graph)));
  EXPECT_EQ(structural_hash(graph), structural_hash(again(graph)));
}

TEST(GraphText, FormerSpellingsAreRead) {
  const auto graph = [](const std::string& attribute) {
    return parse_graph(
        "fuselage.graph 1\n%x = import() {name = \"x\", dims = [4]}\n"
        "%y = pointwise(%x) {" +
            attribute + " = \"tanh(x0)\"}\nreturn y = %y\n",
        "test", all_ops());
  };
  const Graph former = graph("formula");
  EXPECT_TRUE(same_graph(former, graph("expression")));
  EXPECT_THAT(print_graph(former), HasSubstr("{expression = \"tanh(x0)\"}"));
}

namespace op {

struct Renamed {
  static constexpr std::string_view kName = "renamed";
};

}  // namespace op

TEST(OpRegistry, FindsOpsByFormerNames) {
  const OpDef definition =
      define<op::Renamed>({.summary = "An op of a test.",
                           .infer = [](const InferContext&) { return std::vector<Type>(); },
                           .former_names = {"before"}});
  OpRegistry ops;
  ops.add({&definition, 1});
  ASSERT_NE(ops.find("before"), nullptr);
  EXPECT_EQ(ops.find("before"), ops.find("renamed"));
  EXPECT_EQ(ops.find("before")->name, "renamed");
}

}  // namespace
}  // namespace fuselage::text_test
