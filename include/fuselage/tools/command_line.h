#pragma once

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// The program `fuselage` as a function: runs the command that the arguments of main() give. Sets
/// up the process for it (signals, standard streams), and reports errors on standard error. Returns
/// the exit status.
int run_command_line(int argc, const char* const* argv);

}  // namespace fuselage
