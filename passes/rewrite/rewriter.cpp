#include "fuselage/passes/rewrite/rewriter.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuselage/base/error.h"
#include "fuselage/ops/registry.h"

namespace fuselage {
namespace {

void append_new(std::vector<std::string>& to, const std::vector<std::string>& from) {
  for (const std::string& name : from)
    if (std::find(to.begin(), to.end(), name) == to.end()) to.push_back(name);
}

}  // namespace

std::vector<std::string> origins_of(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (!node.provenance.origins.empty()) return node.provenance.origins;
  if (!node.results.empty() && !graph.value(node.results[0]).name.empty())
    return {graph.value(node.results[0]).name};
  return {fmt::format("{}#{}", node.op->name, id.index)};
}

void Rewriter::begin(std::string_view rule, std::span<const NodeId> matched) {
  check(!open_, "a rewrite begins inside another one");
  open_ = true;
  rule_ = rule;
  provenance_ = {};
  location_ = {};
  changes_at_begin_ = changes_;
  for (const NodeId id : matched) include(id);
  if (!matched.empty()) location_ = graph_.node(matched.front()).location;
}

void Rewriter::include(NodeId id) {
  check(open_, "an edit outside of a rewrite");
  append_new(provenance_.origins, origins_of(graph_, id));
  append_new(provenance_.rules, graph_.node(id).provenance.rules);
}

bool Rewriter::finish() {
  check(open_, "a rewrite ends that never began");
  while (!perhaps_dead_.empty()) {
    const NodeId id = perhaps_dead_.back();
    perhaps_dead_.pop_back();
    remove_if_dead(id);
  }
  open_ = false;
  const bool changed = changes_ != changes_at_begin_;
  if (changed) ++rewrites_[rule_];
  return changed;
}

NodeId Rewriter::add_node(const OpDef& op, std::vector<ValueId> operands, const AttrList& attrs) {
  check(open_, "an edit outside of a rewrite");
  for (const ValueId operand : operands) touch(graph_.value(operand).producer);
  const NodeId id = graph_.add_node(op, std::move(operands), attrs, location_);
  Provenance provenance = provenance_;
  append_new(provenance.rules, {rule_});
  graph_.set_provenance(id, std::move(provenance));
  perhaps_dead_.push_back(id);
  touch(id);
  ++changes_;
  return id;
}

NodeId Rewriter::clone(const Node& node, std::vector<ValueId> operands, const AttrList& changed) {
  AttrList attrs = changed;
  for (std::size_t i = 0; i < node.attrs.size(); ++i) {
    const std::string_view name = node.op->attributes[i].name;
    const auto has_name = [name](const auto& attr) { return attr.first == name; };
    if (std::none_of(changed.begin(), changed.end(), has_name))
      attrs.emplace_back(name, node.attrs[i]);
  }
  return add_node(*node.op, std::move(operands), attrs);
}

DomainId Rewriter::add_pairs(std::string name, DomainId left, DomainId right) {
  check(open_, "an edit outside of a rewrite");
  ++changes_;
  return graph_.add_pairs(std::move(name), left, right);
}

void Rewriter::replace(ValueId from, ValueId to) {
  check(open_, "an edit outside of a rewrite");
  if (from == to) return;
  for (const Use& use : graph_.value(from).uses) touch(use.node);
  touch(graph_.value(to).producer);
  graph_.replace_uses(from, to);
  if (graph_.value(to).name.empty()) graph_.set_value_name(to, graph_.value(from).name);
  perhaps_dead_.push_back(graph_.value(from).producer);
  ++changes_;
}

void Rewriter::set_operand(Use use, ValueId value) {
  check(open_, "an edit outside of a rewrite");
  const ValueId before = graph_.node(use.node).operands.at(use.operand);
  if (before == value) return;
  graph_.set_operand(use, value);
  mark(use.node);
  touch(use.node);
  touch(graph_.value(before).producer);
  touch(graph_.value(value).producer);
  perhaps_dead_.push_back(graph_.value(before).producer);
  ++changes_;
}

void Rewriter::absorb_matched(NodeId kept) {
  check(open_, "an edit outside of a rewrite");
  mark(kept);
}

void Rewriter::remove(NodeId id) {
  check(open_, "an edit outside of a rewrite");
  const std::vector<ValueId> operands = graph_.node(id).operands;
  graph_.remove_node(id);
  for (const ValueId operand : operands) {
    touch(graph_.value(operand).producer);
    perhaps_dead_.push_back(graph_.value(operand).producer);
  }
  ++changes_;
}

std::vector<NodeId> Rewriter::take_touched() {
  std::vector<NodeId> touched = std::move(touched_);
  touched_.clear();
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  std::erase_if(touched, [this](NodeId id) { return !graph_.alive(id); });
  return touched;
}

void Rewriter::mark(NodeId id) {
  Provenance merged{.origins = origins_of(graph_, id), .rules = graph_.node(id).provenance.rules};
  append_new(merged.origins, provenance_.origins);
  append_new(merged.rules, provenance_.rules);
  append_new(merged.rules, {rule_});
  graph_.set_provenance(id, std::move(merged));
}

void Rewriter::remove_if_dead(NodeId id) {
  if (!graph_.alive(id) || graph_.node(id).has(Trait::sink)) return;
  for (const ValueId result : graph_.node(id).results)
    if (!graph_.value(result).uses.empty() || graph_.is_output(result)) return;
  remove(id);
}

}  // namespace fuselage
