#include "fuselage/passes/pipeline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "fuselage/passes/motion/commute_rows.h"
#include "fuselage/passes/motion/frequent_rows.h"
#include "fuselage/passes/precision/approximate_activations.h"
#include "fuselage/passes/precision/quantize.h"
#include "passes/cleanup/fold_constants.h"
#include "passes/cleanup/merge_common_subexpressions.h"
#include "passes/cleanup/remove_dead_code.h"
#include "passes/cleanup/simplify.h"
#include "passes/fusion/fuse_attention.h"
#include "passes/fusion/fuse_ensemble.h"
#include "passes/fusion/fuse_linear.h"
#include "passes/fusion/fuse_norm.h"
#include "passes/fusion/fuse_output.h"
#include "passes/fusion/fuse_pointwise.h"
#include "passes/fusion/fuse_quantize.h"
#include "passes/fusion/fuse_recurrence.h"
#include "passes/fusion/merge_attention.h"
#include "passes/motion/merge_products.h"
#include "passes/motion/narrow_slices.h"
#include "passes/motion/split_products.h"

namespace fuselage {

namespace {

std::vector<PipelineStep> cleaning_steps(const PipelineOptions& options) {
  std::vector<PipelineStep> steps = {
      {simplify(), "one spelling for each computation, so that a later pattern is one pattern"},
      {fold_constants(), "what is written in the graph is computed before anything is planned"},
      {merge_common_subexpressions(), "equal values are one value, so that uses can be counted"},
      {remove_dead_code(), "nothing is planned, moved or fused that no output needs"},
  };
  // A fused layer would hide products from the quantizer.
  if (options.recurrent_kernels && options.precision == Precision::fp32)
    steps.push_back({fuse_recurrence(), "loops are still as their model has them"});
  return steps;
}

std::vector<PipelineStep> moving_steps(const PipelineOptions& options) {
  std::vector<PipelineStep> steps = {
      {split_products(for_rounding(options.commute)),
       "a product that could move only in parts is cut into those parts"},
      {commute_rows(options.commute),
       "work goes to the rows where it is least: the law, on a graph in one spelling"},
      {merge_common_subexpressions(),
       "commuting each use on its own makes the same selection several times"},
      {merge_products(), "what is computed from one value is one product, once nothing moves more"},
      {quantize(options.precision), "products as they are; what follows moves and fuses integers"},
  };
  if (options.precision != Precision::fp32) {
    steps.push_back({commute_rows(options.commute), "rows are quantized where there are fewest"});
    steps.push_back({quantize(options.precision), "which may be where they are stored"});
    steps.push_back({merge_common_subexpressions(), "and each of them once"});
  }
  steps.push_back({frequent_rows(options.commute, options.ranks),
                   "tables of the rows met most, out of what complete tables and merged products "
                   "left"});
  return steps;
}

std::vector<PipelineStep> fusing_steps(const PipelineOptions& options) {
  std::vector<PipelineStep> steps = {
      {simplify(), "parts of merged products that go on together are one part"},
      {fuse_output(), "before products take up their bias for themselves"},
      {fuse_ensemble(), "before products and chains take its members apart"},
      {fuse_attention(), "before chains hide the tanh that it takes apart"},
      {merge_attention(options.commute.workload), "the law for what has just become one node"},
      {approximate_activations(options.activations),
       "what attention left of them, before they are parts of chains"},
      {fuse_norm(), "before chains and products take the sums"},
      {narrow_slices(), "gates that are cut out of one value can join what uses them"},
      {fuse_pointwise(),
       "what is left between products are chains, which nothing needs to see inside"},
      {simplify(), "slices that moved before a chain meet those that were there"},
      {fuse_linear(), "a chain that belongs to one product runs on its tiles"},
  };
  if (options.quantizing_kernels)
    steps.push_back({fuse_quantize(), "what computes a row has it at hand, fused as it now is"});
  return steps;
}

}  // namespace

std::vector<PipelineStep> default_pipeline(const PipelineOptions& options) {
  std::vector<PipelineStep> steps = cleaning_steps(options);
  const auto append = [&steps](const std::vector<PipelineStep>& more) {
    steps.insert(steps.end(), more.begin(), more.end());
  };
  append(moving_steps(options));
  // Fusions depend on the search head, so they come after the passes for tables.
  for (PipelineStep& step : steps) step.pass.for_tables = true;
  append(fusing_steps(options));
  std::map<std::string_view, std::size_t> occurrences;
  for (PipelineStep& step : steps) step.pass.occurrence = ++occurrences[step.pass.name];
  return steps;
}

namespace {

/// '-' and '_' are equivalent in names of passes and rules.
std::string with_underscores(std::string_view name) {
  std::string result(name);
  std::replace(result.begin(), result.end(), '-', '_');
  return result;
}

/// Names of passes, each once.
std::vector<std::string_view> pass_names(const std::vector<PipelineStep>& steps) {
  std::vector<std::string_view> names;
  for (const PipelineStep& step : steps)
    if (std::find(names.begin(), names.end(), step.pass.name) == names.end())
      names.push_back(step.pass.name);
  return names;
}

/// "simplify.2": the second pass of that name.
std::string numbered_name(const Pass& pass) {
  return fmt::format("{}.{}", pass.name, pass.occurrence);
}

/// Names of passes, then names of their rules, then names of single occurrences.
std::vector<std::string> names_of(const std::vector<PipelineStep>& steps) {
  const std::vector<std::string_view> passes = pass_names(steps);
  std::vector<std::string> names(passes.begin(), passes.end());
  for (const PipelineStep& step : steps)
    for (const Rule& rule : step.pass.rules) names.push_back(rule.name);
  for (const PipelineStep& step : steps) names.push_back(numbered_name(step.pass));
  return names;
}

/// Whether the pipeline of a back-end with all capabilities contains a pass or rule of that name.
bool runs_elsewhere(const std::string& name) {
  const std::vector<PipelineStep> steps =
      default_pipeline({.recurrent_kernels = true, .quantizing_kernels = true});
  const std::vector<std::string> names = names_of(steps);
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Appends the pass named `name`, or the pass of the rule `name` with only this rule; false if
/// there is neither.
bool append_named(std::vector<Pass>& selected, const std::vector<PipelineStep>& steps,
                  const std::string& name) {
  for (const PipelineStep& step : steps)
    if (step.pass.name == name || numbered_name(step.pass) == name) {
      selected.push_back(step.pass);
      return true;
    }
  for (const PipelineStep& step : steps)
    for (const Rule& rule : step.pass.rules)
      if (rule.name == name) {
        selected.push_back(step.pass);
        selected.back().rules = {rule};
        return true;
      }
  return false;
}

/// Removes the pass or rule `name` from the selection; false if it is not there.
bool leave_out(std::vector<Pass>& selected, const std::string& name) {
  std::size_t left_out = std::erase_if(
      selected, [&](const Pass& pass) { return pass.name == name || numbered_name(pass) == name; });
  for (Pass& pass : selected)
    left_out += std::erase_if(pass.rules, [&](const Rule& rule) { return rule.name == name; });
  std::erase_if(selected, [](const Pass& pass) { return pass.rules.empty() && !pass.run; });
  return left_out > 0;
}

}  // namespace

std::vector<Pass> select_passes(std::string_view names, const PipelineOptions& options) {
  std::vector<Pass> selected;
  if (names == "none") return selected;
  const std::vector<PipelineStep> steps = default_pipeline(options);
  const std::vector<std::string> known = names_of(steps);
  while (true) {
    const std::size_t comma = std::min(names.find(','), names.size());
    const std::string_view item = names.substr(0, comma);
    const bool out = item.starts_with('-');
    const std::string name = with_underscores(item.substr(out ? 1 : 0));
    const bool is_known = std::find(known.begin(), known.end(), name) != known.end();
    if (item == "all")
      for (const PipelineStep& step : steps) selected.push_back(step.pass);
    else if (!is_known && !(out && runs_elsewhere(name)))
      throw Error(
          fmt::format("there is no pass {}{}; give 'all', 'none', or some of {}", in_quotes(name),
                      did_you_mean(name, std::vector<std::string_view>(known.begin(), known.end())),
                      fmt::join(pass_names(steps), ", ")));
    else if (is_known && !(out ? leave_out(selected, name) : append_named(selected, steps, name)))
      throw Error(fmt::format("{} leaves out what is not there before it; write 'all,{}'",
                              in_quotes(item), item));
    if (comma == names.size()) return selected;
    names.remove_prefix(comma + 1);
  }
}

}  // namespace fuselage
