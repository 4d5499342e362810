#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace fuselage {
namespace {

/// Closes a file descriptor at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }

  /// Closes now; false with errno set when the system reports a late write error.
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> counter{0};
  return fmt::format("{}.tmp.{}.{}", path, ::getpid(), counter++);
}

}  // namespace

std::string read_file(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) throw Error("cannot open {}: {}", path, std::strerror(errno));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0)
    throw Error("cannot read {}: {}", path, std::strerror(errno));
  if (S_ISDIR(status.st_mode))
    throw Error("cannot read {}: it is a directory, a file is needed", path);

  std::string bytes;
  std::size_t used = 0;
  // One byte more than the size, so that the end of a regular file shows without growing again.
  bytes.resize(S_ISREG(status.st_mode) ? static_cast<std::size_t>(status.st_size) + 1 : 65536);
  while (true) {
    if (used == bytes.size()) bytes.resize(bytes.size() * 2);
    const ssize_t count = ::read(file.get(), bytes.data() + used, bytes.size() - used);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Error("cannot read {}: {}", path, std::strerror(errno));
    if (count == 0) break;
    used += static_cast<std::size_t>(count);
  }
  bytes.resize(used);
  return bytes;
}

void write_file_atomically(const std::string& path, std::string_view bytes) {
  write_file_atomically(path, std::span(&bytes, 1));
}

void write_file_atomically(const std::string& path, std::span<const std::string_view> parts) {
  const std::string temporary = temporary_name(path);
  Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.get() < 0) throw Error("cannot write {}: {}", path, std::strerror(errno));
  const auto write = [&](std::string_view bytes) { return write_all(file.get(), bytes); };
  const bool written = std::all_of(parts.begin(), parts.end(), write) && ::fsync(file.get()) == 0 &&
                       file.close() && std::rename(temporary.c_str(), path.c_str()) == 0;
  if (written) return;
  const int reason = errno;
  ::unlink(temporary.c_str());
  throw Error("cannot write {}: {}", path, std::strerror(reason));
}

std::string_view file_extension(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
}

}  // namespace fuselage
