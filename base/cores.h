#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace fuselage {

/// Numbers of the processors that this process may run on (sched_getaffinity), ascending; {0} when
/// the system does not tell.
std::vector<int> allowed_cpus();

/// How many processors' time the control groups of a process grant it; infinity where none sets a
/// limit. `membership` is the text of /proc/self/cgroup, and the hierarchies lie below `root`, as
/// below /sys/fs/cgroup: version 2 (cpu.max) and 1 (cpu.cfs_quota_us, cpu.cfs_period_us). The least
/// limit of a group and of those around it counts. What is not there or no number sets none.
double cgroup_cpus(std::string_view membership, const std::string& root);

inline constexpr double kNoCpuLimit = std::numeric_limits<double>::infinity();

/// Threads that `allowed` processors and a limit on their time can keep busy: the limit rounded up,
/// but no more than there are processors, and one at least.
std::size_t useful_threads(std::size_t allowed, double cgroup_limit);

/// The same for this process.
std::size_t useful_threads();

}  // namespace fuselage
