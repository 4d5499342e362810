#pragma once

#include <CLI/CLI.hpp>

#include "fuselage/base/shortlist_options.h"

namespace fuselage {

/// Registers --shortlist, with marian-decoder's values, and --shortlist-union.
void add_shortlist_options(CLI::App& app, ShortlistOptions& shortlist);

}  // namespace fuselage
