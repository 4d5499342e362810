// What Windows tells of the stack and memory of a program, and of its file.
#include "base/machine/build_id.h"
#include "base/machine/library_path.h"
#include "base/machine/process_memory.h"
#include "fuselage/base/error.h"
#include "fuselage/base/stack.h"
#include "windows/base/windows.h"

// Needs the types of windows.h.
#include <fmt/format.h>
#include <psapi.h>

namespace fuselage {

std::string build_id_of(const void*) { return {}; }

std::string libc_version() { return {}; }

std::filesystem::path library_path() {
  HMODULE module = nullptr;
  constexpr DWORD kByAddress =
      GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
  if (::GetModuleHandleExW(kByAddress, reinterpret_cast<LPCWSTR>(&library_path), &module) == 0)
    return {};
  constexpr DWORD kLongestPath = 32'768;
  std::wstring path(kLongestPath, L'\0');
  path.resize(::GetModuleFileNameW(module, path.data(), kLongestPath));
  return path;
}

void share_symbols() {}

ProcessMemory process_memory() {
  PROCESS_MEMORY_COUNTERS counters{};
  if (::K32GetProcessMemoryInfo(::GetCurrentProcess(), &counters, sizeof counters) == 0) return {};
  return {.peak = counters.PeakWorkingSetSize, .resident = counters.WorkingSetSize};
}

void expect_stack() {
  ULONG_PTR low = 0, high = 0;
  ::GetCurrentThreadStackLimits(&low, &high);
  const auto here = reinterpret_cast<ULONG_PTR>(__builtin_frame_address(0));
  if (here < low || here >= high || here - low >= kMinStackBytes) return;
  throw Error(fmt::format(
      "the calling thread has {} KiB of stack left, but {} KiB are needed; start it with a larger "
      "stack",
      (here - low) >> 10, kMinStackBytes >> 10));
}

}  // namespace fuselage
