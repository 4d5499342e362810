#include "graph/schedule.h"

#include <queue>
#include <set>

#include "fuselage/base/error.h"
#include "graph/traversal.h"

namespace fuselage {

DomainId scan_of(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const auto scan = [&graph](ValueId value) -> DomainId {
    const DomainId domain = graph.value(value).type.domain;
    return graph.domain(domain).kind == DomainKind::scan ? domain : DomainId{};
  };
  if (!node.results.empty()) {
    const DomainId found = scan(node.results[0]);
    if (found.valid()) return found;
  }
  if (node.has(Trait::sink) || node.has(Trait::changes_domain))
    for (const ValueId operand : node.operands)
      if (const DomainId found = scan(operand); found.valid()) return found;
  return {};
}

std::vector<bool> followers(const Graph& graph, NodeId id) {
  std::vector<bool> follows(graph.node_limit());
  std::set<DomainId> scans{scan_of(graph, id)};
  std::vector<NodeId> open;
  const auto add = [&](NodeId found) {
    if (follows[found.index]) return;
    follows[found.index] = true;
    open.push_back(found);
  };
  const auto add_users = [&](NodeId of) {
    for (const ValueId result : graph.node(of).results)
      for (const Use& use : graph.value(result).uses) add(use.node);
  };
  add_users(id);
  while (!open.empty()) {
    const NodeId found = open.back();
    open.pop_back();
    add_users(found);
    const DomainId scan = scan_of(graph, found);
    if (!scan.valid() || !scans.insert(scan).second) continue;
    for (const NodeId other : graph.nodes())
      if (scan_of(graph, other) == scan) add(other);
  }
  return follows;
}

std::vector<ScheduleItem> schedule(const Graph& graph) {
  const std::vector<NodeId> order = topological_order(graph);
  // Contract each scan to one item.
  std::vector<ScheduleItem> items;
  std::vector<std::size_t> item_of(graph.node_limit());
  std::vector<std::size_t> item_of_scan(graph.domain_count(), SIZE_MAX);
  for (const NodeId id : order) {
    const DomainId scan = scan_of(graph, id);
    std::size_t item = items.size();
    if (scan.valid()) {
      if (item_of_scan[scan.index] == SIZE_MAX) item_of_scan[scan.index] = item;
      item = item_of_scan[scan.index];
    }
    if (item == items.size()) items.push_back({scan, {}});
    items[item].nodes.push_back(id);
    item_of[id.index] = item;
  }
  // Order the items; among ready items, the first one found.
  std::vector<std::vector<std::size_t>> users(items.size());
  std::vector<std::size_t> waiting(items.size(), 0);
  for (std::size_t i = 0; i < items.size(); ++i)
    for (const NodeId id : items[i].nodes)
      for (const ValueId operand : graph.node(id).operands) {
        const std::size_t from = item_of[graph.value(operand).producer.index];
        if (from == i) continue;
        users[from].push_back(i);
        ++waiting[i];
      }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (waiting[i] == 0) ready.push(i);
  std::vector<ScheduleItem> result;
  while (!ready.empty()) {
    const std::size_t i = ready.top();
    ready.pop();
    for (const std::size_t user : users[i])
      if (--waiting[user] == 0) ready.push(user);
    result.push_back(std::move(items[i]));
  }
  check(result.size() == items.size(), "a scan depends on its own results");
  return result;
}

std::vector<ScheduleItem> scheduled_late(const Graph& graph, std::vector<ScheduleItem> items) {
  std::vector<std::size_t> item_of(graph.node_limit());
  for (std::size_t i = 0; i < items.size(); ++i)
    for (const NodeId id : items[i].nodes) item_of[id.index] = i;
  std::vector<std::vector<std::size_t>> needed(items.size());
  std::vector<bool> is_needed(items.size()), is_open(items.size());
  for (std::size_t i = 0; i < items.size(); ++i)
    for (const NodeId id : items[i].nodes)
      for (const ValueId operand : graph.node(id).operands)
        if (const std::size_t from = item_of[graph.value(operand).producer.index]; from != i) {
          needed[i].push_back(from);
          is_needed[from] = true;
        }
  std::vector<ScheduleItem> result;
  // Behind everything that it needs, each item once.
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (is_needed[i]) continue;
    open.push_back(i);
    while (!open.empty()) {
      const std::size_t item = open.back();
      if (is_open[item]) {
        open.pop_back();
        if (!items[item].nodes.empty()) result.push_back(std::move(items[item]));
        items[item].nodes.clear();
        continue;
      }
      is_open[item] = true;
      for (auto from = needed[item].rbegin(); from != needed[item].rend(); ++from)
        if (!is_open[*from]) open.push_back(*from);
    }
  }
  return result;
}

}  // namespace fuselage
