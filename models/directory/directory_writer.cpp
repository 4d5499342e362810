#include "models/directory/directory_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

namespace fs = std::filesystem;

/// The absolute path, without symbolic links, of a directory that may not exist yet.
std::string resolved(const std::string& path) {
  std::error_code error;
  fs::path result = fs::weakly_canonical(fs::absolute(path), error);
  if (error) throw Error(fmt::format("cannot make the directory {}: {}", path, error.message()));
  if (!result.has_filename()) result = result.parent_path();
  return result.string();
}

/// Missing directories of `path`, the outermost first.
std::vector<std::string> missing(const fs::path& path) {
  std::error_code error;
  if (fs::exists(path, error) || !path.has_relative_path()) return {};
  std::vector<std::string> directories = missing(path.parent_path());
  directories.push_back(path.string());
  return directories;
}

std::string make_temporary(const std::string& target) {
  for (int i = 0;; ++i) {
    std::string path = fmt::format("{}.tmp.{}.{}", target, ::getpid(), i);
    if (::mkdir(path.c_str(), 0777) == 0) return path;
    if (errno != EEXIST)
      throw Error(fmt::format("cannot make the directory {}: {}", target, std::strerror(errno)));
  }
}

/// Swaps two directories. False with errno set when the system cannot.
bool swap_directories(const std::string& a, const std::string& b) {
  if (::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  // The file system has no exchange: for a moment there is no directory b.
  const std::string aside = a + ".old";
  if (std::rename(b.c_str(), aside.c_str()) != 0) return false;
  if (std::rename(a.c_str(), b.c_str()) == 0) return std::rename(aside.c_str(), a.c_str()) == 0;
  const int reason = errno;
  std::rename(aside.c_str(), b.c_str());
  errno = reason;
  return false;
}

}  // namespace

DirectoryWriter::DirectoryWriter(const std::string& target) : target_(resolved(target)) {
  for (const std::string& parent : missing(fs::path(target_).parent_path())) {
    if (::mkdir(parent.c_str(), 0777) == 0)
      made_.push_back(parent);
    else if (errno != EEXIST)
      break;  // The next one would fail for the same reason.
  }
  try {
    temporary_ = make_temporary(target_);
  } catch (const Error&) {
    for (auto parent = made_.rbegin(); parent != made_.rend(); ++parent) ::rmdir(parent->c_str());
    throw;
  }
}

DirectoryWriter::~DirectoryWriter() {
  if (temporary_.empty()) return;
  std::error_code error;
  fs::remove_all(temporary_, error);
  for (auto parent = made_.rbegin(); parent != made_.rend(); ++parent) ::rmdir(parent->c_str());
}

std::string DirectoryWriter::path_of(std::string_view file) const {
  return (fs::path(temporary_) / file).string();
}

void DirectoryWriter::commit() {
  // A rename also replaces an empty directory.
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) {
    const bool is_occupied = errno == ENOTEMPTY || errno == EEXIST;
    if (!is_occupied || !swap_directories(temporary_, target_))
      throw Error(fmt::format("cannot write {}: {}", target_, std::strerror(errno)));
    std::error_code error;
    fs::remove_all(temporary_, error);
  }
  temporary_.clear();
}

}  // namespace fuselage
