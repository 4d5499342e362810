#pragma once

#include <string>

#include "fuselage/graph/graph.h"
#include "fuselage/graph/text.h"
#include "fuselage/ops/registry.h"

namespace fuselage {

/// A graph out of lines in the text form, behind domains for a small encoder and decoder.
inline Graph graph_of(const std::string& lines) {
  return parse_graph(R"(fuselage.graph 1
domain words = vocabulary 6
domain sentence = sentence
domain src = source of sentence
domain parent = parent of sentence
domain hyp = hypothesis of parent
domain cross = pairs of hyp, src
map src.word : src -> words
map hyp.word : hyp -> words partial
)" + lines,
                     "test", all_ops());
}

/// The node that makes the value of that name.
inline NodeId find_node(const Graph& graph, const std::string& name) {
  for (const NodeId id : graph.nodes())
    for (const ValueId result : graph.node(id).results)
      if (graph.value(result).name == name) return id;
  return {};
}

inline ValueId find_value(const Graph& graph, const std::string& name) {
  return graph.result(find_node(graph, name));
}

}  // namespace fuselage
