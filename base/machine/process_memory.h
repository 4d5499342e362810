#pragma once

#include <cstdint>
#include <string_view>

namespace fuselage {

/// Physical memory of a process, in bytes; 0 for values that the system does not report.
struct ProcessMemory {
  std::uint64_t peak = 0;      ///< maximum resident size so far
  std::uint64_t resident = 0;  ///< current resident size
  std::uint64_t files = 0;     ///< part of `resident` in mapped files, shared by all processes
};

/// The memory of this process.
ProcessMemory process_memory();

/// The same from the text of a /proc/PID/status.
ProcessMemory parse_process_status(std::string_view text);

}  // namespace fuselage
