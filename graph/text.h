#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "graph/graph.h"

namespace fuselage {

/// Most bytes of a graph in the text form, for those who read files.
inline constexpr std::size_t kMaxGraphTextBytes = std::size_t{4} << 20;

// The text form of a graph: what dumps show, what pass tests are written in and what a model
// directory carries. It is complete: parse_graph(print_graph(g)) is the same_graph as g. One
// statement a line; '#' begins a comment. See docs/graph-text.md.

/// What print_graph adds to the bare graph.
struct PrintOptions {
  bool provenance = true;  ///< `from …` and `by …` behind nodes that a rule made
  /// Text for a comment behind a node; none where it is empty.
  std::function<std::string(NodeId)> comment = nullptr;
};

std::string print_graph(const Graph& graph, const PrintOptions& options = {});

/// The `domain` and `map` lines alone.
std::string print_declarations(const Graph& graph);

/// "{heads = 8}", or nothing when every attribute has its default.
std::string print_attributes(const Graph& graph, const Node& node);

/// Parses one graph. `where` names the text in messages and locations. Throws Error with line
/// number and cause.
Graph parse_graph(std::string_view text, const std::string& where, const OpRegistry& ops);

/// True for what may name a domain, a map or a value: letters, digits, '_' and '.'.
bool valid_name(std::string_view name);

}  // namespace fuselage
