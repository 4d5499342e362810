// Where threads run, and how they end.
#include <cxxabi.h>

#include "base/machine/cores.h"
#include "windows/base/windows.h"

namespace fuselage {
namespace {

/// At the end of a thread, libstdc++ destroys its variables by a key of pthread, and libgcc frees
/// their memory by another one. Keys are served in the order in which they were made, so one is
/// made here by a variable without effect, before other initializers make that of libgcc.
[[gnu::constructor(101)]] void destroy_before_freeing() {
  abi::__cxa_thread_atexit([](void*) {}, nullptr, nullptr);
}

}  // namespace

std::vector<int> allowed_cpus() {
  DWORD_PTR allowed = 0, all = 0;
  std::vector<int> cpus;
  if (::GetProcessAffinityMask(::GetCurrentProcess(), &allowed, &all) != 0)
    for (int cpu = 0; cpu < static_cast<int>(8 * sizeof allowed); ++cpu)
      if ((allowed >> cpu & 1) != 0) cpus.push_back(cpu);
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

std::size_t useful_threads() { return allowed_cpus().size(); }

bool has_threads() { return true; }

}  // namespace fuselage
