#include "tools/files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <utility>

#include "base/error.h"

namespace fuselage {
namespace {

std::uint64_t regular_size(const struct stat& status) {
  return S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
}

bool is_standard_input(const std::string& path) { return path == "-" || path == "stdin"; }

bool same_regular_file(const std::string& input, const std::string& output) {
  struct stat x {};
  struct stat y {};
  const int found =
      is_standard_input(input) ? ::fstat(STDIN_FILENO, &x) : ::stat(input.c_str(), &x);
  return found == 0 && ::stat(output.c_str(), &y) == 0 && S_ISREG(x.st_mode) &&
         x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

}  // namespace

InputFile::InputFile(const std::string& path) : stream_(&std::cin) {
  struct stat status {};
  if (is_standard_input(path)) {
    if (::fstat(STDIN_FILENO, &status) == 0) size_bytes_ = regular_size(status);
    if (S_ISDIR(status.st_mode)) throw Error("cannot read standard input: it is a directory");
    is_standard_ = true;
    return;
  }
  file_.open(path, std::ios::binary);
  if (!file_) throw Error("cannot open {}: {}", path, std::strerror(errno));
  if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
    throw Error("cannot read {}: it is a directory, a text is needed", path);
  size_bytes_ = regular_size(status);
  stream_ = &file_;
}

bool InputFile::ready(std::chrono::milliseconds timeout) const {
  if (!is_standard_ || std::cin.rdbuf()->in_avail() != 0) return true;
  struct pollfd request {
    .fd = STDIN_FILENO, .events = POLLIN, .revents = 0
  };
  return ::poll(&request, 1, static_cast<int>(timeout.count())) != 0;
}

OutputFile::OutputFile(const std::string& path, const std::vector<std::string>& inputs)
    : name_(path), fd_(STDOUT_FILENO) {
  if (path == "-" || path == "stdout") {
    name_ = "standard output";
    return;
  }
  for (const std::string& input : inputs)
    if (same_regular_file(input, path))
      throw Error("{} is input and output at once; writing would erase it", path);
  fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd_ < 0) fail();
}

OutputFile::~OutputFile() {
  if (fd_ > STDERR_FILENO) ::close(fd_);
}

bool OutputFile::is_terminal() const { return ::isatty(fd_) == 1; }

void OutputFile::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail();
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void OutputFile::close() {
  const int fd = std::exchange(fd_, -1);
  if (fd >= 0 && ::close(fd) != 0) fail();
}

void OutputFile::fail() const { throw Error("cannot write {}: {}", name_, std::strerror(errno)); }

void write_diagnostic(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void reserve_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    // Opened the wrong way round, so that using it still fails.
    if (::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) return;
  }
}

}  // namespace fuselage
