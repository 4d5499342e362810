#include "passes/rewrite/pass_manager.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <utility>

#include "base/registrant.h"
#include "fuselage/base/error.h"
#include "fuselage/graph/verifier.h"
#include "graph/traversal.h"
#include "passes/rewrite/apply_rules.h"

namespace fuselage {
namespace {

void verify_after(const Pass& pass, const Graph& graph) {
  try {
    verify(graph);
  } catch (const ExtensionError&) {
    throw;
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

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// The options with a listener that adds its own duration to `seconds`.
PassOptions with_timed_listener(PassOptions options, double& seconds) {
  if (options.on_rewrite)
    options.on_rewrite = [listener = std::move(options.on_rewrite), &seconds](
                             const Rule& rule, const Match& match, bool done) {
      const Stopwatch watch;
      listener(rule, match, done);
      seconds += watch.seconds();
    };
  return options;
}

PassRecord run_checked(const Pass& pass, Graph& graph, const PassOptions& options,
                       std::uint64_t& hash);

/// Runs a pass. `hash` is the graph's structural hash before and after it; 0 if it is not known.
PassRecord run_hashed(const Pass& pass, Graph& graph, const PassOptions& options,
                      std::uint64_t& hash) {
  PassRecord record;
  try {
    record = run_checked(pass, graph, options, hash);
  } catch (...) {
    rethrow_for(pass.registered_by, fmt::format("pass '{}'", pass.name));
  }
  if (options.on_after_pass) options.on_after_pass(pass.name, graph, record.changed);
  return record;
}

PassRecord run_checked(const Pass& pass, Graph& graph, const PassOptions& options,
                       std::uint64_t& hash) {
  const Stopwatch watch;
  PassRecord record{.name = pass.name, .occurrence = pass.occurrence};
  if (options.check_hash && hash == 0) hash = structural_hash(graph);
  Rewriter rewriter(graph);
  double listening = 0;
  if (pass.rules.empty()) {
    check(pass.run != nullptr, "a pass has neither rules nor a function");
    record.changed = pass.run(rewriter);
  } else {
    apply_rules(pass.rules, rewriter, with_timed_listener(options, listening), record);
    record.changed = rewriter.changes() > 0;
  }
  record.rewrites = rewriter.rewrites();
  if (options.verify && (record.changed || rewriter.changes() > 0)) verify_after(pass, graph);
  if (options.check_hash) {
    const std::uint64_t after = structural_hash(graph);
    check_report(pass, record.changed, after != hash);
    hash = after;
  }
  record.seconds = watch.seconds() - listening;
  return record;
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
  std::uint64_t hash = 0;
  return run_hashed(pass, graph, options, hash);
}

std::vector<PassRecord> run_passes(std::span<const Pass> passes, Graph& graph,
                                   const PassOptions& options) {
  std::vector<PassRecord> records;
  std::uint64_t hash = 0;
  for (const Pass& pass : passes) records.push_back(run_hashed(pass, graph, options, hash));
  return records;
}

}  // namespace fuselage
