#pragma once

#include <string_view>

namespace fuselage {

/// Throws Error unless `name`, of a domain, map, input or output, is valid in the text form.
void expect_name(std::string_view what, std::string_view name);

}  // namespace fuselage
