#include "base/machine/process_memory.h"

#include <charconv>
#include <fstream>
#include <iterator>
#include <string>

namespace fuselage {
namespace {

/// The value of a line "NAME:   NUMBER kB" as bytes.
std::uint64_t bytes_of(std::string_view text, std::string_view name) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(name) || line.substr(name.size(), 1) != ":") continue;
    const std::size_t digits = line.find_first_of("0123456789");
    std::uint64_t kilobytes = 0;
    if (digits != std::string_view::npos)
      std::from_chars(line.data() + digits, line.data() + line.size(), kilobytes);
    return kilobytes * 1024;
  }
  return 0;
}

}  // namespace

ProcessMemory parse_process_status(std::string_view text) {
  return {.peak = bytes_of(text, "VmHWM"),
          .resident = bytes_of(text, "VmRSS"),
          .files = bytes_of(text, "RssFile") + bytes_of(text, "RssShmem")};
}

ProcessMemory process_memory() {
  std::ifstream file("/proc/self/status");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return parse_process_status(text);
}

}  // namespace fuselage
