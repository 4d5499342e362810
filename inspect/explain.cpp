#include "fuselage/inspect/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "graph/traversal.h"
#include "inspect/lines.h"

namespace fuselage {
namespace {

struct Question {
  std::string rule, node;

  bool everywhere() const { return node == "*"; }
  bool names_one_of(const std::vector<std::string>& names) const {
    return everywhere() || std::find(names.begin(), names.end(), node) != names.end();
  }
};

Question parse_question(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos || at == 0 || at + 1 == text.size())
    throw Error(fmt::format("{} is no question; write RULE@NODE, or RULE@* for all nodes",
                            in_quotes(text)));
  Question question{std::string(text.substr(0, at)), std::string(text.substr(at + 1))};
  std::replace(question.rule.begin(), question.rule.end(), '-', '_');
  if (question.node.starts_with('%')) question.node.erase(0, 1);
  return question;
}

std::string describe_numerics(const Numerics& numerics) {
  std::string text(to_string(numerics.kind));
  if (numerics.kind != NumericClass::exact)
    text += fmt::format(": {}, up to {:g}", numerics.promise, numerics.tolerance);
  return text;
}

/// Answers a question about the passes of one history.
class Explainer {
 public:
  Explainer(const History& history, Question question)
      : history_(history), question_(std::move(question)) {}

  std::vector<Verdict> run() {
    check_node();
    for (std::size_t i = 1; i < history_.stages.size(); ++i)
      if (history_.stages[i].is_pass()) explain_pass(i, history_.optimizer.passes.at(i - 1));
    if (!known_) refuse_rule();
    return std::move(verdicts_);
  }

 private:
  void check_node() const {
    if (question_.everywhere()) return;
    std::set<std::string> known;
    for (const Stage& stage : history_.stages) {
      const Labels labels(stage.graph);
      for (const NodeId id : stage.graph.nodes()) known.merge(name_set(stage.graph, id, labels));
    }
    for (const Rewrite& rewrite : history_.rewrites)
      known.insert(rewrite.names.begin(), rewrite.names.end());
    if (known.contains(question_.node)) return;
    const std::vector<std::string_view> names(known.begin(), known.end());
    throw Error(fmt::format("no stage has a node {}{}; the stage raw shows the names",
                            in_quotes(question_.node), did_you_mean(question_.node, names)));
  }

  static std::set<std::string> name_set(const Graph& graph, NodeId id, const Labels& labels) {
    const std::vector<std::string> names = names_of(graph, id, labels);
    return {names.begin(), names.end()};
  }

  [[noreturn]] void refuse_rule() const {
    std::vector<std::string_view> names;
    for (const Pass& pass : history_.optimizer.passes) {
      if (pass.rules.empty()) names.push_back(pass.name);
      for (const Rule& rule : pass.rules) names.push_back(rule.name);
    }
    throw Error(fmt::format("the passes that ran have no rule {}{}; there are {}",
                            in_quotes(question_.rule), did_you_mean(question_.rule, names),
                            fmt::join(names, ", ")));
  }

  void explain_pass(std::size_t stage, const Pass& pass) {
    const Stage& after = history_.stages[stage];
    for (const Rule& rule : pass.rules)
      if (rule.name == question_.rule) explain_rule(stage, rule);
    if (pass.rules.empty() &&
        (pass.name == question_.rule || after.record.rewrites.contains(question_.rule)))
      explain_function(stage);
  }

  void explain_rule(std::size_t stage, const Rule& rule) {
    known_ = true;
    const Stage& after = history_.stages[stage];
    if (!history_.optimizer.options.allows(rule.numerics.kind)) {
      verdicts_.push_back(
          {.kind = Verdict::Kind::not_allowed,
           .stage = after.name,
           .rule = rule.name,
           .numerics = describe_numerics(rule.numerics),
           .where = question_.node,
           .reason = fmt::format("rules that are '{}' may not run with these options",
                                 to_string(rule.numerics.kind))});
      return;
    }
    const std::size_t before = verdicts_.size();
    for (const Rewrite& rewrite : history_.rewrites)
      if (rewrite.stage == stage && rewrite.rule == rule.name &&
          question_.names_one_of(rewrite.names))
        verdicts_.push_back({.kind = Verdict::Kind::fired,
                             .stage = after.name,
                             .rule = rule.name,
                             .numerics = describe_numerics(rule.numerics),
                             .where = rewrite.where,
                             .matched = rewrite.matched,
                             .made = rewrite.made});
    find_refusals(after, rule);
    if (verdicts_.size() == before) say_no_fit(stage, rule);
  }

