#pragma once

#include <CLI/CLI.hpp>

#include "backends/compile.h"

namespace fuselage {

/// Registers the option that says what a model runs on.
CLI::Option* add_device_option(CLI::App& app, CompileOptions& compile);

/// Registers those that say how a GPU computes.
void add_gpu_options(CLI::App& app, CompileOptions& compile);

}  // namespace fuselage
