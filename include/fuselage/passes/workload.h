#pragma once

#include "fuselage/base/api.h"
#include "fuselage/graph/graph.h"

namespace FUSELAGE_API fuselage {

/// Expected number of distinct parents per hypothesis at a given beam size; several hypotheses may
/// continue one parent (Devlin 2017, section 4.5). The best hypothesis has one parent, and each
/// further one adds a new parent in about 55 % of the cases, so the ratio falls from 1 towards
/// 0.55. models/en-de gives 1, 0.76, 0.66, 0.63, 0.58 and 0.56 at beams of 1, 2, 4, 6, 12 and 24;
/// this gives 1, 0.78, 0.66, 0.63, 0.59 and 0.57.
constexpr double expected_distinct_parents(double beam) { return (1 + 0.55 * (beam - 1)) / beam; }

/// The expected use of a model. Rewrites are decided for this profile at compile time, never for
/// the current batch: otherwise the rounding of a sentence would depend on the other sentences of
/// its batch.
struct Workload {
  double source_length = 20;  ///< tokens of a sentence
  double target_length = 20;  ///< words of a translation
  double candidates = 500;    ///< words of a sentence's shortlist, if any
  double beam = 6;            ///< live hypotheses of a sentence
  double batch = 8;           ///< sentences per batch
  double distinct_parents = expected_distinct_parents(beam);  ///< per hypothesis
};

/// Speed of a device, for cost comparisons. The default is one processor core.
struct Target {
  double flop_per_second = 1e11;
  double bytes_per_second = 2e10;
  /// Time that a kernel takes apart from its work. Measured on a core of an AMD EPYC: 100 further
  /// `neg` of one number add 0.75 µs to a step.
  double kernel_seconds = 8e-9;
  /// Speed of the processor that runs the load program.
  double load_flop_per_second = 1e11;
};

/// Rows of a domain per sentence, summed over steps and iterations. For load-time domains: their
/// number of rows, independent of sentences.
double expected_rows(const Graph& graph, DomainId id, const Workload& workload);

/// Number of times per batch that the rows of a domain are computed; each time reads all weights.
double expected_runs(const Graph& graph, DomainId id, const Workload& workload);

/// Seconds per sentence of an op with this cost for the rows of a domain; 0 for load-time domains.
double expected_seconds(const Graph& graph, const Cost& cost, DomainId id, const Workload& workload,
                        const Target& target);

/// Cost of a node; zero if its op declares none.
Cost cost_of(const Graph& graph, NodeId id);

}  // namespace fuselage
