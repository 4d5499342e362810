#include "passes/rewrite/pass_manager.h"

#include <fmt/format.h>

#include <chrono>

#include "fuselage/base/error.h"
#include "fuselage/graph/verifier.h"
#include "graph/traversal.h"
#include "passes/rewrite/apply_rules.h"

namespace fuselage {
namespace {

void verify_after(const Pass& pass, const Graph& graph) {
  try {
    verify(graph);
  } catch (const std::exception& error) {
    throw InternalError(
        fmt::format("internal error: pass '{}' broke the graph: {}", pass.name, error.what()));
  }
}

void check_report(const Pass& pass, bool reported, bool changed) {
  if (reported && !changed)
    throw InternalError(fmt::format(
        "internal error: pass '{}' reports a change, but the graph is what it was", pass.name));
  if (!reported && changed)
    throw InternalError(fmt::format(
        "internal error: pass '{}' changed the graph, but reports no change", pass.name));
}

}  // namespace

bool PassOptions::allows(NumericClass numeric_class) const {
  switch (numeric_class) {
    case NumericClass::exact:
      return true;
    case NumericClass::reassociates:
      return allow_reassociation;
    case NumericClass::approximates:
      return allow_approximation;
    case NumericClass::quantizes:
      return allow_quantization;
  }
  return false;
}

PassRecord run_pass(const Pass& pass, Graph& graph, const PassOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  PassRecord record{.name = pass.name, .occurrence = pass.occurrence};
  const std::uint64_t hash_before = options.check_hash ? structural_hash(graph) : 0;
  Rewriter rewriter(graph);
  if (pass.rules.empty()) {
    check(pass.run != nullptr, "a pass has neither rules nor a function");
    record.changed = pass.run(rewriter);
  } else {
    apply_rules(pass.rules, rewriter, options, record);
    record.changed = rewriter.changes() > 0;
  }
  record.rewrites = rewriter.rewrites();
  if (options.verify && (record.changed || rewriter.changes() > 0)) verify_after(pass, graph);
  if (options.check_hash) check_report(pass, record.changed, structural_hash(graph) != hash_before);
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (options.on_after_pass) options.on_after_pass(pass.name, graph, record.changed);
  return record;
}

std::vector<PassRecord> run_passes(std::span<const Pass> passes, Graph& graph,
                                   const PassOptions& options) {
  std::vector<PassRecord> records;
  for (const Pass& pass : passes) records.push_back(run_pass(pass, graph, options));
  return records;
}

}  // namespace fuselage
