#pragma once

#include <CLI/CLI.hpp>

#include "fuselage/backends/compile.h"

namespace fuselage {

/// Registers the option for the device that runs the model.
CLI::Option* add_device_option(CLI::App& app, CompileOptions& compile);

/// The same option, which also takes the interpreter.
CLI::Option* add_backend_option(CLI::App& app, CompileOptions& compile);

/// Registers the options for computation on a GPU.
void add_gpu_options(CLI::App& app, CompileOptions& compile);

}  // namespace fuselage