  /// After a pass, every remaining match of a rule's pattern is refused by a guard.
  void find_refusals(const Stage& after, const Rule& rule) {
    const Graph& graph = after.graph;
    const Labels labels(graph);
    for (const NodeId root : topological_order(graph))
      for (const Match& match : find_matches(rule, graph, root)) {
        std::vector<Refusal> refusals = ask_guards(rule, match);
        if (refusals.empty()) continue;
        Verdict verdict{.kind = Verdict::Kind::refused,
                        .stage = after.name,
                        .rule = rule.name,
                        .numerics = describe_numerics(rule.numerics),
                        .where = graph.describe(root),
                        .refusals = std::move(refusals)};
        bool concerned = question_.everywhere();
        for (const NodeId id : match.nodes()) {
          concerned = concerned || question_.names_one_of(names_of(graph, id, labels));
          verdict.matched.push_back(node_line(graph, id, labels));
        }
        if (concerned) verdicts_.push_back(std::move(verdict));
      }
  }

  void say_no_fit(std::size_t stage, const Rule& rule) {
    std::vector<std::string_view> roots;
    for (const OpDef* op : rule.pattern.root_ops()) roots.push_back(op->name);
    const std::string wanted = roots.empty()
                                   ? "it wants a node that passes its test"
                                   : fmt::format("it begins at {}", fmt::join(roots, " or "));
    if (question_.everywhere()) {
      add_no_fit(stage, rule, "*", fmt::format("the pattern fits nowhere; {}", wanted));
      return;
    }
    // If the pass removed the node, look at it in the stage before.
    for (const std::size_t i : {stage, stage - 1}) {
      const Graph& graph = history_.stages[i].graph;
      const Labels labels(graph);
      bool found = false;
      for (const NodeId id : graph.nodes()) {
        if (!question_.names_one_of(names_of(graph, id, labels))) continue;
        found = true;
        const std::string_view op = graph.node(id).op->name;
        const bool other_op =
            !roots.empty() && std::find(roots.begin(), roots.end(), op) == roots.end();
        add_no_fit(stage, rule, graph.describe(id),
                   other_op ? fmt::format("the pattern does not fit: {}, this is {}", wanted, op)
                            : "the pattern does not fit: its operands or tests ask for something "
                              "else than what stands here");
      }
      if (found) return;
    }
    add_no_fit(stage, rule, question_.node, "no such node was there when the pass ran");
  }

  void add_no_fit(std::size_t stage, const Rule& rule, std::string where, std::string reason) {
    verdicts_.push_back({.kind = Verdict::Kind::no_fit,
                         .stage = history_.stages[stage].name,
                         .rule = rule.name,
                         .numerics = describe_numerics(rule.numerics),
                         .where = std::move(where),
                         .reason = std::move(reason)});
  }

  /// Explains a pass that is a single function, by the provenance of the nodes.
  void explain_function(std::size_t stage) {
    known_ = true;
    const Stage& after = history_.stages[stage];
    const Graph& graph = after.graph;
    const Labels labels(graph);
    const std::size_t before = verdicts_.size();
    for (const NodeId id : topological_order(graph)) {
      const Provenance& provenance = graph.node(id).provenance;
      const Graph& earlier = history_.stages[stage - 1].graph;
      const bool touched = std::find(provenance.rules.begin(), provenance.rules.end(),
                                     question_.rule) != provenance.rules.end() &&
                           !(earlier.alive(id) && earlier.node(id).provenance == provenance);
      if (!touched || !question_.names_one_of(names_of(graph, id, labels))) continue;
      verdicts_.push_back({.kind = Verdict::Kind::fired,
                           .stage = after.name,
                           .rule = question_.rule,
                           .where = graph.describe(id),
                           .matched = provenance.origins,
                           .made = {node_line(graph, id, labels)}});
    }
    if (verdicts_.size() == before)
      verdicts_.push_back({.kind = Verdict::Kind::no_fit,
                           .stage = after.name,
                           .rule = question_.rule,
                           .where = question_.node,
                           .reason = "the pass left it as it was"});
  }

  const History& history_;
  Question question_;
  std::vector<Verdict> verdicts_;
  bool known_ = false;
};

}  // namespace

std::vector<Verdict> explain(const History& history, std::string_view question) {
  return Explainer(history, parse_question(question)).run();
}

std::string_view to_string(Verdict::Kind kind) {
  constexpr std::array<std::string_view, 4> kNames{"fired", "refused", "does not fit",
                                                   "not allowed"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string print_verdicts(const std::vector<Verdict>& verdicts) {
  std::string text;
  for (const Verdict& verdict : verdicts) {
    text += fmt::format("{} {} in {} at {}", verdict.rule, to_string(verdict.kind), verdict.stage,
                        verdict.where);
    if (!verdict.numerics.empty()) text += fmt::format(" ({})", verdict.numerics);
    text += '\n';
    for (const std::string& line : verdict.matched) text += fmt::format("  matched {}\n", line);
    for (const std::string& line : verdict.made) text += fmt::format("  made    {}\n", line);
    for (const Refusal& refusal : verdict.refusals)
      text += fmt::format("  guard   {}: {}\n", refusal.guard, refusal.reason);
    if (!verdict.reason.empty()) text += fmt::format("  because {}\n", verdict.reason);
  }
  return text;
}

}  // namespace fuselage
