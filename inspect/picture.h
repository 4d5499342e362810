#pragma once

#include <string>

#include "inspect/report.h"

namespace fuselage {

/// Source for Graphviz: a box for each node that computes something, in frames by program and
/// layer; with a profile, the redder the more of the time it takes. Stored values are left out.
std::string print_dot(const Report& report, const Stage& stage);

/// The same of one program of the stage "planned".
std::string print_dot(const Report& report, const Stage& stage, BindingTime program);

/// Runs Graphviz's `dot` on its source and returns an SVG picture. Throws Error when the program
/// is missing or fails.
std::string render_svg(const std::string& dot);

}  // namespace fuselage
