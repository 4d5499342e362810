#pragma once

// A read-only view of a Graph for the Boost Graph Library: vertices are live nodes, out-edges lead
// from a node to the producers of its operands, in operand order. It models VertexListGraph and
// IncidenceGraph. It stores nothing: Boost's own containers would lose operand order and repeated
// operands. Include it only in .cpp files.

#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/iterator/iterator_facade.hpp>
#include <boost/property_map/property_map.hpp>
#include <utility>

#include "fuselage/graph/graph.h"

namespace fuselage {

class BoostView {
 public:
  struct Edge {
    NodeId source;
    std::uint32_t operand = 0;
    friend bool operator==(const Edge&, const Edge&) = default;
  };

  explicit BoostView(const Graph& graph) : graph_(&graph) {}
  const Graph& graph() const { return *graph_; }

  class VertexIterator : public boost::iterator_facade<VertexIterator, NodeId,
                                                       boost::forward_traversal_tag, NodeId> {
   public:
    VertexIterator() = default;
    VertexIterator(const Graph* graph, std::uint32_t index) : graph_(graph), index_(index) {
      skip_dead();
    }

   private:
    friend class boost::iterator_core_access;
    NodeId dereference() const { return NodeId{index_}; }
    bool equal(const VertexIterator& other) const { return index_ == other.index_; }
    void increment() {
      ++index_;
      skip_dead();
    }
    void skip_dead() {
      while (index_ < graph_->node_limit() && !graph_->alive(NodeId{index_})) ++index_;
    }
    const Graph* graph_ = nullptr;
    std::uint32_t index_ = 0;
  };

  class EdgeIterator
      : public boost::iterator_facade<EdgeIterator, Edge, boost::forward_traversal_tag, Edge> {
   public:
    EdgeIterator() = default;
    EdgeIterator(NodeId node, std::uint32_t operand) : edge_{node, operand} {}

   private:
    friend class boost::iterator_core_access;
    Edge dereference() const { return edge_; }
    bool equal(const EdgeIterator& other) const { return edge_ == other.edge_; }
    void increment() { ++edge_.operand; }
    Edge edge_;
  };

 private:
  const Graph* graph_;
};

/// Index of a vertex, for Boost's vector property maps of size node_limit().
struct NodeIndexMap {
  using key_type = NodeId;
  using value_type = std::size_t;
  using reference = std::size_t;
  using category = boost::readable_property_map_tag;
  friend std::size_t get(NodeIndexMap, NodeId id) { return id.index; }
};

inline NodeIndexMap get(boost::vertex_index_t, const BoostView&) { return {}; }

// Free functions required by the BGL concepts, found by argument-dependent look-up.
inline std::pair<BoostView::VertexIterator, BoostView::VertexIterator> vertices(
    const BoostView& view) {
  const Graph* graph = &view.graph();
  return {{graph, 0}, {graph, graph->node_limit()}};
}
inline std::size_t num_vertices(const BoostView& view) { return view.graph().node_limit(); }
inline std::pair<BoostView::EdgeIterator, BoostView::EdgeIterator> out_edges(
    NodeId node, const BoostView& view) {
  const auto count = static_cast<std::uint32_t>(view.graph().node(node).operands.size());
  return {{node, 0}, {node, count}};
}
inline std::size_t out_degree(NodeId node, const BoostView& view) {
  return view.graph().node(node).operands.size();
}
inline NodeId source(const BoostView::Edge& edge, const BoostView&) { return edge.source; }
inline NodeId target(const BoostView::Edge& edge, const BoostView& view) {
  const Graph& graph = view.graph();
  return graph.value(graph.node(edge.source).operands[edge.operand]).producer;
}

}  // namespace fuselage

template <>
struct boost::graph_traits<fuselage::BoostView> {
  using vertex_descriptor = fuselage::NodeId;
  using edge_descriptor = fuselage::BoostView::Edge;
  using vertex_iterator = fuselage::BoostView::VertexIterator;
  using out_edge_iterator = fuselage::BoostView::EdgeIterator;
  using directed_category = boost::directed_tag;
  using edge_parallel_category = boost::allow_parallel_edge_tag;
  struct traversal_category : boost::vertex_list_graph_tag, boost::incidence_graph_tag {};
  using vertices_size_type = std::size_t;
  using edges_size_type = std::size_t;
  using degree_size_type = std::size_t;
  static vertex_descriptor null_vertex() { return {}; }
};

template <>
struct boost::property_map<fuselage::BoostView, boost::vertex_index_t> {
  using type = fuselage::NodeIndexMap;
  using const_type = fuselage::NodeIndexMap;
};
