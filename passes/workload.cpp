#include "fuselage/passes/workload.h"

#include <algorithm>

#include "ops/call_op.h"

namespace fuselage {
namespace {

double hypotheses(const Workload& workload) { return workload.beam * workload.target_length; }

/// Number of right members per left member of a pair; on average a prefix has half of its words,
/// and half of a source is before a token.
double partners(const Graph& graph, const Domain& pairs, const Workload& workload) {
  const DomainKind right = graph.domain(pairs.right).kind;
  if (right == DomainKind::shortlist) return workload.candidates;
  const double half =
      (right == DomainKind::prefix ? workload.target_length : workload.source_length) / 2;
  const auto within = [half](std::int64_t bound) {
    return std::min(half, static_cast<double>(bound));
  };
  const double before = within(-pairs.window.first);
  return right == DomainKind::prefix ? before : before + within(pairs.window.last);
}

}  // namespace

double expected_rows(const Graph& graph, DomainId id, const Workload& workload) {
  const Domain& domain = graph.domain(id);
  switch (domain.kind) {
    case DomainKind::none:
    case DomainKind::sentence:
      return 1;
    case DomainKind::vocabulary:
      return static_cast<double>(domain.size);
    case DomainKind::source:
    case DomainKind::scan:
      return workload.source_length;
    case DomainKind::shortlist:
      return workload.candidates;
    case DomainKind::parent:
      return workload.distinct_parents * hypotheses(workload);
    case DomainKind::hypothesis:
    case DomainKind::prefix:
      return hypotheses(workload);
    case DomainKind::pairs:
      return expected_rows(graph, domain.left, workload) * partners(graph, domain, workload);
  }
  return 0;
}

double expected_runs(const Graph& graph, DomainId id, const Workload& workload) {
  const Domain& domain = graph.domain(id);
  if (domain.binding == BindingTime::step) return workload.target_length;
  return domain.kind == DomainKind::scan ? workload.source_length : 1;
}

double expected_seconds(const Graph& graph, const Cost& cost, DomainId id, const Workload& workload,
                        const Target& target) {
  const Domain& domain = graph.domain(id);
  if (domain.binding == BindingTime::load) return 0;
  const double rows = expected_rows(graph, id, workload);
  const double weights = cost.weight_bytes * expected_runs(graph, id, workload) / workload.batch;
  return std::max(rows * cost.flop / target.flop_per_second,
                  (rows * cost.bytes + weights) / target.bytes_per_second);
}

Cost cost_of(const Graph& graph, NodeId id) { return cost_of_op(graph, graph.node(id)); }

}  // namespace fuselage
