#include "models/directory/directory_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
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

constexpr std::string_view kTemporaryDirectory = ".tmp.";
/// Behind the name of a temporary directory: the former target, between two renames.
constexpr std::string_view kAside = ".old";

Descriptor open_directory(const std::string& path) {
  return Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/// Locks a directory against removal by other writers. False, with errno set, if another process
/// holds it (EWOULDBLOCK), and where the file system has no locks.
bool lock_directory(const Descriptor& directory) {
  return directory.get() >= 0 && ::flock(directory.get(), LOCK_EX | LOCK_NB) == 0;
}

/// Whether `path` is the open directory, and was not removed or replaced.
bool is_at(const Descriptor& directory, const std::string& path) {
  struct stat a {};
  struct stat b {};
  return ::fstat(directory.get(), &a) == 0 && ::lstat(path.c_str(), &b) == 0 &&
         a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

struct TemporaryDirectory {
  std::string path;
  Descriptor lock;
};

TemporaryDirectory make_temporary_directory(const std::string& target) {
  for (int i = 0;; ++i) {
    std::string path = fmt::format("{}{}{}.{}", target, kTemporaryDirectory, ::getpid(), i);
    if (::mkdir(path.c_str(), 0777) == 0) {
      Descriptor directory = open_directory(path);
      const bool is_taken = !lock_directory(directory) && errno == EWOULDBLOCK;
      // Another writer may have taken it for one that was left, before it was locked.
      if (directory.get() < 0 || (!is_taken && is_at(directory, path)))
        return {std::move(path), std::move(directory)};
    } else if (errno != EEXIST) {
      throw Error(fmt::format("cannot make the directory {}: {}", target, std::strerror(errno)));
    }
  }
}

/// Whether `rest`, behind the target's name, is that of a temporary directory.
bool is_temporary_name(std::string_view rest) {
  if (!rest.starts_with(kTemporaryDirectory)) return false;
  rest.remove_prefix(kTemporaryDirectory.size());
  const auto is_number = [](std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  const std::size_t dot = std::min(rest.find('.'), rest.size());
  return is_number(rest.substr(0, dot)) && dot < rest.size() && is_number(rest.substr(dot + 1));
}

/// Removes what killed writers of `target` left. What another one holds, or cannot be locked,
/// stays.
void remove_left_directories(const std::string& target) {
  std::error_code error;
  const fs::path parent = fs::path(target).parent_path();
  const std::string name = fs::path(target).filename().string();
  for (fs::directory_iterator at(parent, error), end; !error && at != end; at.increment(error)) {
    const std::string file = at->path().filename().string();
    if (!file.starts_with(name)) continue;
    std::string_view rest = std::string_view(file).substr(name.size());
    // Without a target, the directory aside is the only one.
    std::error_code missing;
    if (rest.ends_with(kAside) && fs::exists(target, missing)) rest.remove_suffix(kAside.size());
    if (!is_temporary_name(rest)) continue;
    const Descriptor directory = open_directory(at->path().string());
    std::error_code failure;
    if (lock_directory(directory)) fs::remove_all(at->path(), failure);
  }
}

/// Swaps two directories. False with errno set when the system cannot.
bool swap_directories(const std::string& a, const std::string& b) {
  if (::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  // The file system has no exchange: for a moment there is no directory b.
  const std::string aside = a + std::string(kAside);
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
    remove_left_directories(target_);
    TemporaryDirectory made = make_temporary_directory(target_);
    temporary_ = std::move(made.path);
    lock_ = std::move(made.lock);
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
