#pragma once

#include <memory>
#include <vector>

#include "bench/roofs.h"
#include "fuselage/backends/executable.h"

namespace fuselage {

/// The calls of a search to a worker: batches and steps. They can be replayed on another model.
struct Trace {
  struct Step {
    std::vector<std::int32_t> parents, parent_sentence, hypothesis_parent, words, positions;
    StepInput input() const {
      return {parents, parent_sentence, hypothesis_parent, words, positions};
    }
  };
  struct Batch {
    std::vector<WordIds> sentences;
    StepLimits limits;
    std::vector<Step> steps;
  };
  std::vector<Batch> batches;
};

/// The same executable, whose workers record their calls in `trace`, which must outlive them.
std::unique_ptr<Executable> recording(std::unique_ptr<Executable> executable, Trace& trace);

/// Numbers of rows of the domains, summed over the steps of a trace.
struct RowCounts {
  double sentences = 0, source = 0, steps = 0;
  double parents = 0, hypotheses = 0, parent_source = 0, hypothesis_source = 0;
};
RowCounts count_rows(const Trace& trace);

/// Numbers of operations by type of number; a multiply-add counts as two.
struct Work {
  double f32 = 0, i16 = 0, i8 = 0;
  double total() const { return f32 + i16 + i8; }
  /// Minimum seconds on one core.
  double floor(const Peaks& peaks) const;
  friend Work operator+(const Work& a, const Work& b);
};

/// Operations of a graph's source and step programs for these rows. Pairs of other domains are left
/// out, so the figure is a lower bound for a transformer.
struct Operations {
  Work source, step;
  double step_weights = 0;  ///< bytes of weights that the steps read
  Work whole() const { return source + step; }
};
Operations operations(const Graph& graph, const RowCounts& counts);

}  // namespace fuselage
