#include "passes/rewrite/apply_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>

#include "fuselage/base/error.h"
#include "fuselage/graph/verifier.h"
#include "graph/traversal.h"

namespace fuselage {
namespace {

/// Rules indexed by the op of their root, in the order of the rule set.
class RuleIndex {
 public:
  void add(const Rule& rule) {
    depth_ = std::max(depth_, rule.pattern.depth());
    const std::size_t rank = rules_.size();
    rules_.push_back(&rule);
    if (rule.pattern.root_ops().empty()) any_root_.push_back(rank);
    for (const OpDef* op : rule.pattern.root_ops()) by_op_[op].push_back(rank);
  }

  std::vector<const Rule*> at(const OpDef* op) const {
    std::vector<std::size_t> ranks = any_root_;
    if (const auto found = by_op_.find(op); found != by_op_.end())
      ranks.insert(ranks.end(), found->second.begin(), found->second.end());
    std::sort(ranks.begin(), ranks.end());
    std::vector<const Rule*> rules;
    for (const std::size_t rank : ranks) rules.push_back(rules_[rank]);
    return rules;
  }

  bool empty_at(const OpDef* op) const { return any_root_.empty() && !by_op_.contains(op); }
  /// The maximum depth of all patterns, in nodes.
  std::size_t depth() const { return depth_; }

 private:
  std::vector<const Rule*> rules_;
  std::vector<std::size_t> any_root_;
  std::unordered_map<const OpDef*, std::vector<std::size_t>> by_op_;
  std::size_t depth_ = 1;
};

class Driver {
 public:
  Driver(const std::vector<Rule>& rules, Rewriter& rewriter, const PassOptions& options,
         PassRecord& record)
      : graph_(rewriter.graph()), rewriter_(rewriter), options_(options), record_(record) {
    check_rules(record.name, rules);
    for (const Rule& rule : rules) {
      if (options.allows(rule.numerics.kind))
        index_.add(rule);
      else
        record.skipped.push_back(rule.name);
    }
    limit_ = options.max_rewrites ? options.max_rewrites : 1000 + 16 * graph_.node_count();
  }

  void run() {
    for (const NodeId id : topological_order(graph_)) enqueue(id);
    while (!queue_.empty()) {
      const NodeId id = queue_.front();
      queue_.pop_front();
      queued_[id.index] = false;
      if (graph_.alive(id) && apply_at(id)) enqueue_touched();
    }
    for (auto& [key, refusals] : refusals_)
      if (graph_.alive(key.first))
        record_.refusals.insert(record_.refusals.end(), refusals.begin(), refusals.end());
  }

 private:
  void enqueue(NodeId id) {
    if (index_.empty_at(graph_.node(id).op)) return;
    if (queued_.size() < graph_.node_limit()) queued_.resize(graph_.node_limit());
    if (queued_[id.index]) return;
    queued_[id.index] = true;
    queue_.push_back(id);
  }

  /// A touched node may be an inner node of a match, so users up to the depth of the patterns are
  /// enqueued again.
  void enqueue_touched() {
    std::vector<NodeId> level = rewriter_.take_touched();
    std::set<NodeId> seen(level.begin(), level.end());
    for (std::size_t i = 0; i < index_.depth() && !level.empty(); ++i) {
      std::vector<NodeId> users;
      for (const NodeId id : level) {
        enqueue(id);
        for (const ValueId result : graph_.node(id).results)
          for (const Use& use : graph_.value(result).uses)
            if (seen.insert(use.node).second) users.push_back(use.node);
      }
      level = std::move(users);
    }
  }

  /// Returns whether a rule was applied.
  bool apply_at(NodeId id) {
    for (const Rule* rule : index_.at(graph_.node(id).op)) {
      std::vector<Refusal> refusals;
      for (const Match& match : find_matches(*rule, graph_, id)) {
        std::vector<Refusal> against = ask_guards(*rule, match);
        if (against.empty()) {
          refusals_.erase({id, rule->name});
          apply(*rule, match);
          return true;
        }
        if (refusals.empty()) refusals = std::move(against);
      }
      if (refusals.empty())
        refusals_.erase({id, rule->name});
      else
        refusals_[{id, rule->name}] = std::move(refusals);
    }
    return false;
  }

  void apply(const Rule& rule, const Match& match) {
    const std::string root = graph_.describe(match.root());
    if (options_.on_rewrite) options_.on_rewrite(rule, match, false);
    rewriter_.begin(rule.name, match.nodes());
    build(rule, match, root);
    if (!rewriter_.finish())
      throw InternalError(fmt::format(
          "internal error: rule '{}' fits {}, but it builds nothing there", rule.name, root));
    if (options_.on_rewrite) options_.on_rewrite(rule, match, true);
    if (options_.verify_each_rewrite) verify_rewrite(rule, root);
    recent_.push_back(rule.name);
    if (recent_.size() > kRecent) recent_.pop_front();
    if (++rewrites_ > limit_) {
      const std::set<std::string> names(recent_.begin(), recent_.end());
      throw InternalError(fmt::format(
          "internal error: pass '{}' does not come to an end; its last {} rewrites, after {}, were "
          "by {}",
          record_.name, recent_.size(), rewrites_, fmt::join(names, ", ")));
    }
  }

  void build(const Rule& rule, const Match& match, const std::string& root) {
    try {
      rule.build(rewriter_, match);
    } catch (const ExtensionError&) {
      throw;
    } catch (const std::exception& error) {
      throw InternalError(
          fmt::format("internal error: rule '{}' of pass '{}' cannot build at {}: {}", rule.name,
                      record_.name, root, error.what()));
    }
  }

  void verify_rewrite(const Rule& rule, const std::string& root) {
    try {
      verify(graph_);
    } catch (const ExtensionError&) {
      throw;
    } catch (const std::exception& error) {
      throw InternalError(fmt::format("internal error: rule '{}' broke the graph at {}: {}",
                                      rule.name, root, error.what()));
    }
  }

  static constexpr std::size_t kRecent = 64;

  const Graph& graph_;
  Rewriter& rewriter_;
  const PassOptions& options_;
  PassRecord& record_;
  RuleIndex index_;
  std::deque<NodeId> queue_;
  std::vector<bool> queued_;
  /// The latest refusals of each rule at each node.
  std::map<std::pair<NodeId, std::string>, std::vector<Refusal>> refusals_;
  std::deque<std::string> recent_;
  std::size_t rewrites_ = 0;
  std::size_t limit_ = 0;
};

}  // namespace

void apply_rules(const std::vector<Rule>& rules, Rewriter& rewriter, const PassOptions& options,
                 PassRecord& record) {
  Driver(rules, rewriter, options, record).run();
}

}  // namespace fuselage
