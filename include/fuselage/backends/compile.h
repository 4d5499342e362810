#pragma once

#include <array>
#include <memory>
#include <vector>

#include "fuselage/backends/backend.h"
#include "fuselage/backends/compile_options.h"
#include "fuselage/backends/executable.h"
#include "fuselage/base/api.h"
#include "fuselage/passes/lowering/split_by_binding_time.h"
#include "fuselage/passes/rewrite/pass.h"

namespace FUSELAGE_API fuselage {

/// The passes and their options selected by `options`. make_optimizer throws Error for an unknown
/// back-end or pass, for conflicting options, and for options that the back-end refuses.
struct Optimizer {
  std::vector<Pass> passes;
  PassOptions options;
};
Optimizer make_optimizer(const CompileOptions& options);

/// Runs the optimizer passes selected by `options`. Throws Error as make_optimizer does.
std::vector<PassRecord> optimize(Graph& graph, const CompileOptions& options = {});

/// The plan of each program, by binding time, for a back-end with plans. Planning needs no device.
/// Throws Error with the nodes that no kernel can run.
using ProgramPlans = std::array<std::vector<PlannedNode>, 3>;
ProgramPlans plan_programs(const Programs& programs, const Backend& backend);

/// Optimizes `graph` and lowers it to a back-end. Throws Error as make_optimizer does, for weights
/// that are missing or have another shape than their parameters, and for nodes that the back-end
/// cannot run.
std::unique_ptr<Executable> compile(Graph graph, TensorMap weights,
                                    const CompileOptions& options = {});

}  // namespace fuselage
