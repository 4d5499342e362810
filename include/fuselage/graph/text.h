#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "fuselage/base/api.h"
#include "fuselage/graph/graph.h"

namespace FUSELAGE_API fuselage {

/// Maximum size of a text graph in bytes, for readers of files.
inline constexpr std::size_t kMaxGraphTextBytes = std::size_t{4} << 20;

// The text form of a graph, used by dumps, pass tests and model directories. It is lossless:
// same_graph(parse_graph(print_graph(g)), g). One statement per line; '#' begins a comment. See
// docs/graph-text.md.

/// Additions of print_graph to the bare graph.
struct PrintOptions {
  bool provenance = true;  ///< `from …` and `by …` after nodes made by a rule
  /// Text of a comment after a node; empty: no comment.
  std::function<std::string(NodeId)> comment = nullptr;
};

std::string print_graph(const Graph& graph, const PrintOptions& options = {});

/// The `domain` and `map` lines alone.
std::string print_declarations(const Graph& graph);

/// "{heads = 8}", or "" if every attribute has its default.
std::string print_attributes(const Graph& graph, const Node& node);

/// An attribute's value; domains and maps are the graph's.
std::string print_attribute(const Graph& graph, const Attr& value);

/// Parses one graph. `where` names the text in messages and locations. Throws Error with line
/// number and cause.
Graph parse_graph(std::string_view text, const std::string& where, const OpRegistry& ops);

/// Whether `name` may name a domain, map or value: not empty; letters, digits, '_' and '.'.
bool valid_name(std::string_view name);

}  // namespace fuselage
