#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fuselage/backends/compile.h"
#include "fuselage/backends/cpu/backend.h"
#include "fuselage/backends/executable.h"
#include "fuselage/base/api.h"
#include "fuselage/inspect/stages.h"
#include "fuselage/inspect/summary.h"

namespace FUSELAGE_API fuselage {

/// All data to show about a model; parts that were not requested are empty.
struct Report {
  std::string model;  ///< path of the model
  History history;
  const Backend* backend = &cpu_backend();  ///< back-end of the shown kernels
  Workload workload;                        ///< workload for row counts
  ProgramPlans plan;
  std::optional<Summary> summary;
  std::optional<Profile> profile;
  std::vector<std::size_t> stages;  ///< indexes of the stages to show
  bool provenance = true;           ///< texts tell what nodes were made from, and by which rules
};

/// Time of a node, and its share of all measured time.
struct MeasuredTime {
  NodeTime time;
  double share = 0;
};

/// Measured time of a node of the stage "planned"; nullopt if it was not measured.
std::optional<MeasuredTime> time_of(const Report& report, const StageNode& node);

/// All measured seconds.
double measured_seconds(const Profile& profile);

/// "12.3 % 4.56 ms in 128 runs".
std::string print_time(const MeasuredTime& measured);

/// The kernel of a node of a program with the reasons why better kernels refuse it, or "view";
/// `planned` is its entry of the plan, if there is one.
std::string kernel_text(const Graph& program, NodeId id, const KernelSet& kernels,
                        const PlannedNode* planned);

/// The plan of a program by node; empty if some node has no kernel, or the back-end no plans.
std::map<NodeId, PlannedNode> plan_of(const Graph& program, BindingTime time,
                                      const Backend& backend);

/// The plan of one program of the report by node.
std::map<NodeId, PlannedNode> plan_by_node(const Report& report, BindingTime time);

/// The layer of each node, by index: from its name, from an origin, or the common layer of its
/// users.
std::vector<std::string> layers_of(const Graph& graph);

}  // namespace fuselage
