#pragma once

#include "graph/graph.h"

namespace fuselage {

/// What a model is expected to be used for. Rewrites are decided for this profile when a model is
/// compiled, never for the batch at hand: otherwise a sentence's rounding would depend on the
/// others of its batch.
struct Workload {
  double source_length = 20;  ///< tokens of a sentence
  double target_length = 20;  ///< words of a translation
  double candidates = 500;    ///< words of a sentence's shortlist, where it has one
  double beam = 6;            ///< live hypotheses of a sentence
  double batch = 8;           ///< sentences at a time
  /// Parents per hypothesis: the others continue the same one (Devlin 2017, section 4.5).
  double distinct_parents = 0.7;
};

/// What a processor can do, for comparing ways to compute the same.
struct Target {
  double flop_per_second = 1e11;
  double bytes_per_second = 2e10;
};

/// Rows that a domain has per sentence, over all steps and iterations. Load-time domains have their
/// own number, independent of sentences.
double expected_rows(const Graph& graph, DomainId id, const Workload& workload);

/// How often per batch the rows of a domain are computed, each time reading all weights.
double expected_runs(const Graph& graph, DomainId id, const Workload& workload);

/// Seconds per sentence that an op of this cost takes for the rows of a domain; 0 for load-time
/// domains, which no sentence pays for.
double expected_seconds(const Graph& graph, const Cost& cost, DomainId id, const Workload& workload,
                        const Target& target);

/// Work of a node; all zeros when its op states none.
Cost cost_of(const Graph& graph, NodeId id);

}  // namespace fuselage
