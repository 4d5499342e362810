#pragma once

#include <cstdint>
#include <string_view>

namespace fuselage {

/// Physical memory of a process, in bytes; 0 for what the system does not tell.
struct ProcessMemory {
  std::uint64_t peak = 0;      ///< most that was ever resident
  std::uint64_t resident = 0;  ///< now
  std::uint64_t files = 0;     ///< of it, pages of mapped files, which all processes share
};

/// That of this process.
ProcessMemory process_memory();

/// The same from the text of a /proc/PID/status.
ProcessMemory parse_process_status(std::string_view text);

}  // namespace fuselage
