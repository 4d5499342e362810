#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/inspect/report.h"

namespace FUSELAGE_API fuselage {

/// Which part of a stage to show.
enum class Part : std::uint8_t {
  load,
  source,
  step,
  all,    ///< the three programs
  whole,  ///< the whole graph
};

/// The part with this name. Throws Error for an unknown name.
Part part_of(std::string_view name);

/// The rewrites of a pass, and its refusals with their reasons, as comments.
std::string print_record(const PassRecord& record);

/// A line for each pass with its time in milliseconds and its rewrites, and one for all passes.
std::string print_pass_times(const History& history);

/// A stage in the text form: its name as a comment, then the graph or programs, with comments that
/// tell for a node of a program its kernel and measured time, elsewhere its binding time. A program
/// and a graph in one piece can be parsed.
std::string print_stage(const Report& report, const Stage& stage, Part part);

/// The pictures of a stage as Graphviz source.
std::string print_stage_dot(const Report& report, const Stage& stage, Part part);

}  // namespace fuselage
