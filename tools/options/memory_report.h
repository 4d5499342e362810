#pragma once

#include <string>
#include <vector>

#include "backends/executable.h"
#include "base/process_memory.h"

namespace fuselage {

/// Notes for --memory: the memory use of the process.
std::vector<std::string> describe_memory(const MemoryUse& use, const ProcessMemory& process);

}  // namespace fuselage
