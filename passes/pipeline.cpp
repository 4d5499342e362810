#include "fuselage/passes/pipeline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "base/registrant.h"
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
#include "passes/fusion/fuse_positions.h"
#include "passes/fusion/fuse_quantize.h"
#include "passes/fusion/fuse_recurrence.h"
#include "passes/fusion/merge_attention.h"
#include "passes/fusion/merge_biases.h"
#include "passes/fusion/merge_chains.h"
#include "passes/motion/append_products.h"
#include "passes/motion/merge_products.h"
#include "passes/motion/narrow_slices.h"
#include "passes/motion/select_stored_rows.h"
#include "passes/motion/split_products.h"
#include "passes/precision/quantize_attention.h"
#include "passes/precision/round_attention.h"
#include "passes/precision/round_rows.h"
#include "passes/precision/widen_late.h"

namespace fuselage {
namespace {

/// A possible step: options decide whether it is part of a pipeline.
struct Step {
  Pass pass;
  std::string reason;
  bool enabled = true;
  std::string after = {};  ///< of a registered pass: the step that it comes after
};

std::vector<Step> cleaning_steps(const PipelineOptions& options) {
  return {
      {simplify(), "one spelling for each computation, so that a later pattern is one pattern"},
      {fold_constants(), "what is written in the graph is computed before anything is planned"},
      {merge_common_subexpressions(), "equal values are one value, so that uses can be counted"},
      {remove_dead_code(), "nothing is planned, moved or fused that no output needs"},
      // A fused layer would hide products from the quantizer.
      {fuse_recurrence(), "loops are still as their model has them",
       options.recurrent_kernels && options.precision == Precision::fp32},
  };
}

std::vector<Step> moving_steps(const PipelineOptions& options) {
  const bool quantizes = options.precision != Precision::fp32;
  return {
      {split_products(for_rounding(options.commute)),
       "a product that could move only in parts is cut into those parts"},
      {commute_rows(options.commute),
       "work goes to the rows where it is least: the law, on a graph in one spelling"},
      {merge_common_subexpressions(),
       "commuting each use on its own makes the same selection several times"},
      {append_products(), "keys and values of new words are products of the rows of their queries",
       options.appending_kernels},
      {merge_products(options.precision == Precision::stored),
       "what is computed from one value is one product, once nothing moves more"},
      {quantize(options.precision, options.products),
       "products as they are; what follows moves and fuses integers"},
      {commute_rows(options.commute), "rows are quantized where there are fewest", quantizes},
      {quantize(options.precision, options.products), "which may be where they are stored",
       quantizes},
      {merge_common_subexpressions(), "and each of them once", quantizes},
      {frequent_rows(options.commute, options.ranks),
       "tables of the rows met most, out of what complete tables and merged products left"},
      {widen_late(!options.rounding_kernels), "what is stored in 16 bits needs no other form"},
      {select_stored_rows(!options.rounding_kernels),
       "a table that only rows are selected of needs none either"},
  };
}

std::vector<Step> fusing_steps(const PipelineOptions& options) {
  const bool int8_cache = options.kv_cache == KvCache::int8;
  const bool rounds = options.rounding_kernels && options.precision != Precision::fp32;
  const bool in_halves =
      options.precision == Precision::bf16 || options.precision == Precision::fp16;
  return {
      {simplify(), "parts of merged products that go on together are one part"},
      {fuse_output(), "before products take up their bias for themselves"},
      {fuse_sampled_products(),
       "what is left are logits of shortlists that are not ranked at once"},
      {fuse_ensemble(), "before products and chains take its members apart"},
      {fuse_attention(), "before chains hide the tanh that it takes apart"},
      {merge_attention(options.commute.workload), "the law for what has just become one node"},
      {quantize_attention(), "keys and values for which that has found the rows", int8_cache},
      {merge_common_subexpressions(), "and each of them once", int8_cache},
      {approximate_activations(options.activations),
       "what attention left of them, before they are parts of chains"},
      {fuse_positions(), "before normalizations and chains take the sums",
       options.position_kernels},
      {fuse_norm(), "before chains and products take the sums"},
      {narrow_slices(), "gates that are cut out of one value can join what uses them"},
      {fuse_pointwise(),
       "what is left between products are chains, which nothing needs to see inside"},
      {simplify(), "slices that moved before a chain meet those that were there"},
      {merge_biases(), "biases of the parts of one product are one bias"},
      {fuse_linear(), "a chain that belongs to one product runs on its tiles"},
      {merge_chains(), "chains that belong to none share what they read"},
      {fuse_linear(), "of a product whose readers are one chain now"},
      {round_attention(options.precision == Precision::fp16 ? DType::f16 : DType::bf16),
       "keys and values that every step reads have half the bytes", rounds && in_halves},
      {round_rows(), "rows of products with 16-bit matrices, of products as they now are", rounds},
      {merge_common_subexpressions(), "and each of them once", rounds},
      {fuse_quantize(options.quantizing_kernels, options.rounding_kernels),
       "what computes a row has it at hand, fused as it now is",
       options.quantizing_kernels || options.rounding_kernels},
  };
}

struct RegisteredPass {
  Pass pass;
  PassPosition position;
  std::string reason;
};

struct RegisteredPasses {
  std::mutex mutex;
  std::vector<RegisteredPass> passes;
};

RegisteredPasses& registered() {
  static RegisteredPasses all;
  return all;
}

void number_steps(std::vector<Step>& steps) {
  std::map<std::string, std::size_t> occurrences;
  for (Step& step : steps) step.pass.occurrence = ++occurrences[step.pass.name];
}

/// "simplify.2": the second pass of that name.
std::string numbered_name(const Pass& pass) {
  return fmt::format("{}.{}", pass.name, pass.occurrence);
}

std::vector<Step>::iterator find_step(std::vector<Step>& steps, const std::string& name) {
  return std::find_if(steps.begin(), steps.end(), [&](const Step& step) {
    return step.pass.name == name || numbered_name(step.pass) == name;
  });
}

void insert(std::vector<Step>& steps, const RegisteredPass& added) {
  auto at = find_step(steps, added.position.step);
  check(at != steps.end(), "the position of a registered pass is gone");
  Step step{.pass = added.pass, .reason = added.reason};
  step.pass.for_tables = at->pass.for_tables;
  if (added.position.side == PassPosition::Side::after) {
    step.after = numbered_name(at->pass);
    ++at;
    while (at != steps.end() && at->after == step.after) ++at;
  }
  steps.insert(at, std::move(step));
}

/// All steps that options may enable, numbered among all.
std::vector<Step> all_steps(const PipelineOptions& options,
                            const std::vector<RegisteredPass>& passes) {
  std::vector<Step> steps = cleaning_steps(options);
  const auto append = [&steps](const std::vector<Step>& more) {
    steps.insert(steps.end(), more.begin(), more.end());
  };
  append(moving_steps(options));
  // Fusions depend on the search head, so they come after the passes for tables.
  for (Step& step : steps) step.pass.for_tables = true;
  append(fusing_steps(options));
  number_steps(steps);
  for (const RegisteredPass& pass : passes) insert(steps, pass);
  return steps;
}

/// Names of passes and rules, and names that select_passes interprets.
std::vector<std::string> taken_names(const std::vector<Step>& steps) {
  std::vector<std::string> names = {"all", "none"};
  for (const Step& step : steps) {
    names.push_back(step.pass.name);
    for (const Rule& rule : step.pass.rules) names.push_back(rule.name);
  }
  return names;
}

/// Throws Error for a name that --passes could not select.
void check_name(std::string_view kind, const std::string& name,
                const std::vector<std::string>& taken) {
  if (name.empty() ||
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos)
    throw Error(
        fmt::format("a {} cannot be called {}; give a name of small letters, digits and '_'", kind,
                    in_quotes(name)));
  if (std::find(taken.begin(), taken.end(), name) != taken.end())
    throw Error(fmt::format("there is a pass or rule {} already; choose another name for the {}",
                            in_quotes(name), kind));
}

void check_pass(const Pass& pass, const std::vector<Step>& steps) {
  const std::vector<std::string> taken = taken_names(steps);
  check_name("pass", pass.name, taken);
  for (const Rule& rule : pass.rules) check_name("rule", rule.name, taken);
  if (pass.rules.empty() == !pass.run)
    throw Error(fmt::format("pass {} must have either rules or a function", in_quotes(pass.name)));
  try {
    check_rules(pass.name, pass.rules);
  } catch (...) {
    rethrow_for(current_registrant(), fmt::format("pass {}", in_quotes(pass.name)));
  }
}

}  // namespace

void register_pass(Pass pass, PassPosition position, std::string reason) {
  RegisteredPasses& all = registered();
  const std::lock_guard lock(all.mutex);
  std::vector<Step> steps = all_steps({}, all.passes);
  check_pass(pass, steps);
  if (find_step(steps, position.step) == steps.end()) {
    std::vector<std::string_view> known;
    for (const Step& step : steps)
      if (step.pass.occurrence == 1) known.push_back(step.pass.name);
    const std::string suggestion = did_you_mean(position.step, known);
    throw Error(fmt::format("pass {} cannot be placed: there is no step {}{}{} can be {}",
                            in_quotes(pass.name), in_quotes(position.step), suggestion,
                            suggestion.empty() ? "; it" : " It", fmt::join(known, ", ")));
  }
  pass.occurrence = 1;
  pass.registered_by = current_registrant();
  all.passes.push_back({std::move(pass), std::move(position), std::move(reason)});
}

std::vector<Pass> default_pipeline(const PipelineOptions& options) {
  std::vector<RegisteredPass> passes;
  {
    const std::lock_guard lock(registered().mutex);
    passes = registered().passes;
  }
  std::vector<Step> steps = all_steps(options, passes);
  std::erase_if(steps, [](const Step& step) { return !step.enabled; });
  number_steps(steps);
  std::vector<Pass> pipeline;
  for (Step& step : steps) {
    step.pass.reason = std::move(step.reason);
    pipeline.push_back(std::move(step.pass));
  }
  return pipeline;
}

namespace {

/// '-' and '_' are equivalent in names of passes and rules.
std::string with_underscores(std::string_view name) {
  std::string result(name);
  std::replace(result.begin(), result.end(), '-', '_');
  return result;
}

/// Names of passes, each once.
std::vector<std::string_view> pass_names(const std::vector<Pass>& pipeline) {
  std::vector<std::string_view> names;
  for (const Pass& pass : pipeline)
    if (std::find(names.begin(), names.end(), pass.name) == names.end()) names.push_back(pass.name);
  return names;
}

/// Names of passes, then names of their rules, then names of single occurrences.
std::vector<std::string> names_of(const std::vector<Pass>& pipeline) {
  const std::vector<std::string_view> passes = pass_names(pipeline);
  std::vector<std::string> names(passes.begin(), passes.end());
  for (const Pass& pass : pipeline)
    for (const Rule& rule : pass.rules) names.push_back(rule.name);
  for (const Pass& pass : pipeline) names.push_back(numbered_name(pass));
  return names;
}

/// Whether a pipeline with other options contains a pass or rule of that name.
bool runs_elsewhere(const std::string& name) {
  for (const Precision precision : {Precision::fp32, Precision::bf16, Precision::int8})
    for (const bool rounds : {false, true}) {
      const std::vector<Pass> pipeline = default_pipeline({.precision = precision,
                                                           .kv_cache = KvCache::int8,
                                                           .recurrent_kernels = true,
                                                           .quantizing_kernels = true,
                                                           .rounding_kernels = rounds,
                                                           .appending_kernels = true,
                                                           .position_kernels = true});
      const std::vector<std::string> names = names_of(pipeline);
      if (std::find(names.begin(), names.end(), name) != names.end()) return true;
    }
  return false;
}

/// Appends the pass named `name`, or the pass of the rule `name` with only this rule; false if
/// there is neither.
bool append_named(std::vector<Pass>& selected, const std::vector<Pass>& pipeline,
                  const std::string& name) {
  for (const Pass& pass : pipeline)
    if (pass.name == name || numbered_name(pass) == name) {
      selected.push_back(pass);
      return true;
    }
  for (const Pass& pass : pipeline)
    for (const Rule& rule : pass.rules)
      if (rule.name == name) {
        selected.push_back(pass);
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
  const std::vector<Pass> pipeline = default_pipeline(options);
  const std::vector<std::string> known = names_of(pipeline);
  while (true) {
    const std::size_t comma = std::min(names.find(','), names.size());
    const std::string_view item = names.substr(0, comma);
    const bool out = item.starts_with('-');
    const std::string name = with_underscores(item.substr(out ? 1 : 0));
    const bool is_known = std::find(known.begin(), known.end(), name) != known.end();
    if (item == "all")
      for (const Pass& pass : pipeline) selected.push_back(pass);
    else if (!is_known && !(out && runs_elsewhere(name)))
      throw Error(
          fmt::format("there is no pass {}{}; give 'all', 'none', or some of {}", in_quotes(name),
                      did_you_mean(name, std::vector<std::string_view>(known.begin(), known.end())),
                      fmt::join(pass_names(pipeline), ", ")));
    else if (is_known &&
             !(out ? leave_out(selected, name) : append_named(selected, pipeline, name)))
      throw Error(fmt::format("{} leaves out what is not there before it; write 'all,{}'",
                              in_quotes(item), item));
    if (comma == names.size()) return selected;
    names.remove_prefix(comma + 1);
  }
}

}  // namespace fuselage
