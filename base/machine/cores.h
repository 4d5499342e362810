#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace fuselage {

/// Numbers of the processors that this process may run on (sched_getaffinity), ascending; {0} if
/// the system does not say.
std::vector<int> allowed_cpus();

/// The processor time that the control groups of a process grant it, in processors; infinity if
/// none sets a limit. `membership` is the text of /proc/self/cgroup; `root` is the mount point of
/// the hierarchies, usually /sys/fs/cgroup. Reads version 2 (cpu.max) and version 1
/// (cpu.cfs_quota_us, cpu.cfs_period_us). The result is the minimum over a group and its ancestors.
/// Missing or malformed files set no limit.
double cgroup_cpus(std::string_view membership, const std::string& root);

inline constexpr double kNoCpuLimit = std::numeric_limits<double>::infinity();

/// The number of threads that `allowed` processors with a limit on their time can keep busy: the
/// limit rounded up, at most `allowed`, at least 1.
std::size_t useful_threads(std::size_t allowed, double cgroup_limit);

/// The same for this process.
std::size_t useful_threads();

/// Whether the system can start threads at all.
bool has_threads();

}  // namespace fuselage
