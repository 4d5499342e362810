#pragma once

#include <string>
#include <string_view>

#include "fuselage/graph/graph.h"

namespace fuselage {

/// Throws Error unless `name`, of a domain, map, input or output, is valid in the text form.
void expect_name(std::string_view what, std::string_view name);

/// `name`, with underscores behind it if the graph has a domain of this name.
std::string unused_domain_name(const Graph& graph, std::string name);

}  // namespace fuselage
