#pragma once

#include <string>

#include "fuselage/base/api.h"
#include "fuselage/inspect/report.h"

namespace FUSELAGE_API fuselage {

/// Graphviz source: a box for each node that computes something, in frames by program and layer.
/// With a profile, the share of time is the intensity of red. Stored values are left out.
std::string print_dot(const Report& report, const Stage& stage);

/// The same for one program of the stage "planned".
std::string print_dot(const Report& report, const Stage& stage, BindingTime program);

/// Runs Graphviz's `dot` on a Graphviz source and returns the SVG picture. Throws Error when the
/// program is missing or fails.
std::string render_svg(const std::string& dot);

}  // namespace fuselage
