#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace fuselage {

/// Names of a graph's values that depend neither on the order of nodes nor on other names: the
/// value's own where it is unique, else with the node's index, as provenance has it ("matmul#12").
class Labels {
 public:
  explicit Labels(const Graph& graph);

  const std::string& operator[](ValueId id) const { return labels_.at(id.index); }

 private:
  std::vector<std::string> labels_;
};

/// The name of a node: the label of its first result; of a sink, its op and its first operand.
std::string node_label(const Graph& graph, NodeId id, const Labels& labels);

/// "%y = matmul(%x, %W) {transpose = true} : hyp f32[8]", with labels for names.
std::string node_line(const Graph& graph, NodeId id, const Labels& labels);

/// "from a, b by rule", or nothing for a node that no rule touched.
std::string provenance_text(const Graph& graph, NodeId id);

/// All names by which a user may ask for a node: labels and names of its results and its origins.
std::vector<std::string> names_of(const Graph& graph, NodeId id, const Labels& labels);

/// True for a value that nothing computes: a parameter, an import, a constant.
bool is_stored(const Graph& graph, NodeId id);

/// The part of a model to which a name belongs: what stands before its last dot, a number behind
/// the name apart ("encoder.l1" for "encoder.l1.matmul.2"); empty where there is none.
std::string_view layer_of(std::string_view name);

}  // namespace fuselage
