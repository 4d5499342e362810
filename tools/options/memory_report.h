#pragma once

#include <string>
#include <vector>

#include "base/machine/process_memory.h"
#include "fuselage/backends/executable.h"

namespace fuselage {

/// Notes for --memory: the memory use of the process.
std::vector<std::string> describe_memory(const MemoryUse& use, const ProcessMemory& process);

}  // namespace fuselage
