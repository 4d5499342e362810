#include "tools/options/memory_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace fuselage {
namespace {

std::string megabytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

}  // namespace

std::vector<std::string> describe_memory(const MemoryUse& use, const ProcessMemory& process) {
  const std::size_t workers = use.arenas.size();
  const std::size_t largest =
      workers == 0 ? 0 : *std::max_element(use.arenas.begin(), use.arenas.end());
  const std::size_t all = std::accumulate(use.arenas.begin(), use.arenas.end(), std::size_t{0});
  return {
      fmt::format("memory: {} of packed matrices, {} of tables and vectors; {}",
                  megabytes(use.matrices), megabytes(use.rows),
                  use.file.empty() ? "in this process alone" : "mapped from " + use.file),
      fmt::format("memory: {} for the values of {} worker{}, at most {} for one", megabytes(all),
                  workers, workers == 1 ? "" : "s", megabytes(largest)),
      fmt::format("memory: the process has {}, of which {} are pages of files; it had {} at most",
                  megabytes(process.resident), megabytes(process.files), megabytes(process.peak))};
}

}  // namespace fuselage
