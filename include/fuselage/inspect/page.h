#pragma once

#include <string>

#include "fuselage/base/api.h"
#include "fuselage/inspect/report.h"

namespace FUSELAGE_API fuselage {

/// A self-contained HTML page that shows the report: graphs to pan, zoom and search, with a slider
/// over the passes. Its parts are the files in inspect/page/, which the build embeds.
std::string print_page(const Report& report);

}  // namespace fuselage
