#pragma once

#include "graph/graph.h"

namespace fuselage {

/// Share of the hypotheses of a step that have a parent of their own, where a sentence has `beam`
/// of them; the others continue the same parents (Devlin 2017, section 4.5). The best hypothesis
/// always continues some parent, and each further one brings a new parent in about 55 % of the
/// cases, so the share falls from 1 to that. models/en-de gives 1, 0.76, 0.66, 0.63, 0.58 and 0.56
/// at beams of 1, 2, 4, 6, 12 and 24; this gives 1, 0.78, 0.66, 0.63, 0.59 and 0.57.
constexpr double expected_distinct_parents(double beam) { return (1 + 0.55 * (beam - 1)) / beam; }

/// What a model is expected to be used for. Rewrites are decided for this profile when a model is
/// compiled, never for the batch at hand: otherwise a sentence's rounding would depend on the
/// others of its batch.
struct Workload {
  double source_length = 20;  ///< tokens of a sentence
  double target_length = 20;  ///< words of a translation
  double candidates = 500;    ///< words of a sentence's shortlist, where it has one
  double beam = 6;            ///< live hypotheses of a sentence
  double batch = 8;           ///< sentences at a time
  double distinct_parents = expected_distinct_parents(beam);  ///< per hypothesis
};

/// What a device can do, for comparing ways to compute the same. The default is a processor core.
struct Target {
  double flop_per_second = 1e11;
  double bytes_per_second = 2e10;
  /// Of the processor that runs the load program.
  double load_flop_per_second = 1e11;
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
