#pragma once

#include <string>

#include "inspect/report.h"

namespace fuselage {

/// One HTML page that shows the report and loads nothing: graphs to pan, zoom and search, with a
/// slider over the passes. Its parts are the files in inspect/page/, which the build puts in.
std::string print_page(const Report& report);

}  // namespace fuselage
