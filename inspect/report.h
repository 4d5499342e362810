#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backends/compile.h"
#include "backends/cpu/backend.h"
#include "backends/executable.h"
#include "inspect/stages.h"
#include "inspect/summary.h"

namespace fuselage {

/// All that there is to show of a model; what was not asked for is empty.
struct Report {
  std::string model;  ///< its path
  History history;
  const Backend* backend = &cpu_backend();  ///< whose kernels are shown
  Workload workload;                        ///< that rows are counted for
  ProgramPlans plan;
  std::optional<Summary> summary;
  std::optional<Profile> profile;
  std::vector<std::size_t> stages;  ///< numbers of those to show
};

/// Time of a node of a program, and its share of all measured time.
struct MeasuredTime {
  NodeTime time;
  double share = 0;
};

/// Nothing where nothing was measured. `node` is one of the stage "planned".
std::optional<MeasuredTime> time_of(const Report& report, const StageNode& node);

/// All measured seconds.
double measured_seconds(const Profile& profile);

/// "12.3 % 4.56 ms in 128 runs".
std::string print_time(const MeasuredTime& measured);

/// How the nodes of one program are run.
std::map<NodeId, PlannedNode> plan_by_node(const Report& report, BindingTime time);

/// The layer of each node, by index: that of its name, of an origin, or of all its users.
std::vector<std::string> layers_of(const Graph& graph);

}  // namespace fuselage
