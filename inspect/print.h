#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/report.h"

namespace fuselage {

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

/// A stage in the text form: its name as a comment, then the graph or programs. Comments state the
/// kernel and measured time of a node in a program, and the binding time of a node in a whole
/// graph. A single program and a whole graph can be parsed.
std::string print_stage(const Report& report, const Stage& stage, Part part);

/// The pictures of a stage as Graphviz source.
std::string print_stage_dot(const Report& report, const Stage& stage, Part part);

}  // namespace fuselage
