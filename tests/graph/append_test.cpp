#include "graph/append.h"

#include "fuselage/graph/verifier.h"
#include "fuselage/ops/structure/rows.h"
#include "graph/traversal.h"
#include "tests/graph/support.h"

namespace fuselage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Something of every kind: weights, a loop over the source, one over words, a history.
constexpr std::string_view kBody = R"(
%E = param() {name = "E", domain = vocab, dims = [3]}
%zero = constant() {values = [0], dims = [3]}
%s = state(%zero) {domain = fwd}
%x = select_rows(%E) {via = [fwd.source, source.word]}
%sum = add(%s, %x)
next(%s, %sum)
%c = collect(%sum)
%m = mean_rows(%c) {to = [source.sentence]}
%d = state(%m) {domain = parent}
%y = select_rows(%E) {via = [hyp.word]}
%old = select_rows(%d) {via = [hyp.parent]}
%new = add(%old, %y) from "h" by "some_rule"
next(%d, %new)
%h = history(%new) {domain = prefix}
%newest = select_rows(%h) {via = [hyp.newest]}
%out = matmul(%newest, %E) {transposed = true}
return out = %out
)";

/// Only declarations, without kDomains.
Graph declared(std::string_view text) {
  return parse_graph("fuselage.graph 1\n" + std::string(text), "test.ir", all_ops());
}

std::vector<std::string> domain_names(const Graph& graph) {
  std::vector<std::string> names;
  for (std::uint32_t i = 1; i < graph.domain_count(); ++i)
    names.push_back(graph.domain(DomainId{i}).name);
  return names;
}

TEST(AppendGraph, CopiesAGraphIntoAnEmptyOne) {
  const Graph part = graph_of(kBody);
  Graph whole("whole");
  const std::vector<ValueId> values = append_graph(whole, part, "0.");
  verify(whole);
  EXPECT_EQ(whole.node_count(), part.node_count());
  EXPECT_EQ(whole.domain_count(), part.domain_count());
  EXPECT_EQ(whole.map_count(), part.map_count());
  EXPECT_TRUE(whole.outputs().empty());
  for (const NodeId id : part.nodes())
    for (const ValueId result : part.node(id).results) {
      const Value& before = part.value(result);
      const Value& after = whole.value(values.at(result.index));
      EXPECT_EQ(after.name, "0." + before.name);
      EXPECT_EQ(whole.show(after.type), part.show(before.type));
      EXPECT_EQ(whole.producer(values.at(result.index)).op, part.producer(result).op);
    }
}

TEST(AppendGraph, KeepsItsTextAndProvenance) {
  Graph whole("whole");
  append_graph(whole, graph_of(kBody), "a.");
  const std::string text = print_graph(whole);
  EXPECT_THAT(text, HasSubstr(R"(%a.E = param() {name = "a.E", domain = vocab, dims = [3]})"));
  EXPECT_THAT(text, HasSubstr("%a.x = select_rows(%a.E) {via = [fwd.source, source.word]}"));
  EXPECT_THAT(text, HasSubstr(R"(from "a.h" by "some_rule")"));
  EXPECT_TRUE(same_graph(parse_graph(text, "printed", all_ops()), whole));
}

TEST(AppendGraph, SharesAllRowsButThoseOfLoops) {
  const Graph part = graph_of(kBody);
  Graph whole("whole");
  append_graph(whole, part, "0.");
  append_graph(whole, part, "1.");
  verify(whole);
  EXPECT_EQ(whole.node_count(), 2 * part.node_count());
  EXPECT_EQ(whole.domain_count(), part.domain_count() + 2);
  EXPECT_TRUE(whole.find_domain("1.fwd").valid());
  EXPECT_TRUE(whole.domain(whole.find_domain("1.bwd")).reversed);
  const Node& x = whole.node(node_named(whole, "1.x"));
  EXPECT_THAT(x.as<op::Via>().via,
              ElementsAre(whole.find_map("1.fwd.source"), whole.find_map("source.word")));
  EXPECT_EQ(whole.value(value_named(whole, "1.out")).type,
            whole.value(value_named(whole, "0.out")).type);
  EXPECT_EQ(whole.node(node_named(whole, "1.E")).as<ExternalName>().name, "1.E");
}

