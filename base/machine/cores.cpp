#include "base/machine/cores.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <system_error>

#include "base/numbers/from_chars.h"

namespace fuselage {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The number at the beginning of `text`, in microseconds; 0 for other text, such as "max".
double microseconds(const std::string& text) {
  double value = 0;
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  const auto [stop, error] = from_chars(text.data() + begin, text.data() + text.size(), value);
  return error == std::errc() && std::isfinite(value) ? value : 0;
}

double limit_of(double quota, double period) {
  return quota > 0 && period > 0 ? quota / period : kNoCpuLimit;
}

/// cpu.max: "QUOTA PERIOD", where the quota may be "max".
double limit_v2(const std::string& group) {
  const std::string text = text_of(group + "/cpu.max");
  const std::size_t blank = text.find(' ');
  if (blank == std::string::npos) return kNoCpuLimit;
  return limit_of(microseconds(text), microseconds(text.substr(blank)));
}

double limit_v1(const std::string& group) {
  return limit_of(microseconds(text_of(group + "/cpu.cfs_quota_us")),
                  microseconds(text_of(group + "/cpu.cfs_period_us")));
}

/// The minimum limit of the group at `path` below `hierarchy` and its ancestors. In a container
/// `hierarchy` may itself be the group, and `path` may not exist.
double least_limit(const std::string& hierarchy, std::string path,
                   double (*limit)(const std::string&)) {
  double least = limit(hierarchy);
  for (; path.size() > 1; path.resize(path.rfind('/')))
    least = std::min(least, limit(hierarchy + path));
  return least;
}

/// Whether a comma-separated list contains the "cpu" controller.
bool names_cpu(std::string_view controllers) {
  for (std::size_t at = 0; at <= controllers.size();) {
    const std::size_t end = std::min(controllers.find(',', at), controllers.size());
    if (controllers.substr(at, end - at) == "cpu") return true;
    at = end + 1;
  }
  return false;
}

/// The limit for one line "NUMBER:CONTROLLERS:PATH" of /proc/self/cgroup.
double line_limit(std::string_view line, const std::string& root) {
  const std::size_t first = line.find(':');
  const std::size_t second = line.find(':', std::min(first, line.size() - 1) + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return kNoCpuLimit;
  const std::string_view controllers = line.substr(first + 1, second - first - 1);
  const std::string path(line.substr(second + 1));
  if (!path.starts_with('/')) return kNoCpuLimit;
  if (controllers.empty()) return least_limit(root, path, limit_v2);
  if (!names_cpu(controllers)) return kNoCpuLimit;
  return std::min(least_limit(root + "/" + std::string(controllers), path, limit_v1),
                  least_limit(root + "/cpu", path, limit_v1));
}

}  // namespace

std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
  // The kernel refuses a set smaller than its own and does not report that size.
  for (int size = 1024; cpus.empty() && size <= 1 << 20; size *= 4) {
    cpu_set_t* set = CPU_ALLOC(size);
    if (set == nullptr) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(size);
    if (::sched_getaffinity(0, bytes, set) == 0)
      for (int cpu = 0; cpu < size; ++cpu)
        if (CPU_ISSET_S(cpu, bytes, set)) cpus.push_back(cpu);
    CPU_FREE(set);
  }
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

double cgroup_cpus(std::string_view membership, const std::string& root) {
  double least = kNoCpuLimit;
  while (!membership.empty()) {
    const std::size_t end = std::min(membership.find('\n'), membership.size());
    if (end > 0) least = std::min(least, line_limit(membership.substr(0, end), root));
    membership.remove_prefix(std::min(end + 1, membership.size()));
  }
  return least;
}

std::size_t useful_threads(std::size_t allowed, double cgroup_limit) {
  const double most = std::min(static_cast<double>(allowed), std::ceil(cgroup_limit));
  return static_cast<std::size_t>(std::max(most, 1.0));
}

std::size_t useful_threads() {
  return useful_threads(allowed_cpus().size(),
                        cgroup_cpus(text_of("/proc/self/cgroup"), "/sys/fs/cgroup"));
}

bool has_threads() { return true; }

}  // namespace fuselage
