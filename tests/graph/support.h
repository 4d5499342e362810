#pragma once

#include <gmock/gmock.h>

#include <string>
#include <string_view>

#include "fuselage/base/error.h"
#include "fuselage/graph/graph.h"
#include "fuselage/graph/text.h"
#include "fuselage/ops/registry.h"

namespace fuselage {

/// Domains that most tests use: one of each kind, two loops and two kinds of pairs.
inline constexpr std::string_view kDomains = R"(fuselage.graph 1
domain vocab = vocabulary 5
domain sentence = sentence
domain source = source of sentence
map source.word : source -> vocab
domain fwd = scan of source
domain bwd = scan of source reversed
domain parent = parent of sentence
domain hyp = hypothesis of parent
map hyp.word : hyp -> vocab partial
domain prefix = prefix of hyp
domain cross = pairs of hyp, source
domain self = pairs of source, source
)";

/// Line number of the first line behind kDomains.
inline const std::uint32_t kFirstLine =
    1 + static_cast<std::uint32_t>(std::count(kDomains.begin(), kDomains.end(), '\n'));

/// The graph of `body` over kDomains.
inline Graph graph_of(std::string_view body) {
  return parse_graph(std::string(kDomains) + std::string(body), "test.ir", all_ops());
}

/// The value that a parsed graph calls `name`.
inline ValueId value_named(const Graph& graph, std::string_view name) {
  for (const NodeId id : graph.nodes())
    for (const ValueId result : graph.node(id).results)
      if (graph.value(result).name == name) return result;
  ADD_FAILURE() << "there is no value " << name;
  return {};
}

inline NodeId node_named(const Graph& graph, std::string_view name) {
  return graph.value(value_named(graph, name)).producer;
}

/// The message of the exception of type E that `f` throws; "no error" if it throws none.
template <typename E = Error, typename F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "no error";
}

/// Message of the Error that parsing `body` behind kDomains gives.
inline std::string parse_error(std::string_view body) {
  return error_of([&] { graph_of(body); });
}

}  // namespace fuselage