TEST(AppendGraph, PutsMorePrefixesBeforeANameThatIsStillTaken) {
  Graph whole = graph_of("domain 1.fwd = scan of source\n");
  append_graph(whole, graph_of(""), "1.");
  EXPECT_TRUE(whole.find_domain("1.1.fwd").valid());
  EXPECT_TRUE(whole.find_domain("1.bwd").valid());
}

TEST(AppendGraph, SharesMapsToTheSameTokens) {
  constexpr std::string_view kLast = R"(domain sentence = sentence
domain source = source of sentence
map last : sentence -> source token -1
)";
  Graph whole = declared(kLast);
  append_graph(whole, declared(std::string(kLast) + "map first : sentence -> source token 0\n"),
               "1.");
  EXPECT_TRUE(
      same_graph(whole, declared(std::string(kLast) + "map first : sentence -> source token 0\n")));
  EXPECT_EQ(whole.map(whole.find_map("first")).offset, 0);
  EXPECT_EQ(whole.map_count(), 3u);
}

TEST(AppendGraph, KeepsTwoDomainsOfOneGraphApart) {
  constexpr std::string_view kTwo = R"(domain sentence = sentence
domain source = source of sentence
domain context = source of sentence
domain vocab = vocabulary 5
domain words = vocabulary 5
map source.word : source -> vocab
map context.word : context -> words
)";
  Graph whole = declared(kTwo);
  append_graph(whole, declared(kTwo), "1.");
  EXPECT_TRUE(same_graph(whole, declared(kTwo)));
  Graph one = declared("domain s = sentence\ndomain t = source of s\n");
  append_graph(one, declared(kTwo), "1.");
  EXPECT_THAT(domain_names(one), ElementsAre("s", "t", "context", "vocab", "words"));
}

constexpr std::string_view kTied = R"(domain vocab = vocabulary 5
domain sentence = sentence
domain source = source of sentence
domain parent = parent of sentence
domain hyp = hypothesis of parent
map source.word : source -> vocab
map hyp.word : hyp -> vocab partial
)";
constexpr std::string_view kUntied = R"(domain from = vocabulary 5
domain to = vocabulary 5
domain sentence = sentence
domain source = source of sentence
domain parent = parent of sentence
domain hyp = hypothesis of parent
map source.word : source -> from
map hyp.word : hyp -> to partial
)";

TEST(AppendGraph, AVocabularyIsSharedWhereWordsLeadToIt) {
  Graph tied = declared(kTied);
  append_graph(tied, declared(kUntied), "1.");
  EXPECT_THAT(domain_names(tied),
              ElementsAre("vocab", "sentence", "source", "parent", "hyp", "to"));
  EXPECT_EQ(tied.map(tied.find_map("1.hyp.word")).to, tied.find_domain("to"));
  EXPECT_TRUE(tied.map(tied.find_map("1.hyp.word")).partial);
  EXPECT_FALSE(tied.find_map("1.source.word").valid());

  Graph untied = declared(kUntied);
  append_graph(untied, declared(kTied), "1.");
  EXPECT_EQ(untied.domain_count(), 7u);
  EXPECT_EQ(untied.map(untied.find_map("1.hyp.word")).to, untied.find_domain("from"));
}

TEST(AppendGraph, AVocabularyOfAnotherSizeIsAnotherOne) {
  Graph whole = declared("domain vocab = vocabulary 7\n" +
                         std::string(kTied.substr(kTied.find("domain sentence"))));
  append_graph(whole, declared(kTied), "1.");
  EXPECT_EQ(whole.domain(whole.find_domain("vocab")).size, 7);
  EXPECT_EQ(whole.domain(whole.find_domain("1.vocab")).size, 5);
  EXPECT_EQ(whole.map(whole.find_map("1.source.word")).to, whole.find_domain("1.vocab"));
}

TEST(AppendGraph, RefusesToAppendAGraphToItself) {
  Graph graph = graph_of(kBody);
  EXPECT_THAT(error_of<InternalError>([&] { append_graph(graph, graph, "1."); }),
              HasSubstr("appended to itself"));
  for (const char* prefix : {"", "1/"})
    EXPECT_THAT(error_of<InternalError>([&] { append_graph(graph, Graph(), prefix); }),
                HasSubstr("prefix"));
}

}  // namespace
}  // namespace fuselage
