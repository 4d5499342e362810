#include "tools/options/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include "fuselage/base/error.h"
#include "tools/options/input_files.h"

namespace fuselage {
namespace {

constexpr std::size_t kCompressedBytesToWrite = std::size_t{1} << 16;
/// How long a signal waits for a write that is under way.
constexpr std::chrono::seconds kPatience{2};

/// Whether the open file and the input are the same regular file.
bool is_same_file(int fd, const std::string& input) {
  struct stat x {};
  struct stat y {};
  const int found =
      is_standard_input(input) ? ::fstat(STDIN_FILENO, &x) : ::stat(input.c_str(), &x);
  return found == 0 && ::fstat(fd, &y) == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
         x.st_ino == y.st_ino;
}

/// Whether to repeat a failed write. Waits for room if the output does not block, which another
/// process that shares the output may have set.
bool may_try_again(int fd) {
  if (errno != EAGAIN) return errno == EINTR;
  struct pollfd request {
    .fd = fd, .events = POLLOUT, .revents = 0
  };
  return ::poll(&request, 1, -1) >= 0 || errno == EINTR;
}

bool is_regular(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

OutputFile::OutputFile(const std::string& path, const std::vector<std::string>& inputs)
    : name_(path), fd_(STDOUT_FILENO) {
  const bool is_standard = path == "-" || path == "stdout";
  if (is_standard)
    name_ = "standard output";
  else
    open(path);
  for (const std::string& input : inputs)
    if (is_same_file(fd_, input)) {
      if (!is_standard) ::close(std::exchange(fd_, -1));
      throw Error(fmt::format("{} is input and output at once; writing would damage it", name_));
    }
  if (!is_standard && is_regular(fd_) && ::ftruncate(fd_, 0) != 0) fail_to_write(name_);
  if (!is_standard) compressor_ = make_compressor(path);
  if (compressor_) signals_ = std::make_unique<BeforeSignal>([this] { end_at_signal(); });
}

OutputFile::~OutputFile() {
  signals_.reset();
  try {
    if (fd_ >= 0 && compressor_) compress({}, Compressor::Rest::flush);
  } catch (const Error&) {
    // Another error is being reported.
  }
  if (fd_ > STDERR_FILENO) ::close(fd_);
}

bool OutputFile::is_terminal() const { return ::isatty(fd_) == 1; }

void OutputFile::open(const std::string& path) {
  // Without O_TRUNC, since the file may be an input.
  fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd_ < 0) fail_to_write(name_);
}

void OutputFile::write(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (compressor_)
    compress(text, Compressor::Rest::keep);
  else
    write_bytes(text);
}

void OutputFile::compress(std::string_view text, Compressor::Rest rest) {
  compressor_->compress(text, rest, compressed_);
  if (rest == Compressor::Rest::keep && compressed_.size() < kCompressedBytesToWrite) return;
  const std::string bytes = std::exchange(compressed_, {});
  write_bytes(bytes);
}

void OutputFile::write_bytes(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && may_try_again(fd_)) continue;
    if (written < 0) {
      compressor_.reset();
      fail_to_write(name_);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void OutputFile::end_at_signal() {
  if (!mutex_.try_lock_for(kPatience)) return;
  try {
    if (fd_ >= 0 && compressor_) compress({}, Compressor::Rest::end);
  } catch (const Error&) {
    // The process ends, and cannot report it.
  }
  // The lock is kept: nothing may follow the end.
}

void OutputFile::close() {
  {
    const std::lock_guard lock(mutex_);
    if (compressor_) compress({}, Compressor::Rest::end);
    compressor_.reset();
  }
  signals_.reset();
  const int fd = std::exchange(fd_, -1);
  if (fd >= 0 && ::close(fd) != 0) fail_to_write(name_);
}

void fail_to_write(std::string_view name) {
  const int reason = errno;
  if (reason == EPIPE) {
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
  }
  throw Error(fmt::format("cannot write {}: {}", name, std::strerror(reason)));
}

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
    // Opened in the wrong direction, so that its use still fails.
    if (::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) return;
  }
}

}  // namespace fuselage
