#include "backends/cpu/weights/weight_cache_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "base/files/file.h"

namespace fuselage::cpu {
namespace {

constexpr std::size_t kDigits = 32;  // of ContentHash::text()

struct WeightsFile {
  std::string path;
  struct timespec used {};
  std::uint64_t size = 0;
  bool temporary = false;

  auto age_order() const { return std::tie(used.tv_sec, used.tv_nsec, path); }
};

bool is_hexadecimal(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Whether a name is of a cache file or its temporary file, and whether it is temporary.
std::pair<bool, bool> kind_of(std::string_view name) {
  if (name.size() < kDigits || !is_hexadecimal(name.substr(0, kDigits))) return {false, false};
  name.remove_prefix(kDigits);
  if (!name.starts_with(kWeightsSuffix)) return {false, false};
  name.remove_prefix(kWeightsSuffix.size());
  if (name.empty()) return {true, false};
  if (!name.starts_with(kTemporarySuffix)) return {false, false};
  return {is_hexadecimal(name.substr(kTemporarySuffix.size())), true};
}

/// The user's own files of cached weights.
std::vector<WeightsFile> weights_files(const std::string& directory, std::error_code& error) {
  std::vector<WeightsFile> files;
  std::filesystem::directory_iterator at(directory, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const auto [ours, temporary] = kind_of(at->path().filename().string());
    struct stat status {};
    // The file may have been removed meanwhile.
    if (!ours || ::lstat(at->path().c_str(), &status) != 0) continue;
    if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid()) continue;
    files.push_back({.path = at->path().string(),
                     .used = status.st_mtim,
                     .size = static_cast<std::uint64_t>(status.st_size),
                     .temporary = temporary});
  }
  return files;
}

}  // namespace

std::string remove_old_weights(const std::string& directory, const std::string& kept,
                               std::uint64_t max_bytes) {
  std::error_code error;
  std::vector<WeightsFile> files = weights_files(directory, error);
  std::string problem;
  if (error)
    problem =
        fmt::format("cannot look for old cached weights in {}: {}", directory, error.message());
  std::sort(files.begin(), files.end(), [](const WeightsFile& a, const WeightsFile& b) {
    return a.age_order() < b.age_order();
  });
  std::uint64_t total = 0;
  for (const WeightsFile& file : files) total += file.temporary ? 0 : file.size;
  const std::time_t now = std::time(nullptr);
  for (const WeightsFile& file : files) {
    const bool is_old = file.temporary ? now - file.used.tv_sec > kMaxTemporaryAge
                                       : total > max_bytes && file.path != kept;
    if (!is_old) continue;
    if (::unlink(file.path.c_str()) != 0 && errno != ENOENT) {
      problem = fmt::format("cannot remove the old cached weights {}: {}", file.path,
                            std::strerror(errno));
      continue;
    }
    if (!file.temporary) total -= file.size;
  }
  return problem;
}

}  // namespace fuselage::cpu
