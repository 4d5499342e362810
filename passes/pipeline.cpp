#include "passes/pipeline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/suggest.h"
#include "passes/commute_rows.h"
#include "passes/fold_constants.h"
#include "passes/merge_common_subexpressions.h"
#include "passes/remove_dead_code.h"
#include "passes/simplify.h"

namespace fuselage {

std::vector<PipelineStep> default_pipeline(const PipelineOptions& options) {
  return {
      {simplify(), "one spelling for each computation, so that a later pattern is one pattern"},
      {fold_constants(), "what is written in the graph is computed before anything is planned"},
      {merge_common_subexpressions(), "equal values are one value, so that uses can be counted"},
      {remove_dead_code(), "nothing is planned, moved or fused that no output needs"},
      {commute_rows(options.commute),
       "work goes to the rows where it is least: the law, on a graph in one spelling"},
  };
}

std::vector<Pass> select_passes(std::string_view names, const PipelineOptions& options) {
  std::vector<Pass> selected;
  if (names == "none") return selected;
  std::vector<PipelineStep> steps = default_pipeline(options);
  if (names == "all") {
    for (PipelineStep& step : steps) selected.push_back(std::move(step.pass));
    return selected;
  }
  std::vector<std::string_view> known;
  for (const PipelineStep& step : steps) known.push_back(step.pass.name);
  while (true) {
    const std::size_t comma = std::min(names.find(','), names.size());
    const std::string_view name = names.substr(0, comma);
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end())
      throw Error("there is no pass {}{}; give 'all', 'none', or some of {}", in_quotes(name),
                  did_you_mean(name, known), fmt::join(known, ", "));
    selected.push_back(steps[static_cast<std::size_t>(found - known.begin())].pass);
    if (comma == names.size()) return selected;
    names.remove_prefix(comma + 1);
  }
}

}  // namespace fuselage
