#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fuselage/graph/graph.h"

namespace fuselage {

/// Labels of a graph's values that do not depend on the order of nodes: the value's name if it is
/// unique, else with the node's index as in provenance ("matmul#12").
class Labels {
 public:
  explicit Labels(const Graph& graph);

  const std::string& operator[](ValueId id) const { return labels_.at(id.index); }

 private:
  std::vector<std::string> labels_;
};

/// The name of a node: the label of its first result; for a sink, its op and its first operand.
std::string node_label(const Graph& graph, NodeId id, const Labels& labels);

/// "%y = matmul(%x, %W) {transpose = true} : hyp f32[8]", with labels for names.
std::string node_line(const Graph& graph, NodeId id, const Labels& labels);

/// "from a, b by rule", or "" for a node without provenance.
std::string provenance_text(const Graph& graph, NodeId id);

/// All names of a node in questions: labels and names of its results and its origins.
std::vector<std::string> names_of(const Graph& graph, NodeId id, const Labels& labels);

/// The rows that a node computes; for a sink, those of its last operand.
DomainId rows_of(const Graph& graph, NodeId id);

/// Whether a node is not computed: a parameter, an import or a constant.
bool is_stored(const Graph& graph, NodeId id);

/// The layer of a name: without a number at the end, the part before the last dot ("encoder.l1" for
/// "encoder.l1.matmul.2"); empty if there is no such dot.
std::string_view layer_of(std::string_view name);

}  // namespace fuselage
